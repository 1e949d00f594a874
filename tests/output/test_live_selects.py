"""Selects over joins, DISTINCT and negations against the oracle, in shards and through restarts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.join_texts import small_scenarios
from support.live_texts import general_negations, general_selects
from support.runners import agree, outcome
from support.streams import TICK_US, Action, Heartbeat, Push, instant, plan_of
from windrow.plan.algorithms import ALGORITHMS, reasons_against
from windrow.plan.stores import QUEUES
from windrow.plan.update_pattern import keeps_results
from windrow.rows.prepare import can_shard

# One of each form: what random queries meet only now and then is met in every run.
FORMS = {
    "join": "SELECT a.k AS k, b.d AS d FROM a [2 SECONDS], b [1 SECOND] WHERE a.k = b.k",
    "join of four": "SELECT a.k AS k, b.s AS s, c.d + z.d AS d FROM a [2 SECONDS], b [1 SECOND], "
    "c [RANGE 2 SECONDS SLIDE 1 SECOND], a [1 SECOND] AS z "
    "WHERE a.k = b.k AND b.k = c.k AND c.s = z.s",
    "counted join": "SELECT a.k AS k, b.d AS d FROM a [ROWS 3], b [PARTITION BY k ROWS 2] "
    "WHERE a.k = b.k AND a.ts <= b.ts",
    "all pairs": "SELECT a.d AS d, b.d AS e FROM a [1 SECOND], b [ROWS 2]",
    "distinct": "SELECT DISTINCT k, s FROM a [2 SECONDS]",
    "distinct of last rows": "SELECT DISTINCT d FROM a [ROWS 3]",
    "distinct of partitions": "SELECT DISTINCT d, o FROM a [PARTITION BY k ROWS 2]",
    "distinct join": "SELECT DISTINCT a.s AS s, b.o AS o FROM a [3 SECONDS], b [2 SECONDS] "
    "WHERE a.k = b.k AND a.d > b.d",
    "anti join": "SELECT a.k AS k, a.d AS d FROM a [3 SECONDS] LEFT ANTI JOIN b [1 SECOND] "
    "ON a.k = b.k",
    "anti join of last rows": "SELECT a.k AS k FROM a [ROWS 4] LEFT ANTI JOIN b [ROWS 2] "
    "ON a.k = b.k AND a.d > b.d",
    "anti join of partitions": "SELECT a.k AS k FROM a [PARTITION BY k ROWS 2] "
    "LEFT ANTI JOIN b [PARTITION BY s ROWS 1] ON a.s = b.s",
    "outer condition": "SELECT a.d AS d FROM a [3 SECONDS] LEFT ANTI JOIN b [2 SECONDS] "
    "ON a.k = b.k AND a.d > 0.2",
    "without correlation": "SELECT a.k AS k FROM a [3 SECONDS] WHERE NOT EXISTS "
    "(SELECT 1 FROM b [1 SECOND])",
    "never a match": "SELECT a.k AS k FROM a [3 SECONDS] WHERE NOT EXISTS "
    "(SELECT 1 FROM b [1 SECOND] WHERE b.k = a.k AND NULL)",
    "two negations": "SELECT a.k AS k, a.s AS s FROM a [3 SECONDS] LEFT ANTI JOIN b [1 SECOND] "
    "ON a.k = b.k WHERE NOT EXISTS (SELECT * FROM c [1 SECOND] WHERE c.k = a.k AND c.o)",
    "of itself": "SELECT x.k AS k FROM a [2 SECONDS] AS x WHERE NOT EXISTS "
    "(SELECT 1 FROM a [2 SECONDS] AS y WHERE y.k = x.k AND y.ts > x.ts)",
    "negation in a join": "SELECT DISTINCT a.k AS k, b.d AS d FROM a [3 SECONDS], b [2 SECONDS] "
    "WHERE a.k = b.k AND NOT EXISTS (SELECT 1 FROM c [1 SECOND] WHERE c.s = b.s)",
    "sums": "SELECT a.s AS s, COUNT(*) AS n, SUM(a.d) AS d FROM a [3 SECONDS] "
    "LEFT ANTI JOIN b [1 SECOND] ON a.k = b.k GROUP BY a.s",
    "sums of a join": "SELECT COUNT(*) AS n, SUM(a.l) AS l FROM a [3 SECONDS], b [2 SECONDS] "
    "WHERE a.k = b.k AND NOT EXISTS (SELECT 1 FROM c [1 SECOND] WHERE c.k = a.k)",
    "extremes": "SELECT a.o AS o, MAX(a.d) AS d, COUNT(DISTINCT a.s) AS s FROM a [3 SECONDS] "
    "LEFT ANTI JOIN b [1 SECOND] ON a.k = b.k GROUP BY a.o",
}
QUERIES = general_selects() | general_negations()


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(actions=small_scenarios())
def test_each_form(form: str, actions: list[Action]) -> None:
    agree(plan_of(FORMS[form]), actions)


@given(general_selects(), small_scenarios())
def test_selects_of_any_form(text: str, actions: list[Action]) -> None:
    agree(plan_of(text), actions)


@given(general_negations(), small_scenarios())
def test_negations_of_any_form(text: str, actions: list[Action]) -> None:
    agree(plan_of(text), actions)


@given(QUERIES, small_scenarios(), st.sampled_from([2, 3, 5]))
def test_shards_give_the_same(text: str, actions: list[Action], buckets: int) -> None:
    plan = plan_of(text)
    if can_shard(plan):
        assert outcome(plan, actions, buckets=buckets) == outcome(plan, actions)


@given(QUERIES, small_scenarios(), st.sets(st.integers(0, 12)), st.sets(st.integers(0, 12)))
def test_restarts_change_nothing(
    text: str, actions: list[Action], restarts: set[int], reads: set[int]
) -> None:
    plan, often = plan_of(text), frozenset(reads)
    wanted = outcome(plan, actions, reads=often)
    assert outcome(plan, actions, reads=often, restarts=frozenset(restarts)) == wanted


@given(QUERIES, small_scenarios())
def test_every_store_and_algorithm_gives_the_same(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    wanted = outcome(plan, actions)
    for store in QUEUES if keeps_results(plan) else ():
        assert outcome(replace(plan, store=store), actions) == wanted, store
    reasons = reasons_against(plan)
    for name in ALGORITHMS if plan.kind == "aggregate" else ():
        if reasons[name] is None:
            assert outcome(replace(plan, algorithm=name), actions) == wanted, name


AT = 1_700_000_000_000_000


def test_a_match_that_comes_and_goes() -> None:
    # The row ends when its match comes, is back when that leaves, and ends for good by itself.
    text = "SELECT a.d AS d FROM a [9 SECONDS] LEFT ANTI JOIN b [1 SECOND] ON a.k = b.k"
    actions: list[Action] = [
        Push("a", ({"ts": instant(AT), "k": 1, "d": 0.5},)),
        Push("b", ({"ts": instant(AT + 4 * TICK_US), "k": 1},)),
        Heartbeat("a", AT + 40 * TICK_US),
        Heartbeat("b", AT + 40 * TICK_US),
    ]
    plan = plan_of(text)
    agree(plan, actions)
    changes = outcome(plan, actions)[1]
    assert changes == [
        repr((AT, 1, 0.5)),
        repr((AT + 4 * TICK_US, -1, 0.5)),
        repr((AT + 6 * TICK_US + 1, 1, 0.5)),
        repr((AT + 18 * TICK_US + 1, -1, 0.5)),
    ]


def test_a_duplicate_prolongs_a_distinct_row() -> None:
    text = "SELECT DISTINCT k FROM a [2 SECONDS]"
    rows = [{"ts": instant(AT + step * TICK_US), "k": 7} for step in (0, 3)]
    actions: list[Action] = [Push("a", tuple(rows)), Heartbeat("a", AT + 30 * TICK_US)]
    changes = outcome(plan_of(text), actions)[1]
    assert changes == [repr((AT, 1, 7)), repr((AT + 7 * TICK_US + 1, -1, 7))]
