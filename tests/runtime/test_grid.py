"""Shards that report only at multiples of a span give the same answers there as others."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from support.join_texts import general_joins, small_scenarios
from support.runners import REFUSED, outcome
from support.streams import (
    SECOND_US,
    TICK_US,
    Action,
    Heartbeat,
    Push,
    batch_of,
    instant,
    plan_of,
    queries,
    scenarios,
)
from windrow.plan.algorithms import reasons_against
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer, can_shard
from windrow.runtime.shard import Shard

steps = st.integers(0, 12)


def answers_agree(plan: QueryPlan, actions: list[Action], data: st.DataObject) -> None:
    if plan.every_us is None:
        plan = replace(plan, every_us=3 * SECOND_US)
    assert plan.every_us is not None
    expected = outcome(plan, actions)
    if expected == REFUSED:
        return  # a sum beyond 64 bits between two ticks: on the grid nobody sees it
    able = [name for name, reason in reasons_against(plan).items() if reason is None]
    buckets = data.draw(st.integers(1, 3)) if can_shard(plan) else 1
    restarts = data.draw(st.frozensets(steps, max_size=2))
    switches = data.draw(st.dictionaries(steps, st.sampled_from(able), max_size=2))
    on_grid = outcome(
        plan, actions, buckets=buckets, restarts=restarts, switches=switches, grid_us=plan.every_us
    )
    assert on_grid[0] == expected[0]


@given(queries, scenarios(), st.data())
def test_one_window_or_two(text: str, actions: list[Action], data: st.DataObject) -> None:
    answers_agree(plan_of(text), actions, data)


@given(general_joins(), small_scenarios(), st.data())
def test_joins_of_any_shape(text: str, actions: list[Action], data: st.DataObject) -> None:
    answers_agree(plan_of(text), actions, data)


def test_groups_that_went_before_the_tick_are_told_apart() -> None:
    # A group leaves, and the next rows take its code, before the tick at which both are reported.
    texts = {
        "a.k": "SELECT a.k AS g, COUNT(*) AS n FROM a [1 SECOND], c [1 SECOND] "
        "WHERE a.k = c.k GROUP BY a.k EVERY (10 SECONDS)",
        "a.s": "SELECT a.s AS g, COUNT(*) AS n FROM a [1 SECOND], c [1 SECOND] "
        "WHERE a.k = c.k GROUP BY a.s EVERY (10 SECONDS)",
        "a.s, c.s": "SELECT a.s AS g, c.s AS h, COUNT(*) AS n FROM a [1 SECOND], c [1 SECOND] "
        "WHERE a.k = c.k GROUP BY a.s, c.s EVERY (10 SECONDS)",
        "one": "SELECT a.s AS g, COUNT(*) AS n FROM a [1 SECOND] GROUP BY a.s EVERY (10 SECONDS)",
    }
    actions: list[Action] = []
    for number in range(60):
        at_us = number * 4 * TICK_US
        row = {"ts": instant(at_us), "k": number, "s": f"group {number}"}
        actions += [Push("a", (row,)), Push("c", (row,))]
        actions += [Heartbeat("a", at_us + 1), Heartbeat("c", at_us + 1)]
    for text in texts.values():
        plan = plan_of(text)
        expected = outcome(plan, actions)
        assert expected[0]
        assert outcome(plan, actions, grid_us=10 * SECOND_US)[0] == expected[0], text


def test_a_restart_exactly_at_a_tick() -> None:
    plan = plan_of("SELECT a.s AS g, COUNT(*) AS n FROM a [1 SECOND] GROUP BY a.s EVERY (1 SECOND)")
    actions: list[Action] = []
    for second in range(4):
        at_us = second * SECOND_US
        actions += [Push("a", ({"ts": instant(at_us), "s": f"group {second}"},))]
        actions += [Heartbeat("a", at_us)]
    expected = outcome(plan, actions)
    for restarts in (frozenset([step]) for step in range(9)):
        again = outcome(plan, actions, restarts=restarts, grid_us=SECOND_US)
        assert again[0] == expected[0], restarts


def test_a_pair_of_groups_that_waits_for_the_next_tick_keeps_its_code() -> None:
    text = (
        "SELECT a.s AS x, b.s AS y, COUNT(*) AS n FROM a [1200 MILLISECONDS], "
        "b [1200 MILLISECONDS] WHERE a.k = b.k GROUP BY a.s, b.s EVERY (1 SECOND)"
    )
    plan = plan_of(text)
    shard = Shard(plan, SECOND_US)
    row = {"ts": instant(100_000), "k": 1, "s": "p"}
    rows = {
        input_index: Preparer(plan, input_index).prepare(batch_of(stream, (row,)))
        for input_index, stream in enumerate("ab")
    }
    # Put out at the first tick, and gone before the step ends: it is to be put out once more.
    first = shard.advance(rows, SECOND_US + 500_000)
    pairs = shard._operator._aggregate.pairs  # type: ignore[attr-defined]
    assert (first.at.tolist(), first.count.tolist(), pairs.size) == ([SECOND_US], [1], 1)
    second = shard.advance({}, 2 * SECOND_US)
    assert (second.at.tolist(), second.count.tolist(), pairs.size) == ([2 * SECOND_US], [0], 0)
