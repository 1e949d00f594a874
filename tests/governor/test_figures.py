"""Figures of windows against their definitions, read off the demands one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.random_demands import Tables, tables
from windrow.governor.figures import active_demands, figures_of
from windrow.governor.tables import SECOND_US, Demand, WindowState

STATE = WindowState("s", row_bytes=2.0, rate=SECOND_US)


@given(tables())
def test_figures_are_what_their_definitions_say(given_tables: Tables) -> None:
    figures = figures_of(given_tables.windows, given_tables.demands)
    assert [each.window for each in figures] == [each.window for each in given_tables.windows]
    for state, each in zip(given_tables.windows, figures, strict=True):
        asked = [row for row in given_tables.demands if row.window == state.window]
        leasts = sorted((row.range_us - row.tolerance_us for row in asked), reverse=True)
        assert each.range_us == max((row.range_us for row in asked), default=0)
        assert each.least_us == max(leasts, default=0)
        assert list(each.ranges_us) == sorted(row.range_us for row in asked)
        if not asked:
            assert (each.base, each.growth_us, each.static_bytes) == (None, 0, 0.0)
            continue
        base = next(row for row in asked if row.query == each.base)
        assert base.least_us == each.least_us
        assert each.period_us == base.delay_us
        runner_up = [*leasts, 0][1]
        assert each.growth_us == min(each.least_us - runner_up, base.delay_us)
        assert each.exchange_bytes == pytest.approx(each.growth_us * state.rate / SECOND_US)
        if state.rate:
            assert each.static_bytes + each.exchange_bytes == pytest.approx(
                each.least_us * state.rate / SECOND_US
            )


def test_a_query_alone_can_wait_for_its_whole_width() -> None:
    (alone,) = figures_of([STATE], [Demand("q", "s", 50, delay_us=80)])
    assert (alone.growth_us, alone.static_bytes, alone.runner_up) == (50, 0.0, None)
    (hasty,) = figures_of([STATE], [Demand("q", "s", 50, delay_us=30)])
    assert (hasty.growth_us, hasty.static_bytes) == (30, 40.0)


def test_static_memory_is_not_what_the_runner_up_needs_when_the_base_cannot_wait_so_long() -> None:
    base, other = Demand("q", "s", 50, delay_us=10), Demand("r", "s", 20)
    (figures,) = figures_of([STATE], [base, other])
    assert (figures.static_bytes, figures.exchange_bytes) == (80.0, 20.0)


@pytest.mark.parametrize("delays", [(0, 30), (30, 0), (30, 30)])
def test_two_that_ask_for_the_same_leave_no_turn(delays: tuple[int, int]) -> None:
    demands = [Demand(f"q{delay}", "s", 50, delay_us=delay) for delay in delays]
    (figures,) = figures_of([STATE], demands)
    assert not figures.needs_turn
    assert (figures.narrow_us, figures.period_us) == (50, min(delays))


def test_no_delay_and_no_rows_need_no_turn() -> None:
    (figures,) = figures_of([STATE], [Demand("q", "s", 50), Demand("r", "s", 20, delay_us=9)])
    assert not figures.needs_turn
    silent = WindowState("s", row_bytes=2.0, rate=0.0)
    (figures,) = figures_of([silent], [Demand("q", "s", 50, delay_us=9)])
    assert (figures.needs_turn, figures.narrow_us) == (False, 50)


def test_a_demand_on_no_window_is_refused() -> None:
    with pytest.raises(AssertionError, match="on no window"):
        figures_of([STATE], [Demand("q", "elsewhere", 50)])


@given(st.integers(-5, 5), st.none() | st.integers(-3, 3), st.none() | st.integers(-3, 3))
def test_both_ends_of_a_life_belong_to_it(at: int, begin: int | None, end: int | None) -> None:
    demand = Demand("q", "s", 50, begin_us=begin, end_us=end)
    lives = at in range(-9 if begin is None else begin, 9 if end is None else end + 1)
    assert active_demands([demand], at) == ([demand] if lives else [])
