"""Joins of any number of windows and every aggregate against the oracle."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings

from support.join_texts import (
    TAME,
    GeneralJoin,
    general_joins,
    general_singles,
    parted_joins,
    small_scenarios,
)
from support.oracle import Oracle, Row, SumOverflowError, assert_same_rows
from support.runners import Model, agree
from support.streams import TICK_US, Action, Heartbeat, Push, instant, plan_of
from windrow.plan.model import QueryPlan

# One of each form: what random queries meet only now and then is met in every run.
FORMS = {
    "star of three": "SELECT a.k AS k, COUNT(*) AS n, SUM(b.d) AS s FROM a [2 SECONDS], "
    "b [1 SECOND], c [ROWS 3] WHERE a.k = b.k AND b.k = c.k GROUP BY a.k",
    "chain of three": "SELECT COUNT(*) AS n, AVG(c.d) AS m FROM a [2 SECONDS], b [3 SECONDS], "
    "c [RANGE 2 SECONDS SLIDE 1 SECOND] WHERE a.k = b.k AND b.s = c.s",
    "chain of four": "SELECT COUNT(*) AS n, MAX(z.d) AS m FROM a [2 SECONDS], b [ROWS 3], "
    "c [2 SECONDS], a [1 SECOND] AS z WHERE a.k = b.k AND b.s = c.s AND c.o = z.o",
    "tree grouped by a leaf": "SELECT c.s AS s, COUNT(*) AS n, SUM(a.d) AS d FROM a [2 SECONDS], "
    "b [2 SECONDS], c [2 SECONDS] WHERE a.k = b.k AND a.o = c.o GROUP BY c.s",
    "cycle": "SELECT COUNT(*) AS n, MIN(b.d) AS m FROM a [3 SECONDS], b [3 SECONDS], "
    "c [3 SECONDS] WHERE a.k = b.k AND b.s = c.s AND c.o = a.o",
    "residual": "SELECT a.k AS k, COUNT(*) AS n, SUM(a.l) AS s FROM a [3 SECONDS], b [2 SECONDS] "
    "WHERE a.k = b.k AND a.d > b.d AND a.ts <= b.ts GROUP BY a.k",
    "no equality": "SELECT COUNT(*) AS n, AVG(b.d) AS m FROM a [ROWS 3], b [1 SECOND] "
    "WHERE a.d < b.d",
    "all pairs": "SELECT a.o AS o, COUNT(*) AS n, MAX(b.k) AS m FROM a [1 SECOND], b [ROWS 3] "
    "GROUP BY a.o",
    "products": "SELECT SUM(a.d * b.d) AS s, AVG(a.k * b.k) AS m, SUM(a.k + b.l) AS t, "
    "SUM(a.p * b.k) AS p FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k",
    "not separable": "SELECT a.k AS k, SUM(ABS(a.d - b.d)) AS s, MAX(a.d - b.d) AS m "
    "FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k GROUP BY a.k",
    "extremes": "SELECT MIN(a.d) AS d, MAX(b.l) AS l, MIN(a.ts) AS t, MAX(b.y) AS y, "
    "MAX(a.o) AS o, MIN(b.p) AS p FROM a [2 SECONDS], b [ROWS 3] WHERE a.k = b.k",
    "grouped extremes": "SELECT b.s AS s, MIN(a.d) AS d, MAX(b.d) AS l FROM a [3 SECONDS], "
    "b [3 SECONDS] WHERE a.k = b.k GROUP BY b.s",
    "distinct": "SELECT a.o AS o, COUNT(DISTINCT b.s) AS s, COUNT(DISTINCT a.d) AS d "
    "FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k GROUP BY a.o",
    "variances": "SELECT VAR_SAMP(a.k) AS a, STDDEV(b.l) AS b, VAR_POP(b.d) AS c, "
    "STDDEV_POP(a.d) AS d FROM a [3 SECONDS], b [2 SECONDS] WHERE a.s = b.s",
    "truths": "SELECT a.s AS s, COUNT_IF(a.o) AS c, BOOL_AND(a.d > 0) AS e, BOOL_OR(a.o) AS o "
    "FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k GROUP BY a.s",
    "truths of one window": "SELECT COUNT_IF(d > 0) AS c, COUNT_IF(o) AS n, BOOL_AND(o) AS e, "
    "BOOL_OR(DISTINCT o) AS s FROM a [2 SECONDS]",
    "counted truths": "SELECT a.k AS k, COUNT_IF(b.d > 0) AS c, COUNT_IF(a.o) AS n "
    "FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k GROUP BY a.k",
    "truths over both": "SELECT COUNT_IF(a.d > b.d) AS c, BOOL_AND(a.o OR b.o) AS e "
    "FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k",
    "groups over both": "SELECT a.k + b.k AS k, a.d > b.d AS d, COUNT(*) AS n FROM a [3 SECONDS], "
    "b [2 SECONDS] WHERE a.o = b.o GROUP BY a.k + b.k, a.d > b.d",
    "one stream thrice": "SELECT x.k AS k, COUNT(*) AS n, SUM(y.d) AS s FROM a [1 SECOND] AS x, "
    "a [ROWS 3] AS y, a [PARTITION BY k ROWS 1] AS z WHERE x.k = y.k AND y.k = z.k GROUP BY x.k",
}


SEPARABLE = (
    *("a.d * b.d", "a.k + b.l", "a.k * b.k", "a.p * b.k", "a.p - b.p", "a.d + b.d - c.d"),
    *("a.d * b.k - a.k * b.d", "2 * a.k * b.k - 1", "-a.f * b.f", "a.l - (b.l - c.l)"),
    *("(a.k + 1) * (b.k - 2)", "a.d * (b.d + b.k) - c.d / 2", "(a.d - b.d) * 2", "-(a.k - b.k)"),
    "3 * (a.p - b.p)",
)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(actions=small_scenarios())
def test_each_form(form: str, actions: list[Action]) -> None:
    agree(plan_of(FORMS[form]), actions)


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf, None])
@pytest.mark.parametrize(
    ("query", "stream"),
    [("star of three", "b"), ("chain of three", "c"), ("tree grouped by a leaf", "a")],
)
def test_special_values_that_come_when_rows_are_there(
    query: str, stream: str, special: float | None
) -> None:
    # The other streams have rows before, and none after: theirs were counted without special ones.
    actions: list[Action] = []
    for step, value in enumerate([1.5, special, 2.0]):
        at = 1_700_000_000_000_000 + step * TICK_US
        row = {"ts": instant(at), "k": 1, "s": "x", "o": True, "d": value}
        pushed = "abc" if step == 0 else stream
        actions += [Push(each, (row,)) for each in pushed]
        actions += [Heartbeat(each, at) for each in "abc"]
    agree(plan_of(FORMS[query]), actions)


def test_a_row_that_takes_no_part_may_have_any_value() -> None:
    # It counts in its window, but nobody has made room for a value as small as its own.
    text = (
        "SELECT SUM(c.d) AS s, COUNT(*) AS n FROM a [1 SECOND] AS x, a [1 SECOND] AS y, c [ROWS 1] "
        "WHERE x.k = y.k AND y.s = c.s"
    )
    at = 1_700_000_000_000_000
    row = {"ts": instant(at), "k": 0, "s": "x", "d": 1.0}
    unmatched = {**row, "s": None, "d": 5e-324}
    actions: list[Action] = [Push("a", (row, row)), Push("c", (row, row)), Heartbeat("a", at)]
    agree(plan_of(text), [*actions, Push("c", (row, unmatched)), Heartbeat("c", at + 1)])


@given(general_joins(), small_scenarios())
def test_joins_of_any_shape(text: str, actions: list[Action]) -> None:
    agree(plan_of(text), actions)


@given(general_singles(), small_scenarios())
def test_every_aggregate_over_one_window(text: str, actions: list[Action]) -> None:
    agree(plan_of(text), actions)


@given(parted_joins(), small_scenarios())
def test_an_equality_means_what_it_says(parted: GeneralJoin, actions: list[Action]) -> None:
    # Joining equalities into variables, and conversions of keys, must not change which rows meet.
    as_keys, as_residuals = plan_of(parted.text), plan_of(parted.as_residuals)
    assert all(not entry.keys for entry in as_residuals.inputs)
    wanted, found = recomputed(as_residuals, actions), recomputed(as_keys, actions)
    assert wanted.keys() == found.keys()
    for at, rows in wanted.items():
        assert_same_rows(found[at], rows, f"at {at}")


@pytest.mark.parametrize("argument", SEPARABLE)
@settings(max_examples=10)
@given(actions=small_scenarios(TAME))
def test_the_terms_of_a_sum_add_up_to_its_argument(argument: str, actions: list[Action]) -> None:
    plan = plan_of(
        f"SELECT a.o AS o, SUM({argument}) AS s, AVG({argument}) AS m FROM a [3 SECONDS], "
        "b [3 SECONDS], c [3 SECONDS] WHERE a.k = b.k AND b.s = c.s GROUP BY a.o"
    )
    assert all(aggregate.terms for aggregate in plan.aggregates)
    whole = tuple(replace(aggregate, terms=()) for aggregate in plan.aggregates)
    wanted, found = recomputed(replace(plan, aggregates=whole), actions), recomputed(plan, actions)
    for at, rows in wanted.items():
        assert_same_rows(found[at], rows, f"at {at}")


def recomputed(plan: QueryPlan, actions: list[Action]) -> dict[int, list[Row]]:
    """The oracle's answers wherever they can change; none when a sum cannot be shown."""
    model, oracle = Model(), Oracle(plan)
    for action in actions:
        model.take(action)
    rows = model.rows()
    try:
        return oracle.answers(rows, oracle.change_instants(rows, model.last(plan)))
    except SumOverflowError:
        return {}
