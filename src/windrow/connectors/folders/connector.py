"""A folder of files, one for each batch that has something to write: JSON lines or CSV."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.feeds import FEEDS, check_batches_per_file, check_feed
from windrow.connectors.loading import loaded
from windrow.connectors.process_run import ProcessRun, RunPlan, feed_columns
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place

if TYPE_CHECKING:
    from windrow.connectors.options import Options
    from windrow.plan.model import QueryPlan

__all__ = ["SINKS", "CsvFiles", "FolderSink", "JsonlFiles"]


@dataclass(frozen=True)
class FolderSink(Sink):
    """One file per batch that has rows, named after the batch id.

    partition_by: columns, each of whose values has a folder of its own; 'date' and 'hour' are parts
    of the column `at`. batches_per_file: files of so many batches become one, once none of them can
    come again.
    """

    in_process: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True
    replay: ClassVar[Replay] = "replaced"
    extension: ClassVar[str] = ""

    path: str
    feed: str = "answers"
    partition_by: tuple[str, ...] = ()
    batches_per_file: int = 1
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_feed(self.feed)
        check_batches_per_file(self.batches_per_file)

    def open_in_process(self, run: ProcessRun) -> Writer:
        """A writer that goes on in the folder, or begins it."""
        return self._writer(run.plan, run, run.batches or 0)

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """The same, on the driver; begin() tells it how far the checkpoint is."""
        return self._writer(plan, checkpoint, None)

    def _writer(self, plan: RunPlan, checkpoint: SinkCheckpoint, batches: int | None) -> Writer:
        schema = feed_columns(plan, self.feed)
        part = loaded("folders.writer")
        return cast("Writer", part.FolderWriter(self, schema, checkpoint, batches))


@dataclass(frozen=True)
class JsonlFiles(FolderSink):
    """Files of JSON objects, one a line.

    >>> JsonlFiles("answers", "changes").feed
    'changes'
    """

    extension: ClassVar[str] = "jsonl"


@dataclass(frozen=True)
class CsvFiles(FolderSink):
    """Files of comma-separated values.

    >>> CsvFiles("answers").header
    True
    """

    extension: ClassVar[str] = "csv"

    header: bool = True
    delimiter: str = ","

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.delimiter.encode()) != 1 or self.delimiter in '\r\n"':
            raise BindingError(
                "WB832",
                f"{self.delimiter!r} cannot be a delimiter",
                hint="give one character of ASCII, such as ',', ';' or a tab",
                place=self.place,
            )


_OPTIONS = ("path", "feed", "partition_by", "batches_per_file")


def _given(options: Options) -> tuple[str, str, tuple[str, ...], int, Place | None]:
    return (
        options.text("path"),
        options.one_of("feed", FEEDS),
        options.names("partition_by") or (),
        options.count("batches_per_file") or 1,
        options.place,
    )


def _csv(options: Options) -> CsvFiles:
    header, delimiter = options.flag("header", True), options.text("delimiter", ",")
    return CsvFiles(*_given(options), header=header, delimiter=delimiter)


SINKS = {
    "csv": Scripted((*_OPTIONS, "header", "delimiter"), _csv),
    "jsonl": Scripted(_OPTIONS, lambda options: JsonlFiles(*_given(options))),
}
