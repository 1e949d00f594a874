"""When to decide again: what asks for no decision leaves all as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.random_demands import Tables, budget_of, demand_rows, tables
from windrow.governor.decide import decide
from windrow.governor.figures import active_demands, figures_of
from windrow.governor.tables import Demand, WindowState
from windrow.governor.triggers import (
    RATE_DELTA,
    end_matters,
    is_outside,
    moved_windows,
    next_change_us,
    start_matters,
)

shares = st.floats(0.0, 1.0)
deltas = st.floats(0.01, 2.0)
STATE = WindowState("s", row_bytes=8.0, rate=100.0)


@given(tables(), shares, st.data())
def test_a_start_that_does_not_matter_changes_nothing(
    given_tables: Tables, share: float, data: st.DataObject
) -> None:
    windows, demands = given_tables.windows, given_tables.demands
    budget = budget_of(given_tables, share)
    before = decide(windows, demands, budget)
    figures = {each.window: each for each in figures_of(windows, demands)}
    for row in data.draw(st.lists(demand_rows(len(windows), 40), min_size=6, max_size=6)):
        new = Demand("new", *row)
        if start_matters(before.case, figures[new.window], new):
            continue
        after = decide(windows, [*demands, new], budget)
        assert after.case == before.case
        assert before.case == "A" or after.least_bytes == before.least_bytes
        assert before.of(new.window).level(new) in {"A": {"A"}}.get(before.case, {"A", "B"})
        # At C, what is left over may be given to others: there all queries count.
        assert before.case == "C" or after.widths == before.widths


@given(tables(), shares)
def test_an_end_that_does_not_matter_changes_nothing(given_tables: Tables, share: float) -> None:
    windows, demands = given_tables.windows, given_tables.demands
    budget = budget_of(given_tables, share)
    before = decide(windows, demands, budget)
    figures = {each.window: each for each in figures_of(windows, demands)}
    for gone in demands:
        left = [each for each in demands if each is not gone]
        if end_matters(before.case, figures[gone.window], gone):
            continue
        after = decide(windows, left, budget)
        assert after.case == before.case
        assert all(before.of(each.window).level(each) != "none" for each in left)
        assert before.case == "A" or after.least_bytes == before.least_bytes
        assert before.case != "B" or after.widths == before.widths


@pytest.mark.parametrize(
    ("case", "range_us", "tolerance_us", "starts", "ends"),
    [
        ("A", 60, 0, False, False),
        ("A", 61, 60, True, False),
        ("B", 39, 0, False, False),
        ("B", 40, 40, True, True),
        ("C", 60, 31, False, False),
        ("C", 60, 30, True, True),
    ],
)
def test_the_table(case: str, range_us: int, tolerance_us: int, starts: bool, ends: bool) -> None:
    """A window with Max_T 60, Min_T 40 and Min_D 10."""
    demands = [Demand("q", "s", 60, 20, delay_us=10), Demand("r", "s", 25)]
    (figures,) = figures_of([STATE], demands)
    demand = Demand("new", "s", range_us, tolerance_us)
    assert start_matters(case, figures, demand) == starts
    assert end_matters(case, figures, demand) == ends


def test_the_first_query_on_a_window_matters() -> None:
    (figures,) = figures_of([STATE], [])
    assert all(start_matters(case, figures, Demand("q", "s", 1)) for case in "ABC")


@given(
    st.lists(st.tuples(st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 9)), max_size=5),
    st.integers(-12, 12),
)
def test_between_changes_the_same_demands_are_alive(
    lives: list[tuple[int | None, int | None]], at_us: int
) -> None:
    demands = [
        Demand(f"q{place}", "s", 1, begin_us=begin, end_us=end)
        for place, (begin, end) in enumerate(lives)
        if begin is None or end is None or begin <= end
    ]
    change_us = next_change_us(demands, at_us)
    now = active_demands(demands, at_us)
    last_us = 12 if change_us is None else change_us - 1
    assert all(active_demands(demands, each) == now for each in range(at_us, last_us + 1))
    if change_us is not None:
        assert change_us > at_us
        # One may begin at the very instant at which another is gone: some row differs.
        assert active_demands(demands, change_us) != now


@given(st.floats(1e-3, 1e9), deltas, st.lists(st.floats(0, 1), max_size=50))
def test_a_rate_that_wobbles_within_the_band_never_triggers(
    decided: float, delta: float, places: list[float]
) -> None:
    low, high = decided / (1 + delta) ** 2, decided * (1 + delta)
    for place in places:
        inside = low + (0.0001 + 0.9998 * place) * (high - low)
        assert not is_outside(decided, inside, delta)


@given(st.floats(1e-3, 1e9), deltas, st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_a_rate_that_wobbles_between_two_values_triggers_once_at_the_most(
    low: float, delta: float, places: list[float]
) -> None:
    """The two may lie as far apart as the band is wide upwards and downwards together."""
    high = low * (1 + delta) ** 2 * 0.999999
    decided = low + places[0] * (high - low)
    triggers = 0
    for place in places:
        now = low + place * (high - low)
        if is_outside(decided, now, delta):
            triggers += 1
            decided = now
    assert triggers <= 1


@given(st.floats(1e-3, 1e9), deltas, st.integers(2, 40))
def test_a_rise_triggers_within_the_factor_of_the_band(
    first: float, delta: float, steps: int
) -> None:
    decided, triggers = first, 0
    rates = [first * 10 ** (step / steps) for step in range(steps + 1)]
    for now in rates:
        if is_outside(decided, now, delta):
            decided = now
            triggers += 1
        assert now <= decided * (1 + delta)
    assert triggers >= (1 + delta < 10)
    for now in reversed(rates):
        if is_outside(decided, now, delta):
            decided = now
        assert now * (1 + delta) ** 2 >= decided


def test_rate_and_bytes_of_a_row_count_together() -> None:
    faster = replace(STATE, rate=STATE.rate * (1 + RATE_DELTA) * 1.01)
    larger = replace(STATE, row_bytes=STATE.row_bytes * (1 + RATE_DELTA) * 1.01)
    both = replace(faster, row_bytes=STATE.row_bytes / 1.2)
    other = replace(STATE, window="t")
    assert moved_windows([STATE], [faster]) == ("s",)
    assert moved_windows([STATE], [larger]) == ("s",)
    assert moved_windows([STATE], [both]) == ()
    assert moved_windows([STATE], [STATE, other]) == ("t",)
    assert moved_windows([STATE, other], [other]) == ("s",)


def test_silence_that_ends_and_silence_that_begins_trigger() -> None:
    assert is_outside(0.0, 1e-9)
    assert is_outside(1e-9, 0.0)
    assert not is_outside(0.0, 0.0)
