"""The windows of a session as they really are: rows, bytes of a row, rate, and who reads them.

Queries that share rows are on one window; any other input of a query is a window of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from windrow.embedded.query import EmbeddedQuery
from windrow.governor.measured_rates import is_measured, measured_rate
from windrow.governor.tables import SECOND_US, WindowState
from windrow.rows.shared_rows import RowPool
from windrow.windows.row_store import SPARE_PARTS, RowStore
from windrow.windows.window import Window

__all__ = ["MeasuredWindow", "Member", "measured_windows"]

Member = tuple[EmbeddedQuery, int]  # a query and the position of its input

# The recent rate is that of the last part of the time that a window covers.
RECENT_PARTS = 8


@dataclass(frozen=True)
class MeasuredWindow:
    """slot_bytes: one row in all columns. fixed_bytes: rows that wait, and what is beside rows.

    average_rate: over all the time that it covers. rate: that, or the one of late if it is higher;
    both as memory is foreseen by them. span_us: the time of which it has the rows.
    """

    name: str
    stream: str
    members: tuple[Member, ...]
    store: RowStore
    rows: int
    bytes: int
    slot_bytes: float
    fixed_bytes: float
    rate: float
    average_rate: float
    span_us: int
    is_timed: bool

    @property
    def row_bytes(self) -> float:
        """Bytes of a row with its part of the spare room."""
        return self.slot_bytes * (1 + 1 / SPARE_PARTS)

    @property
    def width_us(self) -> int:
        """The width of the widest of its readers."""
        return max(width_of(*member) for member in self.members)

    @property
    def shown_rate(self) -> float:
        """Rows a second of the time of which it has them."""
        return self.rows * SECOND_US / max(self.span_us, SECOND_US) if self.span_us else 0.0

    @property
    def range_us(self) -> int:
        """The longest range that is asked of it."""
        return max(_range_us(*member) for member in self.members)

    def growth_with(self, query: EmbeddedQuery, rate_of: Callable[[str, int], float]) -> float:
        """Bytes that come to what it holds until it is full, by average rates, for a new query too.

        It stays as wide as it is, unless the query asks for more.
        """
        asked = [_range_us(*each) for each in self.members if each[0] is query]
        others = [width_of(*each) for each in self.members if each[0] is not query]
        rate = self.average_rate
        if not rate and not _has_filter(*self.members[0]):
            rate = rate_of(self.stream, max(asked + others))
        more_us = max(asked + others) - self.span_us
        return max(0.0, self.row_bytes * rate * more_us / SECOND_US)

    def state(self, *, is_average: bool = False) -> WindowState:
        """The row of the governor's table."""
        rate = self.average_rate if is_average else self.rate
        return WindowState(self.name, self.row_bytes, rate, self.width_us)


def width_of(query: EmbeddedQuery, position: int) -> int:
    """The width of one input now; between turns where it takes turns."""
    lifetime = query.lifetime(position)
    return lifetime.hold_us - 1 if lifetime.slide_us == 1 else lifetime.hold_us


def measured_windows(queries: Iterable[EmbeddedQuery], pool: RowPool) -> list[MeasuredWindow]:
    """All windows of running queries."""
    shared: dict[int, list[Member]] = {}
    single: list[Member] = []
    for query in queries:
        for position in range(len(query.plan.inputs)):
            if query.readers:
                shared.setdefault(id(query.readers[position].shared), []).append((query, position))
            else:
                single.append((query, position))
    named: dict[str, int] = {}
    found = []
    for rows in pool.all():
        members = shared.get(id(rows), [])
        if members:
            number = named[rows.stream.name] = named.get(rows.stream.name, 0) + 1
            name = rows.stream.name if number == 1 else f"{rows.stream.name}#{number}"
            found.append(_measured(name, members, rows.store))
    for query, position in single:
        name = f"{query.name}.{query.plan.inputs[position].alias}"
        store = query.windows[position].columns.store
        found.append(_measured(name, [(query, position)], store))
    return found


def _measured(name: str, members: list[Member], store: RowStore) -> MeasuredWindow:
    windows = [query.windows[position] for query, position in members]
    own = sum(window.columns.nbytes for window in windows)
    is_shared = windows[0].columns.is_shared
    columns = own + (store.nbytes if is_shared else 0)
    slot_bytes = columns / store.capacity
    beside = sum(_beside(query) for query, _ in members)
    rows = max(window.row_count for window in windows)
    tail = max(window.columns.tail for window in windows)
    waiting = (store.end - tail) * slot_bytes
    grows, fixed = 0.0, float(beside)
    if not is_shared and members[0][0].algorithm != "factorised" and rows >= RECENT_PARTS:
        # Indexes and slots are for each row; codes and sums of the others are for each key.
        grows, fixed = beside / rows, 0.0
    entry = members[0][0].plan.inputs[members[0][1]]
    range_us = max(_range_us(*member) for member in members)
    watched_us = max(min(query.watched_us, width_of(query, place)) for query, place in members)
    average, recent, span_us = _rates(store, windows, watched_us, range_us)
    return MeasuredWindow(
        name=name,
        stream=entry.stream.name,
        members=tuple(members),
        store=store,
        rows=rows,
        bytes=columns + beside,
        slot_bytes=slot_bytes + grows,
        fixed_bytes=fixed + waiting,
        rate=max(average, recent),
        average_rate=average,
        span_us=span_us,
        is_timed=all(
            query.plan.inputs[position].window.kind in ("time", "slide")
            for query, position in members
        ),
    )


def _range_us(query: EmbeddedQuery, position: int) -> int:
    return query.plan.inputs[position].window.length_us


def _has_filter(query: EmbeddedQuery, position: int) -> bool:
    return query.plan.inputs[position].filter is not None


def _beside(query: EmbeddedQuery) -> int:
    """What a query holds beside the rows of its windows, for one of its inputs."""
    rows = sum(window.columns.nbytes for window in query.windows)
    return (query.state_bytes - rows) // len(query.windows)


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
