"""Functions of the user's as sinks: called on the driver for every batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import pyarrow as pa

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.feeds import check_feed
from windrow.connectors.loading import loaded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from windrow.plan.model import QueryPlan

__all__ = ["Foreach", "ForeachBatch", "Upserts"]


@dataclass(frozen=True)
class Foreach(Sink):
    """A function of a table and a batch id, called on the driver for every batch.

    >>> Foreach(print).feed
    'answers'
    """

    takes_questions: ClassVar[bool] = True
    replay: ClassVar[Replay] = "repeated"

    function: Callable[[pa.Table, int], object]
    feed: str = "answers"

    def __post_init__(self) -> None:
        check_feed(self.feed)

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer that calls the function."""
        return cast("Writer", loaded("functions.writers").CallableWriter(self))


@dataclass(frozen=True)
class ForeachBatch(Sink):
    """A function of a DataFrame of Spark and a batch id, called on the driver.

    >>> ForeachBatch(print, "changes").feed
    'changes'
    """

    takes_questions: ClassVar[bool] = True
    replay: ClassVar[Replay] = "repeated"

    function: Callable[[DataFrame, int], object]
    feed: str = "answers"

    def __post_init__(self) -> None:
        check_feed(self.feed)

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer that makes the DataFrame and calls the function."""
        return cast("Writer", loaded("functions.spark_batches").BatchWriter(self))


@dataclass(frozen=True)
class Upserts(Sink):
    """A function of upserts, deletes and a batch id; key: the columns that tell rows apart.

    >>> Upserts(print, ("location",)).key
    ('location',)
    """

    replay: ClassVar[Replay] = "repeated"

    function: Callable[[pa.Table, pa.Table, int], object]
    key: tuple[str, ...] | None = None

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer that calls the function with what has changed, net per key."""
        return cast("Writer", loaded("functions.writers").UpsertWriter(self, plan))
