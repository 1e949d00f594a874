"""The windows of a session as they really are: rows, bytes of a row, rate, and who reads them.

Queries that share rows are on one window; any other input of a query is a window of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from windrow.embedded.query import EmbeddedQuery
from windrow.governor.governed_input import GovernedInput, KeptTail
from windrow.governor.measured_rates import is_measured, measured_rate
from windrow.governor.measured_window import RECENT_PARTS, MeasuredWindow
from windrow.rows.shared_rows import RowPool
from windrow.windows.lifetime import Lifetime
from windrow.windows.row_store import RowStore
from windrow.windows.window import Window

__all__ = ["EmbeddedInput", "EmbeddedWindow", "measured_windows"]


@dataclass(frozen=True)
class EmbeddedInput(GovernedInput):
    """An input of a query in this process, which obeys at once."""

    query: EmbeddedQuery

    @classmethod
    def of(cls, query: EmbeddedQuery, input_index: int) -> EmbeddedInput:
        """One input of a query."""
        return cls(query.name, query.plan, input_index, query)

    @property
    def algorithm(self) -> str:
        """What keeps the answer now."""
        return self.query.algorithm

    @property
    def life(self) -> tuple[int, int] | None:
        """First and last instant of the query; None while they are not known."""
        return self.query.life

    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""
        return self.query.tolerated_span_us(self.input_index)

    @property
    def pane_us(self) -> int:
        """A width that is no whole number of these makes answers less certain."""
        return self.query.pane_us

    @property
    def tail(self) -> KeptTail:
        """What is known by cells, of rows that the window may no longer hold."""
        return self.query.tail(self.input_index)

    @property
    def lifetime(self) -> Lifetime:
        """How long rows stay now."""
        return self.query.lifetime(self.input_index)

    @property
    def ordered_lifetime(self) -> Lifetime:
        """The same: orders are obeyed at once."""
        return self.lifetime

    @property
    def narrows_from_us(self) -> int:
        """The query's clock: what it has answered stays so."""
        return self.query.clock

    def may_change(self, at_us: int) -> bool:
        """Whether it tolerates an error."""
        del at_us
        return self.plan.error_percent is not None

    def order(self, lifetime: Lifetime) -> None:
        """Let rows stay for that long."""
        self.query.change_lifetime(self.input_index, lifetime)

    @property
    def lacks_rows(self) -> bool:
        """Whether rows were refused that the answer would count now."""
        return self.query.lacks_rows()

    @property
    def window(self) -> Window:
        """The rows themselves."""
        return self.query.windows[self.input_index]


@dataclass(frozen=True, kw_only=True)
class EmbeddedWindow(MeasuredWindow):
    """A window with its rows."""

    inputs: tuple[EmbeddedInput, ...]
    store: RowStore

    def copied_bytes(self, held: float) -> float:
        """What exists twice while it grows to so many bytes."""
        return self.store.copied_bytes(held)


def measured_windows(queries: Iterable[EmbeddedQuery], pool: RowPool) -> list[EmbeddedWindow]:
    """All windows of running queries."""
    shared: dict[int, list[EmbeddedInput]] = {}
    single: list[EmbeddedInput] = []
    other_bytes: dict[str, int] = {}
    for query in queries:
        # Once for all its inputs: to add up what a large tree holds takes a while.
        other_bytes[query.name] = _other_bytes(query)
        for input_index in range(len(query.plan.inputs)):
            read = EmbeddedInput.of(query, input_index)
            if query.readers:
                shared.setdefault(id(query.readers[input_index].shared), []).append(read)
            else:
                single.append(read)
    named: dict[str, int] = {}
    found = []
    for rows in pool.all():
        inputs = shared.get(id(rows), [])
        if inputs:
            name = _free_name(rows.stream.name, named)
            found.append(_measured(name, inputs, rows.store, other_bytes))
    for read in single:
        name = _free_name(f"{read.query_name}.{read.alias}", named)
        found.append(_measured(name, [read], read.window.columns.store, other_bytes))
    return found


def _free_name(name: str, named: dict[str, int]) -> str:
    """The name, with a number if others have it: sub-queries may read a stream as one alias."""
    number = named[name] = named.get(name, 0) + 1
    return name if number == 1 else f"{name}#{number}"


def _measured(
    name: str, inputs: list[EmbeddedInput], store: RowStore, other: Mapping[str, int]
) -> EmbeddedWindow:
    windows = [each.window for each in inputs]
    own = sum(window.columns.nbytes for window in windows)
    is_shared = windows[0].columns.is_shared
    columns = own + (store.nbytes if is_shared else 0)
    slot_bytes = store.row_bytes
    other_bytes = sum(other[each.query_name] for each in inputs)
    rows = max(window.row_count for window in windows)
    tail = max(window.columns.tail for window in windows)
    waiting = (store.end - tail) * slot_bytes
    # Indexes and slots are for each row; codes and sums of the others are for each key.
    by_row = sum(other[each.query_name] for each in inputs if each.algorithm != "factorised")
    by_row = by_row if rows >= RECENT_PARTS else 0
    grows, fixed = by_row / max(rows, 1), float(other_bytes - by_row)
    range_us = max(each.range_us for each in inputs)
    watched_us = max(min(each.query.watched_us, each.width_us) for each in inputs)
    average, recent, span_us = _rates(store, windows, watched_us, range_us)
    return EmbeddedWindow(
        name=name,
        inputs=tuple(inputs),
        rows=rows,
        bytes=columns + other_bytes,
        slot_bytes=slot_bytes + grows,
        fixed_bytes=fixed + waiting,
        rate=max(average, recent),
        average_rate=average,
        span_us=span_us,
        store=store,
    )


def _other_bytes(query: EmbeddedQuery) -> int:
    """What a query holds besides the rows of its windows, for one of its inputs."""
    rows = sum(window.columns.nbytes for window in query.windows)
    return (query.state_bytes - rows) // max(1, len(query.windows))


def _rates(
    store: RowStore, windows: list[Window], watched_us: int, range_us: int
) -> tuple[float, float, int]:
    """Rows a second: over the time covered, and lately; and that time."""
    head = min(window.columns.head for window in windows)
    tail = max(window.columns.tail for window in windows)
    times = store.times[head:tail]
    if times.size < 2:
        return 0.0, 0.0, 0
    span_us = max(watched_us, int(times[-1] - times[0]))
    part_us = span_us // RECENT_PARTS
    average = measured_rate(times.size, span_us, range_us)
    if not is_measured(part_us, range_us):
        return average, average, span_us
    recent = times.size - int(np.searchsorted(times, times[-1] - part_us, side="right"))
    return average, measured_rate(recent, part_us, range_us), span_us
