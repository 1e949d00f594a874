"""A folder of Parquet files, one for each batch that has something to write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.feeds import FEEDS, check_batches_per_file, check_feed
from windrow.connectors.loading import loaded
from windrow.connectors.process_run import ProcessRun, RunPlan, feed_columns
from windrow.connectors.scripted import Scripted
from windrow.errors import Place

if TYPE_CHECKING:
    from windrow.connectors.options import Options
    from windrow.plan.model import QueryPlan

__all__ = ["SINKS", "Parquet"]


@dataclass(frozen=True)
class Parquet(Sink):
    """One Parquet file per batch that has answers, named after the batch id.

    batches_per_file: files of so many batches become one, once none of them can come again.
    partition_by: columns, each of whose values has a folder of its own; 'date' and 'hour' are parts
    of the column `at`.

    >>> Parquet("answers").feed
    'answers'
    """

    in_process: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True
    replay: ClassVar[Replay] = "replaced"
    extension: ClassVar[str] = "parquet"

    path: str
    feed: str = "answers"
    batches_per_file: int = 1
    partition_by: tuple[str, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_feed(self.feed)
        check_batches_per_file(self.batches_per_file)

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

    def open_in_process(self, run: ProcessRun) -> Writer:
        """One of these, or one of folders for partitions and of files put together."""
        if self.partition_by or (run.is_lasting and self.batches_per_file > 1):
            return self._folder_writer(run.plan, run, run.batches or 0)
        return super().open_in_process(run)

    def _folder_writer(
        self, plan: RunPlan, checkpoint: SinkCheckpoint, batches: int | None
    ) -> Writer:
        schema = feed_columns(plan, self.feed)
        part = loaded("folders.writer")
        return cast("Writer", part.FolderWriter(self, schema, checkpoint, batches))

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer whose files are named after Spark's batches."""
        if self.partition_by:
            return self._folder_writer(plan, checkpoint, None)
        writers = loaded("parquet.writers")
        return cast("Writer", writers.ParquetWriter(self, is_lasting=checkpoint.is_lasting))


def _described(options: Options) -> Parquet:
    together = options.count("batches_per_file") or 1
    return Parquet(
        options.text("path"),
        options.one_of("feed", FEEDS),
        together,
        options.names("partition_by") or (),
        options.place,
    )


SINKS = {"parquet": Scripted(("path", "feed", "batches_per_file", "partition_by"), _described)}
