"""Decisions as they play out: memory at every instant, and what each query gets."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.random_demands import Tables, budget_of, crowded_tables, tables
from support.slow_partitions import least_cost
from support.slow_turns import is_served, slow_width_us
from windrow.governor.admission import Refused
from windrow.governor.c_support import need_of
from windrow.governor.decide import decide
from windrow.governor.figures import figures_of
from windrow.governor.groups.turning import turning_windows
from windrow.governor.memory_taken import static_sum
from windrow.governor.tables import SECOND_US, Decision, Demand, Turn, WidthGiven, WindowState
from windrow.governor.turns import width_at_us

budgets = st.integers(0, 250)
starts = st.integers(-50, 50)


def memory_at(decision: Decision, windows: tuple[WindowState, ...], at_us: int) -> Fraction:
    return sum(
        (Fraction(each.bytes_per_us) * slow_width_us(decision.of(each.window), at_us))
        for each in windows
    )


def least_memory(given_tables: Tables) -> float:
    """The least memory of all partitions into groups."""
    figures = figures_of(given_tables.windows, given_tables.demands)
    turning = turning_windows(figures)
    static = static_sum([each.narrow_us for each in figures], figures)
    return static + (least_cost(turning) if turning.size else 0.0)


def tight_tables() -> st.SearchStrategy[tuple[Tables, int]]:
    """Tables with a budget between what level C needs and what B does."""

    def with_budget(given_tables: Tables) -> st.SearchStrategy[tuple[Tables, int]]:
        figures = figures_of(given_tables.windows, given_tables.demands)
        low = int(least_memory(given_tables)) + 1
        high = int(static_sum([each.least_us for each in figures], figures))
        return st.tuples(st.just(given_tables), st.integers(low, max(low, high)))

    return tables().flatmap(with_budget)


@given(tables(), budgets, st.integers(0, 60))
def test_there_is_a_decision_exactly_if_some_partition_fits(
    given_tables: Tables, budget: int, fixed: int
) -> None:
    decided = decide(given_tables.windows, given_tables.demands, budget, fixed_bytes=fixed)
    least = least_memory(given_tables)
    assert isinstance(decided, Refused) == (least > budget - fixed)
    if isinstance(decided, Refused):
        assert decided.least_bytes == pytest.approx(least + fixed)
        assert decided.bound_bytes == pytest.approx(least + fixed)
        assert decided.is_proven
    else:
        assert decided.bytes <= budget - fixed
        assert decided.bound_bytes <= least + 1e-9
        assert decided.least_bytes >= least - 1e-9
        assert [each.window for each in decided.widths] == [w.window for w in given_tables.windows]


@given(tables(), st.floats(0.0, 1.0))
def test_every_query_is_served_at_the_level_of_the_case(given_tables: Tables, share: float) -> None:
    budget = budget_of(given_tables, share)
    decided = decide(given_tables.windows, given_tables.demands, budget)
    assert isinstance(decided, Decision)
    served = {decided.of(each.window).level(each) for each in given_tables.demands}
    assert served <= {"A": {"A"}, "B": {"A", "B"}, "C": {"A", "B", "C"}}[decided.case]


@given(tables())
def test_windows_that_no_query_names_get_nothing(given_tables: Tables) -> None:
    decided = decide(given_tables.windows, given_tables.demands, budget=10_000)
    assert isinstance(decided, Decision)
    for each in {w.window for w in given_tables.windows} - {d.window for d in given_tables.demands}:
        assert decided.of(each).width_us == 0


@given(tight_tables(), starts)
def test_memory_never_exceeds_the_budget_at_any_instant(
    case: tuple[Tables, int], start_us: int
) -> None:
    given_tables, budget = case
    decided = decide(given_tables.windows, given_tables.demands, budget, at_us=start_us)
    assert isinstance(decided, Decision)
    assert decided.bytes <= budget
    for at_us in range(start_us - 3, start_us + 100):
        memory = memory_at(decided, given_tables.windows, at_us)
        assert memory <= Fraction(decided.bytes) * (1 + Fraction(1, 10**12))


@given(tight_tables(), starts, st.booleans())
def test_queries_wait_no_longer_than_their_delay(
    case: tuple[Tables, int], start_us: int, quick: bool
) -> None:
    given_tables, budget = case
    decided = decide(
        given_tables.windows, given_tables.demands, budget, at_us=start_us, quick=quick
    )
    assert isinstance(decided, Decision)
    for demand in given_tables.demands:
        assert is_served(decided.of(demand.window), demand, range(start_us, start_us + 80))


@given(tight_tables(), starts)
def test_no_window_reaches_back_to_rows_that_it_has_let_go(
    case: tuple[Tables, int], start_us: int
) -> None:
    given_tables, budget = case
    decided = decide(given_tables.windows, given_tables.demands, budget, at_us=start_us)
    assert isinstance(decided, Decision)
    instants = range(start_us - 3, start_us + 100)
    for each in decided.widths:
        widths = [width_at_us(each, at_us) for at_us in instants]
        assert widths == [slow_width_us(each, at_us) for at_us in instants]
        reached = [at_us - width for at_us, width in zip(instants, widths, strict=True)]
        assert reached == sorted(reached)
        assert max(widths) == each.widest_us


@given(st.integers(0, 9), st.integers(1, 9), starts, st.data())
def test_widths_within_turns_are_those_of_the_slow_twin(
    width_us: int, period_us: int, start_us: int, data: st.DataObject
) -> None:
    """A turn may last for the whole period: then it is wide when the next one begins."""
    growth_us = data.draw(st.integers(1, period_us))
    given = WidthGiven("s", width_us, Turn(0, period_us, start_us, growth_us))
    instants = range(start_us - 3, start_us + 4 * period_us)
    expected = [slow_width_us(given, at_us) for at_us in instants]
    assert [width_at_us(given, at_us) for at_us in instants] == expected


@given(tight_tables())
def test_turns_of_a_group_have_one_period_and_do_not_overlap(case: tuple[Tables, int]) -> None:
    given_tables, budget = case
    decided = decide(given_tables.windows, given_tables.demands, budget, at_us=7)
    assert isinstance(decided, Decision)
    figures = {each.window: each for each in figures_of(given_tables.windows, given_tables.demands)}
    for number in {each.turn.group for each in decided.widths if each.turn}:
        group = [each for each in decided.widths if each.turn and each.turn.group == number]
        turns = sorted((each.turn for each in group), key=lambda turn: turn.start_us)
        (period_us,) = {turn.period_us for turn in turns}
        assert period_us == min(figures[each.window].period_us for each in group)
        ends = [turn.start_us + turn.growth_us for turn in turns]
        begins = [*(turn.start_us for turn in turns[1:]), turns[0].start_us + period_us]
        assert turns[0].start_us == 7
        assert all(end <= begin for end, begin in zip(ends, begins, strict=True))
        assert all(turn.growth_us > 0 for turn in turns)


@pytest.mark.parametrize("seed", range(3))
def test_many_windows_stay_within_the_budget_at_all_breakpoints(seed: int) -> None:
    rows = crowded_tables(40, 120, seed)
    figures = figures_of(rows.windows, rows.demands)
    high = static_sum([each.least_us for each in figures], figures)
    low = need_of(figures, time_limit_s=0, quick=True).least_bytes
    for share in (0.0, 0.1, 0.6):
        budget = low + share * (high - low)
        decided = decide(rows.windows, rows.demands, budget, at_us=10**15, quick=True)
        assert isinstance(decided, Decision)
        assert decided.case == "C"
        turns = [each.turn for each in decided.widths if each.turn]
        assert turns
        ends = {
            turn.start_us + turn.growth_us + cycle * turn.period_us
            for turn in turns
            for cycle in range(4)
        }
        for at_us in ends:
            taken = sum(
                each.bytes_per_us * width_at_us(decided.of(each.window), at_us)
                for each in rows.windows
            )
            assert taken <= decided.bytes * (1 + 1e-12)
        assert decided.bytes <= budget
        assert all(decided.of(each.window).level(each) != "none" for each in rows.demands)


def test_memory_that_groups_leave_over_makes_windows_wider() -> None:
    windows = [WindowState(name, 1.0, SECOND_US) for name in ("a", "b")]
    demands = [
        Demand("qa", "a", 60_000, delay_us=30_000),
        Demand("ra", "a", 50_000),
        Demand("qb", "b", 40_000, delay_us=20_000),
        Demand("rb", "b", 30_000),
    ]

    def widths(budget: int) -> list[float]:
        decided = decide(windows, demands, budget)
        assert isinstance(decided, Decision)
        assert budget - 2 <= decided.bytes <= budget
        return [number for each in decided.widths for number in (each.width_us, each.widest_us)]

    assert widths(90_000) == [50_000, 60_000, 30_000, 40_000]
    # Both windows gain as much; what the first has in width it needs no turn for.
    assert widths(94_000) == pytest.approx([54_000, 60_000, 30_000, 40_000], abs=2)
    assert widths(99_000) == pytest.approx([59_000, 60_000, 30_000, 40_000], abs=2)


def test_only_demands_that_are_alive_count() -> None:
    windows = [WindowState("s", 1.0, SECOND_US)]
    demands = [Demand("q", "s", 60, begin_us=70, end_us=500), Demand("r", "s", 20)]
    widths = [
        decide(windows, demands, budget=60, at_us=at_us).of("s") for at_us in (69, 70, 500, 501)
    ]
    assert [each.level(demands[0]) for each in widths] == ["A"] * 4
    # With nothing but the narrow query alive, the narrow one alone decides the least.
    leasts = [
        decide(windows, demands, budget=60, at_us=at_us).least_bytes for at_us in (69, 70, 500, 501)
    ]
    assert leasts == [20, 60, 60, 20]


def test_a_quick_decision_is_the_same_each_time() -> None:
    rows = crowded_tables(60, 150, seed=1)
    figures = figures_of(rows.windows, rows.demands)
    budget = need_of(figures, time_limit_s=0, quick=True).least_bytes * 1.0001
    first, second = (decide(rows.windows, rows.demands, budget, quick=True) for _ in range(2))
    assert isinstance(first, Decision)
    assert first == second
    assert first.case == "C"


def test_a_decision_that_proves_nothing_imports_no_solver() -> None:
    code = (
        "import sys, windrow.governor.decide as d\n"
        "from windrow.governor.tables import *\n"
        "rows = [WindowState(name, 1, 1e6) for name in 'st']\n"
        "asked = [Demand(f'{n}{w}', w, n, 0, 8) for n in (9, 6) for w in 'st']\n"
        "assert d.decide(rows, asked, 15).case == 'C'\n"
        "sys.exit('highspy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
