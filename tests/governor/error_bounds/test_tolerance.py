"""How much narrower a window may be, against plain loops and against what comes afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.slow_errors import (
    FUNCTIONS,
    Row,
    add,
    bound,
    rows_of,
    values_of,
)
from windrow.governor.error_bounds.arrival_profile import ArrivalProfile
from windrow.governor.error_bounds.narrowed import narrowed_bounds
from windrow.governor.error_bounds.tolerance import (
    EARLIER_INSTANTS,
    FORECAST_SHARE,
    tolerated_span_us,
)

RANGE = 160
PANE = 5
PANES = RANGE // PANE
CLOCK = 400

PROMISED = ("count_star", "count", "min", "max")
each_function = pytest.mark.parametrize("function", FUNCTIONS)


def measure_of(function: str) -> int | None:
    return None if function == "count_star" else 0


def profile_of(rows: list[Row]) -> ArrivalProfile:
    profile = ArrivalProfile(RANGE, 1, PANE)
    add(profile, rows)
    profile.advance(CLOCK)
    return profile


def lacking_bound(
    function: str, rows: list[Row], oldest: int, span: int, newest: int, group: int
) -> float:
    """The bound where two panes are cut and what is held of the one at the edge is left out."""
    held = [
        row for row in rows if row.group == group and oldest + span < row.time // PANE <= newest
    ]
    # A profile of the range that begins and ends within the two panes.
    profile = ArrivalProfile(RANGE, 1, PANE)
    add(profile, [row for row in rows if row.time // PANE <= newest])
    profile.advance((newest + 1) * PANE)
    at = oldest * PANE + 2 + RANGE
    return bound(function, profile, at, at - RANGE + span * PANE, group, held)


@each_function
@given(data=st.data())
def test_bounds_of_many_widths_are_those_of_each(function: str, data: st.DataObject) -> None:
    # A mean that is zero but for rounding would make one infinite and the other not.
    kinds = ["positive"] if function == "avg" else ["small", "positive"]
    rows = data.draw(rows_of(data.draw(values_of(*kinds)), latest=60, groups=2))
    # All within the panes that are judged, so that several are in one.
    rows = [Row(CLOCK - row.time * 2, row.group, row.value) for row in rows]
    totals = profile_of(rows).totals(measure_of(function), 0, 2)
    oldest = np.array(data.draw(st.lists(st.integers(48, 70), min_size=1, max_size=3)))
    newest = data.draw(st.integers(70, 80))
    spans = data.draw(st.integers(1, PANES))
    bounds = narrowed_bounds(function, totals, oldest, newest, spans)
    assert bounds.shape == (oldest.size, spans, totals.count.shape[1])
    for instant, first in enumerate(oldest.tolist()):
        span = data.draw(st.integers(1, spans))
        for group in range(totals.count.shape[1]):
            slow = lacking_bound(function, rows, first, span, newest, group)
            fast = bounds[instant, span - 1, group]
            # Where the exact answer is 0 but for rounding, both are beyond all measure.
            assert fast == pytest.approx(slow, rel=1e-6, abs=1e-9) or min(fast, slow) > 1e6


@given(data=st.data())
def test_the_span_is_the_largest_that_all_windows_bear(data: st.DataObject) -> None:
    function = data.draw(st.sampled_from(list(FUNCTIONS)))
    rows = data.draw(rows_of(data.draw(values_of("positive", "everyday")), latest=CLOCK, groups=2))
    rows = [Row(0, 0, 1.0), *rows] if data.draw(st.booleans()) else rows
    percent = data.draw(st.sampled_from([0.0, 2.0, 10.0, 50.0, 100.0, 300.0]))
    horizon = data.draw(st.sampled_from([0, 17, 20, 100]))
    profile = profile_of(rows)
    fast = tolerated_span_us(profile, function, measure_of(function), percent, CLOCK, horizon)
    assert fast == slow_span(profile, rows, function, percent, horizon)


def slow_span(
    profile: ArrivalProfile, rows: list[Row], function: str, percent: float, horizon: int
) -> int:
    """Spans are tried one after the other, and for each all windows."""
    first = min((row.time for row in rows), default=CLOCK)
    windows = [
        (instant - RANGE, CLOCK) for instant in range(CLOCK, CLOCK + horizon + 1)
    ]  # fmt: skip
    for part in range(1, EARLIER_INSTANTS + 1):
        earlier = CLOCK - part * RANGE // EARLIER_INSTANTS
        if earlier - RANGE >= max(first, profile.known_from_us):
            windows.append((earlier - RANGE, earlier))
    limit = (RANGE - horizon) // PANE - 2
    if first > CLOCK - RANGE:
        is_even = function in ("count_star", "count", "sum")
        limit = min(limit, int(RANGE * min(percent, 100) / 100 / PANE) if is_even else 0)
    totals = profile.totals(measure_of(function), 0, profile.group_count)
    signs = {row.value > 0 for row in rows if row.value and row.time >= profile.known_from_us}
    is_sure = len(signs) < 2 if function == "sum" else function in PROMISED
    allowed = percent / 100 * (1 if is_sure else FORECAST_SHARE)
    for span in range(1, limit + 1):
        for begin, end in windows:
            oldest = np.array([begin // PANE])
            bounds = narrowed_bounds(function, totals, oldest, end // PANE, span)
            if bounds[0, span - 1].max() > allowed:
                return (span - 1) * PANE
    return max(limit, 0) * PANE


@pytest.mark.parametrize("function", [*PROMISED, "sum"])
@given(data=st.data())
def test_what_is_promised_holds_until_the_horizon(function: str, data: st.DataObject) -> None:
    """Whatever comes, and however wide the window is beyond what must be."""
    # A sum is promised as long as all values have one sign.
    values = data.draw(values_of(*(["positive"] if function == "sum" else ["small", "positive"])))
    rows = data.draw(rows_of(values, latest=CLOCK, groups=2))
    # A steady stream besides, so that the span is not always nothing.
    rows += [Row(time, 0, 5.0) for time in range(0, CLOCK + 1, 3)]
    percent = data.draw(st.sampled_from([5.0, 20.0, 60.0, 99.0]))
    horizon = data.draw(st.integers(0, RANGE // 2))
    profile = profile_of(rows)
    span = tolerated_span_us(profile, function, measure_of(function), percent, CLOCK, horizon)
    at = CLOCK + data.draw(st.integers(0, horizon))
    comes = st.builds(Row, st.integers(CLOCK + 1, at), st.integers(0, 1), st.none() | values)
    more = data.draw(st.lists(comes, max_size=20)) if at > CLOCK else []
    add(profile, more)
    profile.advance(at)
    edge = at - RANGE + data.draw(st.integers(0, span))
    for group in range(2):
        held = [row for row in [*rows, *more] if row.group == group and edge <= row.time <= at]
        assert bound(function, profile, at, edge, group, held) <= percent / 100


@pytest.mark.parametrize("percent", [1.0, 10.0, 25.0])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_data_there_is_a_prior(function: str, percent: float) -> None:
    profile = ArrivalProfile(RANGE, 1, PANE)
    even = int(percent / 100 * RANGE) // PANE * PANE
    expected = even if function in ("count_star", "count", "sum") else 0
    assert tolerated_span_us(profile, function, measure_of(function), percent, CLOCK) == expected
    # The first rows say nothing of a whole range yet; and rows unseen nothing at all.
    add(profile, [Row(CLOCK, 0, 1.0)])
    assert tolerated_span_us(profile, function, measure_of(function), percent, CLOCK) == expected
    fresh = ArrivalProfile(RANGE, 1, PANE, begin_us=CLOCK - 10)
    add(fresh, [Row(CLOCK, 0, 1.0)])
    assert tolerated_span_us(fresh, function, measure_of(function), percent, CLOCK) == expected


def test_even_arrivals_give_about_the_share_that_is_tolerated() -> None:
    range_us = 256_000
    profile = ArrivalProfile(range_us, 1)
    add(profile, [Row(time, 0, 1.0) for time in range(0, 3 * range_us, 100)])
    for function, percent, least in (("count_star", 10, 0.08), ("sum", 10, 0.08), ("avg", 1, 0.8)):
        span = tolerated_span_us(profile, function, measure_of(function), percent, 3 * range_us)
        assert least <= span / range_us <= 0.9
        if function != "avg":
            assert span / range_us <= percent / 100


def test_groups_that_come_and_go_leave_no_span() -> None:
    steady = [Row(time, 0, 1.0) for time in range(0, CLOCK + 1, 2)]
    assert tolerated_span_us(profile_of(steady), "count_star", None, 20.0, CLOCK) > 0
    passing = [*steady, Row(CLOCK - RANGE + 10, 1, 1.0)]
    for function in FUNCTIONS:
        profile = profile_of(passing)
        assert tolerated_span_us(profile, function, measure_of(function), 20.0, CLOCK) == 0


def test_many_groups_are_judged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst group is found wherever it is."""
    rows = [Row(time, group, 1.0) for time in range(0, CLOCK + 1, 4) for group in range(8)]
    monkeypatch.setattr("windrow.governor.error_bounds.tolerance.CELLS_AT_ONCE", 100)
    whole = tolerated_span_us(profile_of(rows), "count", 0, 30.0, CLOCK)
    assert whole > 0
    for sparse in range(8):
        fewer = [row for row in rows if row.group != sparse or row.time < CLOCK - 100]
        assert tolerated_span_us(profile_of(fewer), "count", 0, 30.0, CLOCK) < whole
