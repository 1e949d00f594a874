"""Levels A and B: widths that do not change, against a linear program and all whole widths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import highspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.governor.accumulated_error import accumulated_error_us
from support.random_demands import Tables, crowded_tables, tables
from windrow.governor.a_support import WIDTH_LIMIT_US, a_support
from windrow.governor.b_support import b_support, widened
from windrow.governor.decide import case_of
from windrow.governor.figures import WindowFigures, figures_of
from windrow.governor.memory_taken import static_sum, trimmed

budgets = st.floats(0.0, 1.0)


def taken(widths_us: Sequence[int], figures: Sequence[WindowFigures]) -> Fraction:
    """The memory of widths without rounding."""
    return sum(
        (
            Fraction(each.bytes_per_us) * width
            for width, each in zip(widths_us, figures, strict=True)
        ),
        Fraction(0),
    )


def between(low: float, high: float, share: float) -> float:
    return max(low, math.floor(low + (high - low) * share))


def least_error_us(figures: Sequence[WindowFigures], budget: float) -> float:
    """The least accumulated error over all widths, fractions too, by a linear program."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    widths = [solver.addVariable(lb=each.least_us, ub=each.range_us) for each in figures]
    solver.addConstr(
        solver.qsum(each.bytes_per_us * width for each, width in zip(figures, widths, strict=True))
        <= budget
    )
    errors = []
    for each, width in zip(figures, widths, strict=True):
        for range_us in each.ranges_us:
            errors.append(solver.addVariable(lb=0))
            solver.addConstr(errors[-1] + width >= range_us)
    solver.minimize(solver.qsum(errors))
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getObjectiveValue())


@given(tables(), st.integers(0, 300))
def test_the_case_is_the_highest_level_that_fits(given_tables: Tables, budget: int) -> None:
    figures = figures_of(given_tables.windows, given_tables.demands)
    wanted = taken([each.range_us for each in figures], figures)
    needed = taken([each.least_us for each in figures], figures)
    expected = "A" if wanted <= budget else "B" if needed <= budget else "C"
    assert case_of(figures, budget) == expected


@given(tables(), st.floats(0, 1e6))
def test_a_shares_the_rest_in_proportion(given_tables: Tables, rest: float) -> None:
    figures = figures_of(given_tables.windows, given_tables.demands)
    available = static_sum([each.range_us for each in figures], figures) + rest
    widths = a_support(figures, available)
    assert taken(widths, figures) <= Fraction(available)
    total = sum(each.range_us for each in figures if each.bytes_per_us)
    for width, each in zip(widths, figures, strict=True):
        share = (
            rest * each.range_us / total / each.bytes_per_us if each.bytes_per_us and total else 0
        )
        assert width == pytest.approx(each.range_us + share, abs=1.001, rel=1e-12)
        assert width >= each.range_us


def test_a_has_a_widest_width() -> None:
    slow = WindowFigures("s", 1e-9, range_us=1000)
    assert a_support([slow], 1e18) == (WIDTH_LIMIT_US,)


@given(tables(most_windows=4, most_demands=20, longest_us=5000), budgets)
def test_b_is_as_good_as_a_linear_program(given_tables: Tables, share: float) -> None:
    figures = figures_of(given_tables.windows, given_tables.demands)
    low = static_sum([each.least_us for each in figures], figures)
    high = static_sum([each.range_us for each in figures], figures)
    budget = between(low, high, share)
    widths = b_support(figures, budget)
    assert taken(widths, figures) <= budget
    assert all(width >= each.least_us for width, each in zip(widths, figures, strict=True))
    # Only the last window to be widened may end at a fraction of a microsecond.
    most_queries = max((len(each.ranges_us) for each in figures), default=0)
    error = accumulated_error_us(widths, figures)
    least = least_error_us(figures, budget) if figures else 0.0
    assert least - 1e-6 <= error < least + most_queries + 1e-6


@given(tables(most_windows=3, most_demands=9, longest_us=8), budgets)
def test_b_is_the_best_of_all_whole_widths(given_tables: Tables, share: float) -> None:
    """With a byte for each microsecond, widths that fit take whole bytes: nothing is left over."""
    figures = [
        WindowFigures(each.window, 1.0, each.range_us, each.least_us, ranges_us=each.ranges_us)
        for each in figures_of(given_tables.windows, given_tables.demands)
    ]
    low = sum(each.least_us for each in figures)
    budget = between(low, sum(each.range_us for each in figures), share)
    choices = [range(each.least_us, each.range_us + 1) for each in figures]
    best = min(
        accumulated_error_us(widths, figures)
        for widths in itertools.product(*choices)
        if sum(widths) <= budget
    )
    assert accumulated_error_us(b_support(figures, budget), figures) == best


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_b_is_as_good_as_a_linear_program_with_many_queries(share: float) -> None:
    rows = crowded_tables(10, 80, seed=1)
    figures = figures_of(rows.windows, rows.demands)
    low = static_sum([each.least_us for each in figures], figures)
    high = static_sum([each.range_us for each in figures], figures)
    budget = between(low, high, share)
    least = least_error_us(figures, budget)
    error = accumulated_error_us(b_support(figures, budget), figures)
    assert error == pytest.approx(least, abs=100, rel=1e-6)


def test_widths_that_take_too_much_are_cut_but_not_below_the_least() -> None:
    figures = [WindowFigures("a", 0.3), WindowFigures("b", 0.7), WindowFigures("silent", 0.0)]
    widths = trimmed([10, 10, 10], [9, 2, 2], figures, available_bytes=6.0)
    assert taken(widths, figures) <= 6
    assert (widths[0], widths[2]) == (10, 10)
    assert 2 <= widths[1] <= 4
    assert trimmed([10, 10, 10], [9, 9, 2], figures, available_bytes=9.0) == [9, 9, 10]


def test_windows_without_rows_are_wide_even_when_nothing_is_left() -> None:
    """Sums in floating point may leave a little less than nothing."""
    silent = WindowFigures("silent", 0.0, range_us=9, least_us=4, ranges_us=(6, 9))
    full = WindowFigures("full", 0.1, range_us=9, least_us=3, ranges_us=(9,))
    assert widened([4, 3], [silent, full], 0.1 * 3 * (1 - 1e-12)) == (9, 3)


@pytest.mark.parametrize("seed", range(3))
def test_many_queries_on_many_windows_fit_and_use_their_memory(seed: int) -> None:
    rows = crowded_tables(100, 1000, seed)
    figures = figures_of(rows.windows, rows.demands)
    low = static_sum([each.least_us for each in figures], figures)
    high = static_sum([each.range_us for each in figures], figures)
    budget = between(low, high, 0.4)
    widths = b_support(figures, budget)
    most = max(each.bytes_per_us for each in figures)
    assert budget - 2 * most < taken(widths, figures) <= budget
    assert taken(a_support(figures, 2 * high), figures) <= 2 * high
