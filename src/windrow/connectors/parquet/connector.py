"""A folder of Parquet files, one for each batch that has something to write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.feeds import FEEDS, check_feed
from windrow.connectors.loading import loaded
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place

if TYPE_CHECKING:
    from windrow.connectors.options import Options
    from windrow.plan.model import QueryPlan

__all__ = ["SINKS", "Parquet"]


@dataclass(frozen=True)
class Parquet(Sink):
    """One Parquet file per batch that has answers, named after the batch id.

    batches_per_file: files of so many batches become one, once none of them can come again.

    >>> Parquet("answers").feed
    'answers'
    """

    in_process: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True
    replay: ClassVar[Replay] = "replaced"

    path: str
    feed: str = "answers"
    batches_per_file: int = 1

    def __post_init__(self) -> None:
        check_feed(self.feed)
        if self.batches_per_file < 1:
            raise BindingError(
                "WB474",
                f"a file cannot hold {self.batches_per_file} batches",
                hint="give batches_per_file 1 or more",
            )

    @property
    def bad_rows_folder(self) -> str:
        """The folder itself: a stream's bad rows may go there."""
        return self.path

    def open(self, query: str, place: Place | None) -> Writer:
        """A writer of one run, which begins with an empty folder."""
        return cast("Writer", loaded("parquet.writers").ProcessParquetWriter(self, place))

    def open_lasting(self, query: str, place: Place | None, batches: int | None) -> Writer:
        """A writer that goes on in the folder."""
        writers = loaded("parquet.writers")
        return cast("Writer", writers.LastingParquetWriter(self, place, batches))

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer whose files are named after Spark's batches."""
        writers = loaded("parquet.writers")
        return cast("Writer", writers.ParquetWriter(self, is_lasting=checkpoint.is_lasting))


def _described(options: Options) -> Parquet:
    together = options.count("batches_per_file") or 1
    return Parquet(options.text("path"), options.one_of("feed", FEEDS), together)


SINKS = {"parquet": Scripted(("path", "feed", "batches_per_file"), _described)}
