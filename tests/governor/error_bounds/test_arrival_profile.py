"""The arrival profile: what it holds depends on the rows alone, and codes can be used again."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
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
from windrow.governor.error_bounds.arrival_profile import FEWEST_PANES, ArrivalProfile
from windrow.governor.error_bounds.profile_state import ProfileState

RANGE = 100
# Room for 16 groups at the widest panes only: they are merged on the way there.
TIGHT = 8 * 2 * FEWEST_PANES * 16 * (kernels.MEASURES + kernels.MEASURE_LANES + 1)


def same(left: ProfileState, right: ProfileState) -> bool:
    pairs = zip(dataclasses.astuple(left), dataclasses.astuple(right), strict=True)
    return all(np.array_equal(np.array(a, float), np.array(b, float), True) for a, b in pairs)


@given(data=st.data())
def test_any_batching_gives_the_same_profile(data: st.DataObject) -> None:
    latest = data.draw(st.sampled_from([20, RANGE, 9 * RANGE]))
    rows = data.draw(rows_of(data.draw(values_of()), latest, groups=20))
    whole, parts = (ArrivalProfile(RANGE, 1, bytes_limit=TIGHT) for _ in range(2))
    add(whole, rows)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(rows)))) | {0, len(rows)})
    for begin, end in itertools.pairwise(cuts):
        add(parts, rows[begin:end])
        parts.advance(max((row.time for row in rows[:end]), default=0) - 1)
    if rows:
        assert same(whole.state(), parts.state())
        assert whole.nbytes == parts.nbytes == array_bytes(whole)


def test_panes_are_merged_by_the_row_that_needs_it_in_whatever_batch() -> None:
    """Squares of two panes are given up when they are merged, not when rows come afterwards."""
    rows = [Row(0, 0, 1.0), Row(1, 0, 3.0), Row(2, 5, 1.0), Row(3, 0, 2.0)]
    whole, parts = (ArrivalProfile(RANGE, 1, bytes_limit=TIGHT) for _ in range(2))
    add(whole, rows)
    for row in rows:
        add(parts, [row])
    assert whole.pane_us > 1
    assert same(whole.state(), parts.state())


def array_bytes(profile: ArrivalProfile) -> int:
    return sum(each.nbytes for each in vars(profile).values() if isinstance(each, np.ndarray))


@given(data=st.data())
def test_totals_of_panes_are_those_of_their_rows(data: st.DataObject) -> None:
    rows = data.draw(rows_of(data.draw(values_of("small", "everyday")), latest=5 * RANGE))
    pane_us = data.draw(st.sampled_from([1, 3, 10, 64]))
    profile = ArrivalProfile(RANGE, 1, pane_us)
    add(profile, rows)
    totals = profile.totals(0, 0, 4)
    for place, group in np.ndindex(totals.count.shape):
        pane = totals.first_pane + place
        values = [
            row.value
            for row in rows
            if row.time // pane_us == pane and row.group == group and row.value is not None
        ]
        distances = [value - totals.center[group] for value in values]
        expected = [
            len(values), sum(v for v in values if v > 0), sum(v for v in values if v < 0),
            sum(distances), sum(each**2 for each in distances),
            min(values, default=math.inf), max(values, default=-math.inf),
        ]  # fmt: skip
        fields = [
            totals.count, totals.positive, totals.negative, totals.deviation, totals.squares,
            totals.lowest, totals.highest,
        ]  # fmt: skip
        assert [each[place, group] for each in fields] == pytest.approx(expected, abs=1e-9)


@given(data=st.data())
def test_codes_that_are_silent_stand_for_other_groups_next(data: st.DataObject) -> None:
    """Names get the lowest free code, and give it up once they are silent."""
    profile = ArrivalProfile(RANGE, 1, data.draw(st.sampled_from([5, 10, 30])))
    rows: list[Row] = []
    code_of: dict[int, int] = {}
    steps = st.tuples(st.integers(0, 60), st.integers(0, 5), st.integers(1, 9).map(float))
    clock = 0
    for wait, name, value in data.draw(st.lists(steps, max_size=30)):
        clock += wait
        codes = np.array(sorted(code_of.values()), np.int32)
        silent = codes[profile.is_silent(codes, clock)]
        profile.forget(silent)
        code_of = {each: code for each, code in code_of.items() if code not in silent}
        code = code_of.setdefault(name, min(set(range(9)) - set(code_of.values())))
        add(profile, [Row(clock, code, value)])
        rows.append(Row(clock, name, value))
        edge = clock - data.draw(st.integers(0, RANGE))
        for known, its_code in code_of.items():
            truth = [row for row in rows if row.group == known and row.time >= clock - RANGE]
            held = [row for row in truth if row.time >= edge]
            for function in FUNCTIONS:
                error = relative_error(answer(function, held), answer(function, truth))
                assert error <= bound(function, profile, clock, edge, its_code, held)


def test_codes_beyond_those_seen_are_silent_and_can_be_forgotten() -> None:
    profile = ArrivalProfile(RANGE, 1)
    add(profile, [Row(10, 0, 1.0)])
    assert profile.is_silent(np.array([0, 7], np.int32), 20).tolist() == [False, True]
    assert profile.is_silent(np.array([0], np.int32), 111).tolist() == [True]
    profile.forget(np.array([0, 7], np.int32))
    assert profile.is_silent(np.array([0], np.int32), 20).tolist() == [True]
    add(profile, [Row(time, group, 1.0) for time in range(3 * RANGE) for group in range(2)])
    profile.forget(np.array([1], np.int32))
    counts = profile.totals(0, 0, 2).count.sum(axis=0)
    assert counts[0] > RANGE
    assert counts[1] == 0


def test_panes_are_merged_at_the_limit_and_no_further() -> None:
    profile = ArrivalProfile(100_000, 1, bytes_limit=TIGHT)
    panes = {}
    for code in range(33):
        add(profile, [Row(code, code, 1.0)])
        panes[code + 1] = profile.range_panes
        assert profile.range_panes == FEWEST_PANES or profile.nbytes <= TIGHT
    steps = [panes[groups] for groups in (1, 2, 3, 4, 5, 8, 9, 16, 17, 33)]
    assert steps == [128, 64, 32, 32, 16, 16, 8, 8, 8, 8]
    # Nothing is lost by it but where within a pane the rows were.
    assert profile.totals(0, 0, 64).count.sum() == 33


@pytest.mark.parametrize("newest", range(600, 604))
def test_a_pane_of_which_half_is_gone_is_not_merged(newest: int) -> None:
    profile = ArrivalProfile(RANGE, 1, 1, bytes_limit=24_000)
    add(profile, [Row(time, 0, 1.0) for time in range(newest + 1)])
    add(profile, [Row(newest, 1, 1.0)])
    totals = profile.totals(0, 0, 1)
    assert profile.known_from_us == 2 * totals.first_pane
    # All panes are full but the newest, which may have begun just now.
    assert totals.count[:, 0].tolist() == [2.0] * (totals.count.size - 1) + [1.0 + newest % 2]


def test_squares_of_merged_panes_are_as_large_as_they_can_be() -> None:
    rows = [Row(time, 0, float(value)) for time, value in enumerate([3, 4, 8, 8, 1, 9, 2, 2])]
    profile = ArrivalProfile(RANGE, 1, 1, bytes_limit=24_000)
    add(profile, rows)
    before = profile.totals(0, 0, 1)
    add(profile, [Row(7, 1, 0.0)])
    after = profile.totals(0, 0, 1)
    assert profile.pane_us == 2
    pairs = (before.first_pane + np.arange(before.count.size)) // 2 - after.first_pane
    for field in ("count", "positive", "deviation", "squares"):
        expected = np.zeros(after.count.size)
        np.add.at(expected, pairs, getattr(before, field)[:, 0])
        if field == "squares":
            assert (getattr(after, field)[:, 0] >= expected - 1e-9).all()
            assert getattr(after, field).sum() < 2 * expected.sum()
        else:
            assert getattr(after, field)[:, 0] == pytest.approx(expected)


@given(data=st.data())
def test_a_profile_goes_on_from_its_state(data: st.DataObject) -> None:
    rows = data.draw(rows_of(data.draw(values_of("everyday")), latest=3 * RANGE, groups=5))
    cut = data.draw(st.integers(0, len(rows)))
    profile, restored = (ArrivalProfile(RANGE, 1, bytes_limit=TIGHT) for _ in range(2))
    add(profile, rows[:cut])
    restored.load(profile.state())
    assert same(profile.state(), restored.state())
    # What is added to the one is not seen by the others.
    state, twin = profile.state(), ArrivalProfile(RANGE, 1, bytes_limit=TIGHT)
    restored.load(state)
    twin.load(state)
    add(restored, rows[cut:])
    assert same(state, profile.state())
    assert same(state, twin.state())
    add(profile, rows[cut:])
    assert same(profile.state(), restored.state())


@given(
    times=st.lists(st.integers(0, 3 * RANGE), max_size=30),
    clock=st.integers(0, 3 * RANGE),
    span=st.integers(1, RANGE),
)
@example(times=[8, 9, 15], clock=19, span=10)
def test_rows_per_second(times: list[int], clock: int, span: int) -> None:
    profile = ArrivalProfile(RANGE, 1, pane_us=10)
    come = [time for time in times if time <= clock]
    add(profile, [Row(time, 0, None) for time in come])
    profile.advance(clock)
    begin = max((clock - span + 1) // 10 * 10, min(come, default=clock))
    counted = sum(time >= begin for time in come)
    rate = profile.rows_per_second(clock, span)
    assert rate == pytest.approx(counted * 1e6 / (clock + 1 - begin))
