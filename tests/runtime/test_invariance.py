"""Batch borders, restarts and the number of shards are invisible, to the last bit."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.join_texts import small_scenarios
from support.oracle import order_of, rows_of
from support.runners import Model, ShardRunner, grouped, outcome
from support.streams import (
    Action,
    Heartbeat,
    Push,
    instant,
    joins,
    plan_of,
    queries,
    scenarios,
    selects,
    single_queries,
    split,
)
from windrow.errors import DataError
from windrow.operators.partial import Partial
from windrow.plan.expressions import GroupRef
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import can_shard
from windrow.runtime.shard import Shard


@given(queries, scenarios(), st.data())
def test_batch_borders_are_invisible(text: str, actions: list[Action], data: st.DataObject) -> None:
    plan = plan_of(text)
    other = data.draw(split(actions))
    assert outcome(plan, actions) == outcome(plan, other)


@given(queries, scenarios(), st.frozensets(st.integers(0, 12)))
def test_when_answers_and_changes_are_read_does_not_matter(
    text: str, actions: list[Action], reads: frozenset[int]
) -> None:
    plan = plan_of(text)
    assert outcome(plan, actions) == outcome(plan, actions, reads=reads)


@given(
    queries, scenarios(), st.frozensets(st.integers(0, 12), min_size=1, max_size=3), st.booleans()
)
def test_restarts_are_invisible(
    text: str, actions: list[Action], restarts: frozenset[int], reads: bool
) -> None:
    plan = plan_of(text)
    read = frozenset(range(0, 12, 3)) if reads else frozenset()
    assert outcome(plan, actions) == outcome(plan, actions, restarts=restarts, reads=read)


@given(
    queries,
    scenarios(),
    st.frozensets(st.integers(0, 12)),
    st.frozensets(st.integers(0, 12), max_size=1),
)
def test_whether_partial_results_cross_as_bytes_is_invisible(
    text: str, actions: list[Action], reads: frozenset[int], restarts: frozenset[int]
) -> None:
    plan = plan_of(text)
    within = outcome(plan, actions, reads=reads, restarts=restarts, crosses=False)
    assert outcome(plan, actions) == within


@given(queries, scenarios(), st.integers(1, 3), st.booleans())
def test_steps_of_the_clock_are_invisible(
    text: str, actions: list[Action], events: int, crosses: bool
) -> None:
    plan = plan_of(text)
    assert outcome(plan, actions) == outcome(plan, actions, step_events=events, crosses=crosses)


LIVE = (
    "SELECT a.s AS s, b.k AS k FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k",
    "SELECT DISTINCT a.s AS s, 1 AS one FROM a [2 SECONDS]",
    "SELECT DISTINCT a.d AS d FROM a [ROWS 3], b [2 SECONDS] WHERE a.k = b.k",
    "SELECT a.s AS s, a.k AS k FROM a [3 SECONDS] LEFT ANTI JOIN b [2 SECONDS] ON a.k = b.k",
)


@pytest.mark.parametrize("text", LIVE)
@given(
    actions=small_scenarios(),
    reads=st.frozensets(st.integers(0, 12)),
    restarts=st.frozensets(st.integers(0, 12), max_size=1),
)
def test_rows_by_the_codes_of_a_shard_are_those_by_value(
    text: str, actions: list[Action], reads: frozenset[int], restarts: frozenset[int]
) -> None:
    plan = plan_of(text)
    within = outcome(plan, actions, reads=reads, restarts=restarts, crosses=False, step_events=2)
    assert outcome(plan, actions) == within


@given(queries, scenarios(), st.integers(2, 5))
def test_the_number_of_shards_is_invisible(text: str, actions: list[Action], buckets: int) -> None:
    plan = plan_of(text)
    assume(can_shard(plan))
    assert outcome(plan, actions) == outcome(plan, actions, buckets=buckets)


@given(queries, scenarios(), st.integers(0, 12))
def test_shards_restart_one_by_one(text: str, actions: list[Action], at: int) -> None:
    plan = plan_of(text)
    assume(can_shard(plan))
    restarted = outcome(plan, actions, buckets=3, restarts=frozenset([at]))
    assert outcome(plan, actions) == restarted


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n, SUM(a.d) AS s FROM a [1 MINUTE]",
        "SELECT COUNT(*) AS n FROM a [UNBOUNDED] GROUP BY 'constant'",
    ],
)
def test_sums_over_shards_survive_without_group_columns(text: str) -> None:
    plan = plan_of(text)
    # One row a step: a bucket that changes after a restart must find what the others held.
    pushes: list[Action] = []
    for at in range(0, 8000, 1000):
        pushes += [Push("a", ({"ts": instant(at), "d": 0.5},)), Heartbeat("a", at)]
    restarted = outcome(plan, pushes, buckets=3, restarts=frozenset(range(16)))
    assert outcome(plan, pushes) == restarted
    assert restarted[0]


@given(single_queries() | joins(), scenarios())
def test_groups_of_an_instant_come_in_order(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    assume(plan.group_by and len(plan.select) >= len(plan.group_by))
    shown = [column.expression for column in plan.select[: len(plan.group_by)]]
    assume(shown == [GroupRef(i, part.type) for i, part in enumerate(plan.group_by)])
    check_order(plan, actions, len(plan.group_by))


@given(selects(), scenarios())
def test_rows_of_an_instant_come_in_order(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    check_order(plan, actions, len(plan.select))


def check_order(plan: QueryPlan, actions: list[Action], columns: int) -> None:
    runner, model = ShardRunner(plan), Model()
    try:
        for action in actions:
            batches = model.take(action)
            runner.step(batches, model.clock(plan))
    except DataError:
        return
    answers = runner.publisher.answers().drop_columns(["level", "error_bound"])
    assert answers["at"].to_pylist() == sorted(answers["at"].to_pylist())
    instants = [*grouped(rows_of(answers)).values(), rows_of(runner.publisher.result())]
    for rows in instants:
        keys = [tuple(map(order_of, row[:columns])) for row in rows]
        assert keys == sorted(keys)


@given(queries, scenarios())
def test_a_partial_result_survives_as_bytes(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    runner, model = ShardRunner(plan), Model()
    try:
        for action in actions:
            batches = model.take(action)
            for partial in runner.step(batches, model.clock(plan)):
                again = Partial.from_parts(*partial.to_parts())
                assert again.layout == partial.layout
                assert again.groups.equals(partial.groups) or "nan" in str(again.groups.to_pydict())
                assert again.group_count == partial.group_count
                for name in ("at", "group", "count", "lanes"):
                    left, right = getattr(again, name), getattr(partial, name)
                    assert left.dtype == right.dtype
                    assert left.shape == right.shape
                    assert (left == right).all()
    except DataError:
        return


@pytest.mark.parametrize("window", ["2 SECONDS", "RANGE 2 SECONDS SLIDE 1 SECOND", "ROWS 2"])
def test_a_snapshot_of_nothing(window: str) -> None:
    plan = plan_of(f"SELECT a.s AS s, COUNT(*) AS n FROM a [{window}] GROUP BY a.s")
    shard = Shard.restore(plan, Shard(plan).snapshot())
    assert shard.advance({}, 0).size == 0
