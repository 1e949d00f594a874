"""A Delta table to which rows are added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.feeds import FEEDS, check_feed
from windrow.connectors.loading import loaded_with_client
from windrow.connectors.process_run import ProcessRun, RunPlan
from windrow.connectors.scripted import Scripted
from windrow.errors import UnsupportedError
from windrow.schema import DAY_TIME_INTERVAL, ColumnType

if TYPE_CHECKING:
    from windrow.connectors.options import Options
    from windrow.plan.model import QueryPlan

__all__ = ["SINKS", "Delta"]


@dataclass(frozen=True)
class Delta(Sink):
    """Rows added to a Delta table, one commit a batch.

    >>> Delta("s3://bucket/table", "changes").feed
    'changes'
    """

    in_process: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True
    replay: ClassVar[Replay] = "known"

    path: str
    feed: str = "answers"

    def __post_init__(self) -> None:
        check_feed(self.feed)

    def open_in_process(self, run: ProcessRun) -> Writer:
        """A writer of one commit a batch; without state it adds to what is there."""
        return self._writer(run.plan, run.apart())

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """The same, on the driver."""
        return self._writer(plan, checkpoint)

    def _writer(self, plan: RunPlan, checkpoint: SinkCheckpoint) -> Writer:
        for column in plan.select:
            if _has_span(column.type):
                raise UnsupportedError(
                    "WU725",
                    f"column {column.name!r} is {column.type}, which Delta tables cannot hold",
                    hint="select its text, CAST(x AS STRING), or a number, such as the seconds "
                    "between two times",
                )
        part = loaded_with_client("delta.writer", "Delta tables", "delta")
        return cast("Writer", part.DeltaWriter(self, checkpoint))


def _has_span(kind: ColumnType) -> bool:
    """Whether the type is or holds a length of time; months are numbers."""
    return kind == DAY_TIME_INTERVAL or any(_has_span(part) for _, part in kind.parts)


def _described(options: Options) -> Delta:
    return Delta(options.text("path"), options.one_of("feed", FEEDS))


SINKS = {"delta": Scripted(("path", "feed"), _described)}
