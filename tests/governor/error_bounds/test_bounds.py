"""Bounds on the errors of answers from narrowed windows, against answers from all rows."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.slow_errors import (
    FUNCTIONS,
    NEED_VALUES,
    Row,
    add,
    answer,
    bound,
    bounds,
    relative_error,
    rows_of,
    values_of,
)
from windrow.governor.error_bounds.arrival_profile import ArrivalProfile

each_function = pytest.mark.parametrize("function", FUNCTIONS)
RANGE = 100


def within(rows: list[Row], group: int, begin: int, end: int) -> list[Row]:
    """Rows of a group with begin <= time <= end."""
    return [row for row in rows if row.group == group and begin <= row.time <= end]


@each_function
@given(data=st.data())
def test_errors_are_within_their_bounds(function: str, data: st.DataObject) -> None:
    latest = data.draw(st.sampled_from([RANGE // 4, RANGE, 4 * RANGE]))
    rows = data.draw(rows_of(data.draw(values_of()), latest))
    pane_us = data.draw(st.sampled_from([None, 1, 7, 10, 25, 64]))
    profile = ArrivalProfile(RANGE, 1, pane_us, bytes_limit=data.draw(LIMITS))
    # Instants are asked for while rows keep coming, also some that lie back.
    cuts = sorted(data.draw(st.sets(st.integers(0, len(rows)), max_size=2)) | {len(rows)})
    chance = data.draw(st.randoms(use_true_random=False))
    begun = 0
    for cut in cuts:
        add(profile, rows[begun:cut])
        begun = cut
        asked = [each_asked(chance, rows[:cut], profile.pane_us) for _ in range(8)]
        found = bounds(function, profile, [held for held, _ in asked])
        for (_, _, _, held), truth in asked:
            error = relative_error(answer(function, held), answer(function, truth))
            assert error <= found.pop(0)


# No limit that counts, and one at which panes are merged when a second and a third group come.
LIMITS = st.sampled_from([1 << 20, 24_000])
Asked = tuple[tuple[int, int, int, list[Row]], list[Row]]


def each_asked(chance: random.Random, rows: list[Row], pane_us: int) -> Asked:
    """What is asked for, and the rows of the exact answer.

    The edge and the begin of the range mostly are where it matters: at a row or a pane's border, or
    just beside.
    """
    times = [row.time for row in rows] or [0]
    places = [*times, *times, *(time // pane_us * pane_us for time in times)]
    at = chance.choice([chance.choice(places) + RANGE, max(times)]) + chance.randint(-1, 1)
    edge = chance.choice([*places, at]) + chance.randint(-1, 1)
    group = chance.choice([0, 0, 1, 2])
    truth = within(rows, group, at - RANGE, at)
    return (at, edge, group, [row for row in truth if row.time >= edge]), truth


@each_function
@given(data=st.data())
def test_a_window_cut_at_borders_of_panes_is_bounded_sharply(
    function: str, data: st.DataObject
) -> None:
    rows = data.draw(rows_of(data.draw(values_of("positive", "everyday")), latest=2 * RANGE))
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    add(profile, rows)
    at = 10 * data.draw(st.integers(10, 20))
    edge = 10 * data.draw(st.integers((at - RANGE) // 10, at // 10))
    held = within(rows, 0, edge, at)
    error = relative_error(
        answer(function, held), answer(function, within(rows, 0, at - RANGE, at))
    )
    # The rounding that is allowed for is far below what an error of interest is.
    exact = bound(function, profile, at, edge, 0, held)
    assert exact == error or exact <= error * (1 + 1e-9) + 1e-9 or nearly_zero(function, rows, at)


def nearly_zero(function: str, rows: list[Row], at: int) -> bool:
    """The exact answer is 0 but for rounding, so that no bound on its relative error is sharp."""
    truth = answer(function, within(rows, 0, at - RANGE, at))
    return truth is not None and abs(truth) < 1e-9


@pytest.mark.parametrize("function", ["count_star", "count", "sum", "min", "max"])
@given(data=st.data())
def test_a_cut_pane_may_mean_any_of_its_rows(function: str, data: st.DataObject) -> None:
    """The bound is the worst error for all choices among the rows of the panes that are cut."""
    values = data.draw(st.lists(st.none() | st.integers(1, 9).map(float), min_size=7, max_size=7))
    # A pane cut by the range's begin, one wholly lacking, one cut by the edge, and one held.
    times = [3, 7, 14, 24, 28, 33, 40]
    rows = [Row(time, 0, value) for time, value in zip(times, values, strict=True)]
    profile = ArrivalProfile(38, 1, pane_us=10)
    add(profile, rows)
    lacking, cut, held = rows[2:3], [*rows[:2], *rows[3:5]], rows[5:]
    said = answer(function, held)
    worst = max(
        relative_error(said, answer(function, [*held, *lacking, *chosen]))
        for size in range(5)
        for chosen in itertools.combinations(cut, size)
    )
    assert bound(function, profile, 43, 29, 0, held) == pytest.approx(worst, rel=1e-12)


@each_function
def test_nothing_lacking_is_no_error(function: str) -> None:
    rows = [Row(time, 0, value) for time, value in enumerate([1.0, math.nan, 3.0, None])]
    profile = ArrivalProfile(RANGE, 1)
    add(profile, rows)
    for edge in (-RANGE, -1, 0):
        assert bound(function, profile, RANGE, edge, 0, rows) == 0.0
    assert bound(function, profile, RANGE, 50, 1, []) == 0.0


@each_function
def test_rows_that_were_not_seen_may_be_anything(function: str) -> None:
    row = Row(180, 0, 1.0)
    fresh = ArrivalProfile(RANGE, 1, begin_us=100)
    add(fresh, [row, row])
    assert bound(function, fresh, 190, 150, 0, [row, row]) == math.inf
    assert bound(function, fresh, 200, 150, 0, [row, row]) == 0.0
    # The ring has moved on: what was lacking at an instant long ago is not known any more.
    fresh.advance(1_000)
    assert bound(function, fresh, 200, 150, 0, [row, row]) == math.inf


@pytest.mark.parametrize("function", NEED_VALUES)
@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers_leave_with_their_pane(function: str, special: float) -> None:
    rows = [Row(5, 0, special), Row(15, 0, 2.0), Row(25, 0, 2.0), Row(55, 0, 2.0), Row(60, 0, 3.0)]
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    add(profile, rows)
    held = rows[3:]
    poisoned = bound(function, profile, RANGE, 50, 0, held)
    truth = answer(function, rows)
    assert relative_error(answer(function, held), truth) <= poisoned
    later = bound(function, profile, RANGE + 10, 50, 0, held)
    assert relative_error(answer(function, held), answer(function, rows[1:])) <= later < 2


def test_null_answers() -> None:
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    add(profile, [Row(15, 0, 2.0), Row(15, 1, None)])
    for function in NEED_VALUES:
        counts = function == "count"
        needs_two = function.endswith("_samp")
        expected = 1.0 if counts else 0.0 if needs_two else math.inf
        assert bound(function, profile, RANGE, 50, 0, []) == expected
        assert bound(function, profile, RANGE, 50, 1, []) == 0.0


def test_distances_do_not_drown_in_large_values() -> None:
    """Squares of 1e8 have no digits left for a variance of 1; distances have."""
    values = np.random.default_rng(5).normal(1e8, 1.0, 400)
    rows = [Row(index, 0, float(value)) for index, value in enumerate(values)]
    profile = ArrivalProfile(400, 1, pane_us=10)
    add(profile, rows)
    held = rows[100:]
    for function in ("var_samp", "stddev_pop"):
        error = relative_error(answer(function, held), answer(function, rows))
        assert error <= bound(function, profile, 400, 100, 0, held) <= error + 1e-6


def test_a_variance_has_a_floor() -> None:
    """Rows that are lacking cannot take away what the rows held differ by."""
    rows = [Row(5, 0, 1_000.0), Row(55, 0, 1.0), Row(60, 0, 2.0)]
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    add(profile, rows)
    # The pane with the outlier is cut: it may be lacking or not.
    assert bound("var_pop", profile, 101, 50, 0, rows[1:]) < 1.01


def test_a_row_at_the_instant_itself_is_lacking_where_nothing_is_held() -> None:
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    add(profile, [Row(RANGE, 0, 1.0)])
    assert bound("count", profile, RANGE, RANGE + 1, 0, []) == 1.0
    assert bound("sum", profile, RANGE, RANGE + 1, 0, []) == math.inf


def test_sums_that_lost_digits_are_known_to_have() -> None:
    """1e16 + 1 is 1e16 in doubles: what is lacking seems to be nothing."""
    rows = [*(Row(5, 0, value) for value in (1e16, 1.0, 1.0, -1e16)), Row(60, 0, 1.0)]
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    add(profile, rows)
    for function in ("sum", "avg"):
        error = relative_error(answer(function, rows[4:]), answer(function, rows))
        assert 0 < error <= bound(function, profile, RANGE, 50, 0, rows[4:])


def test_squares_too_small_for_a_double() -> None:
    rows = [Row(5, 0, 3e-169), *[Row(60, 0, 1e-169)] * 9]
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    add(profile, rows)
    error = relative_error(answer("avg", rows[1:]), answer("avg", rows))
    for at in (RANGE, RANGE + 1):
        assert 0.1 < error <= bound("avg", profile, at, 50, 0, rows[1:])


def test_a_cut_one_microsecond_beside_a_border() -> None:
    """What cancels in a whole pane does not in a part of it."""
    rows = [Row(10, 0, -4.0), Row(19, 0, 4.0), Row(60, 0, 1.0)]
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    add(profile, rows)
    assert bound("sum", profile, 110, 20, 0, rows[2:]) == pytest.approx(0, abs=1e-12)
    assert bound("sum", profile, 111, 20, 0, rows[2:]) >= 0.8
    assert bound("sum", profile, 110, 19, 0, rows[1:]) >= 4


def test_squares_of_merged_panes_may_be_small() -> None:
    values = [(10, 5.0), (10, 5.0), (11, 5.0), (11, 8.0), (60, 0.0), (61, 10.0)]
    rows = [Row(time, 0, value) for time, value in values]
    profile = ArrivalProfile(RANGE, 1, pane_us=1, bytes_limit=24_000)
    add(profile, rows)
    add(profile, [Row(61, 1, 0.0)])
    assert profile.pane_us == 2
    for function in ("var_pop", "var_samp", "stddev_pop", "stddev_samp"):
        error = relative_error(answer(function, rows[4:]), answer(function, rows))
        assert 0 < error <= bound(function, profile, RANGE, 50, 0, rows[4:]) < math.inf
