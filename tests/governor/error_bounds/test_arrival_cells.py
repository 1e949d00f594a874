"""Cells that were counted elsewhere make the profile that their rows would have made."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.slow_errors import (
    FUNCTIONS,
    Row,
    add,
    answer,
    bound,
    relative_error,
    rows_of,
    values_of,
)
from windrow.governor.error_bounds import kernels
from windrow.governor.error_bounds.arrival_cells import ArrivalCells, cells_of, first_pane_us
from windrow.governor.error_bounds.arrival_profile import FEWEST_PANES, ArrivalProfile

RANGE = 1_000
TIGHT = 8 * 2 * FEWEST_PANES * 16 * (kernels.MEASURES + kernels.MEASURE_LANES + 1)


def counted(rows: Sequence[Row], pane_us: int) -> ArrivalCells:
    return cells_of(
        np.array([row.time for row in rows], np.int64),
        np.array([row.group for row in rows], np.int32),
        np.array([[math.nan if row.value is None else row.value for row in rows]]),
        np.array([[row.value is not None for row in rows]], np.uint8),
        pane_us,
    )


@given(data=st.data())
def test_cells_of_all_rows_at_once_are_the_profile_itself(data: st.DataObject) -> None:
    rows = data.draw(rows_of(data.draw(values_of()), latest=3 * RANGE))
    whole, merged = (ArrivalProfile(RANGE, 1) for _ in range(2))
    add(whole, rows)
    merged.merge(counted(rows, merged.pane_us))
    one, other = whole.state(), merged.state()
    assert (one.earliest_us, one.newest) == (other.earliest_us, other.newest)
    for name in ("arrivals", "slot", "group", "cells"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "cells")


@given(data=st.data())
def test_bounds_hold_with_cells_from_several_places(data: st.DataObject) -> None:
    """Rows are dealt out to places, each counts them batch by batch, and panes are merged too."""
    rows = data.draw(rows_of(data.draw(values_of()), latest=2 * RANGE, groups=20))
    rows.sort(key=lambda row: row.time)
    clock = rows[-1].time if rows else RANGE
    profile = ArrivalProfile(RANGE, 1, bytes_limit=data.draw(st.sampled_from([TIGHT, 8 << 20])))
    pane_us = first_pane_us(RANGE)
    dealt = [(data.draw(st.integers(0, 2)), row) for row in rows]
    cut = data.draw(st.integers(0, len(rows)))
    for part in (dealt[:cut], dealt[cut:]):
        for place in range(3):
            own = [row for owner, row in part if owner == place]
            merged, waiting = counted(own, pane_us).until(clock)
            profile.merge(merged)
            assert not waiting.panes.size
    edge = clock - data.draw(st.integers(0, RANGE))
    for group in {row.group for row in rows}:
        truth = [row for row in rows if row.group == group and row.time >= clock - RANGE]
        held = [row for row in truth if row.time >= edge]
        for function in FUNCTIONS:
            error = relative_error(answer(function, held), answer(function, truth))
            assert error <= bound(function, profile, clock, edge, group, held)
    assert profile.totals(0, 0, 20).count.sum() == sum(row.value is not None for row in rows)


def test_values_about_one_anchor_keep_their_squares() -> None:
    profile = ArrivalProfile(RANGE, 1)
    for values in ((2.0, 4.0), (2.0, 8.0)):
        profile.merge(counted([Row(1, 0, value) for value in values], profile.pane_us))
    squares = kernels.MEASURES + kernels.SQUARES
    assert profile.state().cells[0, squares] == 4.0 + 36.0
    profile.merge(counted([Row(1, 0, 3.0)], profile.pane_us))
    assert profile.state().cells[0, squares] == math.inf


def test_cells_wait_until_their_pane_has_begun() -> None:
    found = counted([Row(time, 0, 1.0) for time in (3, 12, 27)], 10)
    begun, rest = found.until(12)
    assert begun.panes.tolist() == [0, 1]
    assert rest.panes.tolist() == [2]
    assert rest.until(19)[0].panes.size == 0
