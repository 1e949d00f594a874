"""Several windows on one copy of the rows: each gives what it would give alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.windows.codes import NO_CODE
from windrow.windows.lifetime import Lifetime
from windrow.windows.marks import Assignments
from windrow.windows.row_store import RowStore
from windrow.windows.window import EventColumns, Window

VALUES = 3
Batch = list[tuple[int, bool]]  # distance of the time from the clock, whether a value is NULL


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, int, tuple[int, ...], int]:
    """When it joins, its length, the words that it reads, how far its clock is behind."""
    chosen = draw(st.lists(st.integers(0, VALUES - 1), unique=True, max_size=VALUES))
    return draw(st.integers(0, 4)), draw(st.integers(0, 12)), tuple(chosen), draw(st.integers(0, 5))


steps = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=40), st.integers(0, 9)
    ),
    min_size=1,
    max_size=8,
)


class Pair:
    """A window on the shared rows beside one with rows of its own."""

    def __init__(
        self, store: RowStore, length: int, chosen: tuple[int, ...], clock: int, behind: int
    ) -> None:
        lifetime = Lifetime.closed(length)
        self.chosen, self.behind = chosen, behind
        self.shared = Window(0, lifetime=lifetime, store=store, chosen=chosen)
        self.shared.columns.begin_at(clock - behind)
        self.alone = Window(len(chosen), lifetime=lifetime)

    def take(self, times, codes, values, valid) -> None:  # type: ignore[no-untyped-def]
        chosen = list(self.chosen)
        mine = (values[chosen], valid[chosen])
        self.shared.append(times, codes, *mine)
        self.alone.append(times, codes, *mine)

    def agree(self, clock: int) -> None:
        left, right = (_run(window, clock - self.behind) for window in (self.shared, self.alone))
        assert left == right


def _run(window: Window, clock: int) -> list[tuple[object, ...]]:
    """Events as (at, sign, code, time, words, flags), without rows that take no part."""
    window.open(clock)
    events = EventColumns(2_000)
    size = window.fill(events, 0, 2_000, clock, 1)
    columns, found = window.columns, []
    for at, row, sign in zip(events.at[:size], events.row[:size], events.sign[:size], strict=True):
        code = int(columns.codes[row])
        if code != NO_CODE:
            words = columns.values[:, row].tolist()
            flags = columns.valid[:, row].tolist() if columns.valid.size else [1] * len(words)
            found.append((int(at), int(sign), code, int(columns.times[row]), words, flags))
    gone = window.close()
    if gone is not None:
        window.reclaim(gone)
    return found


@given(steps, st.lists(windows(), min_size=1, max_size=4))
def test_windows_on_one_copy_agree_with_windows_alone(
    given_steps: list[tuple[Batch, int]], readers: list[tuple[int, int, tuple[int, ...], int]]
) -> None:
    store, pairs, clock, arrivals = RowStore(VALUES), [], 0, 0
    for number, (batch, forward) in enumerate(given_steps):
        for joins, length, chosen, behind in readers:
            if joins == number:
                pairs.append(Pair(store, length, chosen, clock, behind))
        times = np.array([clock + distance for distance, _ in batch], np.int64)
        codes = np.arange(arrivals, arrivals + times.size, dtype=np.int32)
        values = np.stack([10 * codes.astype(np.int64) + each for each in range(VALUES)])
        valid = np.ones(values.shape, np.uint8)
        valid[1] = [not is_null for _, is_null in batch]
        arrivals += times.size
        if pairs:
            store.append(times, values, valid)
        for pair in pairs:
            pair.take(times, codes, values, valid)
        clock += forward
        for pair in pairs:
            pair.agree(clock)
    if pairs:
        pairs[0].shared.columns.store.trim()
        held = max(store.row_count, 1)
        assert store.capacity <= max(64, 2 * held + 2)
        for pair in pairs:
            pair.agree(clock + 30)


@given(steps)
def test_bytes_during_an_append_are_foretold(given_steps: list[tuple[Batch, int]]) -> None:
    store = RowStore(2)
    window = Window(0, lifetime=Lifetime.closed(9), store=store, chosen=(0, 1))
    clock = 0
    for batch, forward in given_steps:
        many = [distance for distance, _ in batch] * 9
        after, most = store.bytes_after(len(many))
        times = np.array(sorted(clock + distance for distance in many), np.int64)
        store.append(times, np.zeros((2, times.size), np.int64))
        window.append(times, np.zeros(times.size, np.int32), np.zeros((2, times.size), np.int64))
        held = store.nbytes + window.columns.codes.nbytes
        assert held <= most
        assert abs(held - after) <= 64
        clock += forward
        _run(window, clock)


def _changed(change: Callable[..., None], *given: object) -> Assignments:
    changes = Assignments()
    change(*given, changes)
    return changes


def test_words_can_be_added_and_taken_away() -> None:
    store = RowStore(1)
    first = Window(0, lifetime=Lifetime.closed(9), store=store, chosen=(0,))
    times = np.array([1, 2], np.int64)
    store.append(times, np.array([[5, 6]]))
    first.append(times, np.array([0, 1], np.int32), np.array([[5, 6]]))
    store.make(_changed(store.add_value))
    second = Window(0, lifetime=Lifetime.closed(9), store=store, chosen=(1,))
    second.columns.begin_at(0)
    store.append(times[:1] + 2, np.array([[7], [8]]))
    for window, code, value in ((first, 2, 7), (second, 0, 8)):
        window.append(times[:1] + 2, np.array([code], np.int32), np.array([[value]]))
    first.columns.store.leave(first.columns)
    store.make(_changed(store.keep_values, [1]))
    second.columns.chosen = np.array([0])
    assert store.reader_count == 1
    assert [event[2:5] for event in _run(second, 3)] == [(0, 3, [8])]
