"""Cells, and the aggregate over windows without a shard around it, against all pairs of rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.exact.kernels import INTEGER
from windrow.operators.keyed.cells import CellLists, Cells
from windrow.operators.keyed.factorised import FactorisedAggregate
from windrow.rows.grouping import BY_KEY, SINGLE, WHOLE
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import Window

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=20)


@given(pairs)
def test_cells_are_pairs_of_key_and_group(rows: list[tuple[int, int]]) -> None:
    cells = Cells()
    keys, groups = (np.array([row[i] for row in rows], np.int32) for i in range(2))
    found, fresh = cells.acquire(keys, groups)
    assert sorted(fresh.tolist()) == sorted(set(found.tolist()))
    assert len(set(found.tolist())) == len(set(rows))
    left, right = cells.parts(found)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == rows
    idle = cells.release(found)
    assert sorted(idle.tolist()) == sorted(fresh.tolist())
    cells.forget(idle)
    again, _ = cells.acquire(keys, groups)
    assert again.max(initial=-1) < max(1, len(set(rows)))


def test_lists_of_cells_grow_without_losing_any() -> None:
    lists = CellLists()
    lists.reserve(2, 1)
    lists.place(
        1, np.array([0, 1], np.int32), np.array([0, 0], np.int32), np.array([5, 6], np.int32)
    )
    lists.reserve(100, 50)
    assert lists.arrays.group_of_cell[[1, 3]].tolist() == [5, 6]
    assert lists.arrays.first_cell.size >= 100
    assert lists.nbytes == sum(array.nbytes for array in lists.arrays)


Arrivals = list[tuple[int, int, int]]  # time, key, value
arrivals = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 2), st.integers(-5, 5)), max_size=25
)


def fill(window: Window, aggregate: FactorisedAggregate, side: int, rows: Arrivals) -> None:
    values = np.array([[row[2] for row in rows]], np.int64)
    aggregate.admit(side, values, np.empty((0, 0), np.uint8), values.shape[1])
    window.append(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.int32),
        values,
    )


@pytest.mark.parametrize("mode", [WHOLE, BY_KEY])
@given(left=arrivals, right=arrivals, lengths=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_the_sums_of_a_join_are_those_of_its_pairs(
    mode: int, left: Arrivals, right: Arrivals, lengths: tuple[int, int]
) -> None:
    windows = tuple(Window(1, lifetime=Lifetime.closed(length)) for length in lengths)
    aggregate = FactorisedAggregate(windows, ((INTEGER,), (INTEGER,)), mode)
    aggregate.reserve(3, 3)
    for side, rows in enumerate((left, right)):
        fill(windows[side], aggregate, side, rows)
    updates = aggregate.advance(100)
    state: dict[int, tuple[int, int, int]] = {}
    place = 0
    for t in range(101):
        while place < updates.at.size and updates.at[place] == t:
            lanes = updates.lanes[place].tolist()
            state[int(updates.group[place])] = (int(updates.count[place]), lanes[0], lanes[1])
            place += 1
        wanted: Counter[tuple[int, int]] = Counter()
        for one in left:
            for other in right:
                if (
                    one[1] == other[1]
                    and t - lengths[0] <= one[0] <= t >= other[0] >= t - lengths[1]
                ):
                    group = one[1] if mode == BY_KEY else 0
                    wanted.update({(group, 0): 1, (group, 1): one[2], (group, 2): other[2]})
        for group, found in state.items():
            assert found == tuple(wanted[group, i] for i in range(3)), t
        assert {group for group, i in wanted if i == 0} <= set(state)
    assert place == updates.at.size


@given(arrivals, st.integers(0, 9), st.integers(2, 7))
def test_on_a_grid_only_its_multiples_are_put_out(rows: Arrivals, length: int, grid: int) -> None:
    def run(grid_us: int) -> dict[int, tuple[int, int]]:
        window = Window(1, lifetime=Lifetime.closed(length))
        aggregate = FactorisedAggregate((window,), ((INTEGER,),), SINGLE)
        aggregate.reserve(0, 3)
        fill(window, aggregate, 0, [(time, 0, value) for time, _, value in rows])
        found = aggregate.advance(100, grid_us)
        return {
            int(at): (int(n), int(lanes[0]))
            for at, n, lanes in zip(found.at, found.count, found.lanes, strict=True)
        }

    every, coarse = run(1), run(grid)
    assert all(at % grid == 0 for at in coarse)
    last, shown = (0, 0), (0, 0)
    for t in range(0, 98):
        last = every.get(t, last)
        if t % grid == 0:
            shown = coarse.get(t, shown)
            assert shown == last, t
