"""Stores of result rows against a slow account: which rows live at every instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.operators.expiry.binary_heap import BinaryHeap
from windrow.operators.expiry.calendar_queue import CalendarQueue
from windrow.operators.expiry.expiry_queue import EXPIRY_LIMIT, ExpiryQueue
from windrow.operators.expiry.ladder.ladder_queue import BranchLadderQueue, LadderQueue
from windrow.operators.expiry.wheel.timing_wheel import TimingWheel
from windrow.operators.select.live_rows import (
    CountedRows,
    DistinctRows,
    EarlyRows,
    LiveRows,
    NewRows,
    RowEvents,
)

QUEUES = [TimingWheel, BranchLadderQueue, LadderQueue, CalendarQueue, BinaryHeap]
Lives = dict[int, Counter[int]]
LAST = 200


@dataclass(frozen=True)
class Birth:
    """A row that begins: when, which, and how long it would live; owner: what it is made of."""

    at: int
    code: int
    life: int
    owner: int = 0

    @property
    def expiry(self) -> int:
        return self.at + self.life


def births(lives: st.SearchStrategy[int]) -> st.SearchStrategy[list[Birth]]:
    """Rows in order of time, with many ties."""
    one = st.builds(Birth, st.integers(0, 60), st.integers(0, 4), lives, st.integers(0, 3))
    return st.lists(one, max_size=25).map(lambda rows: sorted(rows, key=lambda row: row.at))


def shown(store: LiveRows, steps: list[tuple[list[Birth], int]]) -> Lives:
    """How many of each code live at every instant, by the changes that a store gives."""
    changes: list[tuple[int, int, int]] = []
    store.reserve(4, 5)
    for rows, until in steps:
        store.begin()
        at, code, expiry, owner = (
            np.array([getattr(row, name) for row in rows], np.int64)
            for name in ("at", "code", "expiry", "owner")
        )
        signs = np.ones(at.size, np.int64)
        events = RowEvents(at, np.zeros(at.size, np.int64), owner, signs)
        slots = owner.astype(np.int32)[None, :]
        numbers = np.arange(at.size, dtype=np.int32)
        store.add(events, NewRows(numbers, slots, code.astype(np.int32), expiry), at.size)
        found = [each.tolist() for each in store.drain(until)]
        assert found[0] == sorted(found[0])
        changes += zip(*found, strict=True)
    return added_up(changes)


def added_up(changes: list[tuple[int, int, int]]) -> Lives:
    lives: Lives = {}
    held: Counter[int] = Counter()
    for instant in range(LAST):
        for at, code, delta in changes:
            if at == instant:
                held[code] += delta
        lives[instant] = +held
        assert min(held.values(), default=0) >= 0
    return lives


def expected(rows: list[Birth], grid: int, *, distinct: bool) -> Lives:
    """The same by looking at every row; on a grid, as it is at the last multiple."""
    lives: Lives = {}
    for instant in range(LAST):
        seen = instant // grid * grid
        held = Counter(row.code for row in rows if row.at <= seen < row.expiry)
        lives[instant] = Counter(dict.fromkeys(held, 1)) if distinct else held
    return lives


def in_steps(rows: list[Birth], borders: list[int], grid: int) -> list[tuple[list[Birth], int]]:
    """Rows cut at these instants, each part with the instant up to which it runs."""
    steps = []
    since = -1
    for until in [*sorted(set(borders)), LAST]:
        part = []
        for row in rows:
            if since < row.at <= until:
                # Events carry instants that are rounded up already, expiries do not.
                at = -(-row.at // grid) * grid
                part.append(Birth(at, row.code, row.expiry - at))
        steps.append((part, until))
        since = until
    return steps


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize(("store", "distinct"), [(CountedRows, False), (DistinctRows, True)])
@given(
    rows=births(st.one_of(st.just(20), st.integers(1, 60))),
    borders=st.lists(st.integers(0, 120), max_size=6),
    grid=st.sampled_from([1, 1, 7]),
)
def test_rows_that_expire(
    queue: Callable[[], ExpiryQueue],
    store: Callable[[ExpiryQueue, int], LiveRows],
    distinct: bool,
    rows: list[Birth],
    borders: list[int],
    grid: int,
) -> None:
    if grid > 1:  # a step ends at a multiple, as the last event of it does
        borders = [border // grid * grid for border in borders]
    steps = in_steps(rows, borders, grid)
    wanted = expected(rows, grid, distinct=distinct)
    assert shown(store(queue(), grid), steps) == wanted


def test_a_duplicate_prolongs_a_life_without_an_entry_of_its_own() -> None:
    store = DistinctRows(TimingWheel(), 1)
    rows = [Birth(at, 3, 10) for at in range(8)]
    lives = shown(store, [(rows, 9)])
    assert store.size == 1
    assert lives[9] == {3: 1}
    assert [each.tolist() for each in store.drain(17)] == [[17], [3], [-1]]
    assert store.size == 0


@given(
    rows=births(st.one_of(st.just(EXPIRY_LIMIT), st.integers(1, 60))),
    ends=st.lists(st.tuples(st.integers(0, 100), st.integers(0, 3)), max_size=8),
    borders=st.lists(st.integers(0, 120), max_size=5),
)
def test_rows_that_end_early(
    rows: list[Birth], ends: list[tuple[int, int]], borders: list[int]
) -> None:
    store = EarlyRows(TimingWheel(), 1, np.array([False, True]))
    store.reserve(4, 5)
    changes: list[tuple[int, int, int]] = []
    since = -1
    for until in [*sorted(set(borders)), LAST]:
        here = [
            *((row.at, 0, row) for row in rows if since < row.at <= until),
            *((at, 1, owner) for at, owner in sorted(ends) if since < at <= until),
        ]
        here.sort(key=lambda event: event[:2])
        run_early(store, here)
        changes += zip(*(each.tolist() for each in store.drain(until)), strict=True)
        since = until
    endless = any(row.expiry >= EXPIRY_LIMIT for row in rows)
    assert added_up(changes) == with_early_ends(rows, ends)
    assert endless or store.size == 0


def run_early(store: EarlyRows, here: list[tuple[int, int, Birth | int]]) -> None:
    """Events of one step: rows of input 0 begin, rows of input 1 (owners) leave."""
    kinds = [kind for _, kind, _ in here]
    slots = [part.owner if isinstance(part, Birth) else part for _, _, part in here]
    events = RowEvents(
        np.array([at for at, _, _ in here], np.int64),
        np.array(kinds, np.int64),
        np.array(slots, np.int64),
        np.where(np.array(kinds, np.int64) == 0, 1, -1),
    )
    begun = [(i, part) for i, (_, _, part) in enumerate(here) if isinstance(part, Birth)]
    owners = np.array([row.owner for _, row in begun], np.int32)
    new = NewRows(
        np.array([i for i, _ in begun], np.int32),
        np.stack([np.zeros_like(owners), owners]),
        np.array([row.code for _, row in begun], np.int32),
        np.array([min(row.expiry, EXPIRY_LIMIT) for _, row in begun], np.int64),
    )
    store.begin()
    store.add(events, new, len(here))


def with_early_ends(rows: list[Birth], ends: list[tuple[int, int]]) -> Lives:
    """A row ends when its owner first leaves, from its own beginning on."""
    lives: Lives = {}
    for instant in range(LAST):
        lives[instant] = Counter(
            row.code
            for row in rows
            if row.at <= instant < row.expiry
            and not any(row.at <= at <= instant and owner == row.owner for at, owner in ends)
        )
    return lives
