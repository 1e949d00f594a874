"""Memory: answers and changes are held on the driver until somebody takes them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.scripted import Scripted
from windrow.errors import AdmissionError
from windrow.output.change_limit import cut_between_instants

if TYPE_CHECKING:
    from windrow.plan.model import QueryPlan

__all__ = ["MEMORY_ROWS_LIMIT", "SINKS", "Memory", "MemoryWriter"]

MEMORY_ROWS_LIMIT = 10_000_000


@dataclass(frozen=True)
class Memory(Sink):
    """Answers are held on the driver until answers(), result() or changes() takes them.

    >>> Memory()
    Memory()
    """

    in_process: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True
    shows: ClassVar[Literal["answers", "result"] | None] = "result"
    replay: ClassVar[Replay] = "known"

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer that holds what it is given."""
        return MemoryWriter()


@dataclass(frozen=True)
class _Held:
    """Unread tables of a feed; none if they were dropped."""

    tables: tuple[pa.Table, ...] = ()
    rows: int = 0

    def with_table(self, table: pa.Table) -> _Held:
        rows = self.rows + table.num_rows
        return _Held(() if rows > MEMORY_ROWS_LIMIT else (*self.tables, table), rows)


class MemoryWriter(Writer):
    """Holds answers and changes until they are taken.

    Whoever takes only one of the two feeds must not be stopped by the other: a feed that outgrows
    the limit is dropped, which raises an error at the next read.
    """

    feeds: tuple[str, ...] = ("answers", "changes")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The last batch and what is held: one value, so that no batch is ever held in part.
        self._state: tuple[int, dict[str, _Held]] = (-1, {feed: _Held() for feed in self.feeds})

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Adds one batch; one that is given again after a restart is not added twice."""
        with self._lock:
            last_batch, held = self._state
            if batch_id <= last_batch:
                return
            added = {feed: held[feed].with_table(table) for feed, table in tables.items()}
            self._state = (batch_id, {**held, **added})

    @property
    def held(self) -> MemoryWriter:
        """All that was not taken."""
        return self

    def take(self, feed: str, empty: pa.Table, limit: int | None = None) -> pa.Table:
        """What came since the last call, at most `limit` rows of it; `empty` gives the columns."""
        with self._lock:
            last_batch, held = self._state
            rows = held[feed].rows
            if rows > MEMORY_ROWS_LIMIT:
                self._state = (last_batch, {**held, feed: _Held()})
                raise _too_many(feed, rows)
            given = table = pa.concat_tables([empty, *held[feed].tables])
            left = _Held()
            if limit is not None and table.num_rows > limit:
                end = cut_between_instants(table, limit)
                given, rest = table.slice(0, end), table.slice(end)
                left = _Held((rest,), rest.num_rows)
            self._state = (last_batch, {**held, feed: left})
            return given


def _too_many(feed: str, rows: int) -> AdmissionError:
    return AdmissionError(
        "WA410",
        f"there are {rows} rows of {feed} since the last call; the memory sink dropped them, as "
        f"it holds at most {MEMORY_ROWS_LIMIT}",
        hint="read them more often, or use windrow.sinks.parquet(path)",
    )


SINKS = {"memory": Scripted((), lambda options: Memory())}  # noqa: ARG005 - it has no options
