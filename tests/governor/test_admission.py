"""Refusals: the least memory that would do really does, and suggestions really help."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.random_demands import Tables, crowded_tables, tables
from windrow.governor.admission import SUGGESTIONS_LIMIT, Refused, Suggestion, suggestions
from windrow.governor.c_support import need_of
from windrow.governor.decide import decide
from windrow.governor.figures import figures_of
from windrow.governor.tables import SECOND_US, Decision, Demand, WindowState

WINDOWS = [WindowState("s", 1.0, SECOND_US), WindowState("t", 1.0, SECOND_US)]


shares = st.floats(0.0, 1.0, exclude_max=True)


def refused(given_tables: Tables, share: float, fixed: int) -> Refused:
    """What is said of a budget that is only a share of what is needed."""
    figures = figures_of(given_tables.windows, given_tables.demands)
    budget = (need_of(figures, time_limit_s=1).least_bytes + fixed) * share - 0.01
    decided = decide(given_tables.windows, given_tables.demands, budget, fixed_bytes=fixed)
    assert isinstance(decided, Refused)
    return decided


def changed(demands: tuple[Demand, ...], suggestion: Suggestion) -> list[Demand]:
    """All demands, those of the query as suggested."""
    others = [each for each in demands if each.query != suggestion.query]
    return [*others, *suggestion.demands]


@given(tables(), shares, st.integers(0, 30))
def test_the_least_memory_is_enough_and_no_less_is(
    given_tables: Tables, share: float, fixed: int
) -> None:
    refusal = refused(given_tables, share, fixed)
    rows = (given_tables.windows, given_tables.demands)
    enough = decide(*rows, refusal.least_bytes + 1e-6, fixed_bytes=fixed)
    assert isinstance(enough, Decision)
    assert isinstance(decide(*rows, refusal.least_bytes - 1e-6, fixed_bytes=fixed), Refused)


@given(tables(), shares, st.integers(0, 30))
def test_each_suggestion_helps(given_tables: Tables, share: float, fixed: int) -> None:
    refusal = refused(given_tables, share, fixed)
    budget = refusal.budget
    for each in refusal.suggestions:
        assert each.least_bytes < refusal.least_bytes
        assert each.fits == (each.least_bytes <= budget)
        before = [row for row in given_tables.demands if row.query == each.query]
        assert [row.window for row in each.demands] == [row.window for row in before]
        decided = decide(
            given_tables.windows, changed(given_tables.demands, each), budget, fixed_bytes=fixed
        )
        # What is suggested was found in a hurry, so that the best may need less still.
        if each.fits:
            assert isinstance(decided, Decision)
        if isinstance(decided, Refused):
            assert decided.least_bytes <= each.least_bytes + 1e-6


def test_each_clause_is_suggested_with_the_smallest_change() -> None:
    demands = [
        Demand("wide", "s", 60_000),
        Demand("also", "s", 55_000),
        Demand("other", "t", 30_000, delay_us=20_000),
        Demand("last", "t", 25_000),
    ]
    refusal = decide(WINDOWS, demands, budget=86_000)
    assert isinstance(refusal, Refused)
    assert (refusal.least_bytes, refusal.is_proven) == (90_000, True)
    by_clause = {(each.query, each.clause): each for each in refusal.suggestions}
    (wide,) = by_clause["wide", "ERROR"].demands
    assert wide.tolerance_us == pytest.approx(4_000, abs=20)
    (wide,) = by_clause["wide", "shorter range"].demands
    assert wide.range_us == pytest.approx(56_000, abs=20)
    # Turns of 5 ms each, which must fit into the shorter delay.
    (wide,) = by_clause["wide", "EVERY"].demands
    assert wide.delay_us == pytest.approx(10_000, abs=20)
    # Its window needs no less without it, as its base query cannot wait.
    assert ("also", "ERROR") not in by_clause
    assert all(each.fits for each in refusal.suggestions if each.query == "wide")


def test_no_error_is_suggested_where_none_can_be_written() -> None:
    demands = [Demand("join", "s", 60_000, can_have_error=False), Demand("also", "s", 20_000)]
    refusal = decide(WINDOWS, demands, budget=50_000)
    assert isinstance(refusal, Refused)
    assert {each.clause for each in refusal.suggestions} == {"shorter range"}


def test_a_longer_delay_of_a_query_on_two_windows_changes_both() -> None:
    demands = [
        Demand("both", "s", 50_000),
        Demand("narrow", "s", 45_000),
        Demand("both", "t", 50_000),
        Demand("small", "t", 45_000),
    ]
    refusal = decide(WINDOWS, demands, budget=96_000)
    assert isinstance(refusal, Refused)
    every = next(each for each in refusal.suggestions if each.clause == "EVERY")
    assert every.fits
    assert [each.window for each in every.demands] == ["s", "t"]
    (delay_us,) = {each.delay_us for each in every.demands}
    assert 10_000 <= delay_us < 10_500


def test_suggestions_can_be_asked_for_some_queries() -> None:
    rows = crowded_tables(20, 100, seed=3)
    figures = figures_of(rows.windows, rows.demands)
    need = need_of(figures, time_limit_s=0, quick=True)
    budget = need.least_bytes * 0.999
    everything = suggestions(rows.windows, rows.demands, budget, 0.0, need)
    assert len(everything) == SUGGESTIONS_LIMIT
    leasts = [max(each.least_bytes, budget) for each in everything]
    assert leasts == sorted(leasts)
    query = everything[0].query
    some = suggestions(rows.windows, rows.demands, budget, 0.0, need, queries=[query, "absent"])
    assert {each.query for each in some} == {query}
    assert everything[0] in some


def test_when_nothing_governed_is_left_there_is_nothing_to_suggest() -> None:
    refusal = decide(WINDOWS, [], budget=10, fixed_bytes=20)
    assert isinstance(refusal, Refused)
    assert (refusal.least_bytes, refusal.suggestions, refusal.is_proven) == (20, (), True)
