"""Limits and buffers made tiny: what they hold may be less, what they show stays the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from papers.rivals import fifo_queue
from support.join_texts import general_joins, small_scenarios
from support.live_texts import general_negations, general_selects
from support.oracle import assert_same_rows, rows_of
from support.runners import REFUSED, Model, ShardRunner, listed, outcome, replay
from support.streams import Action, Push, instant, plan_of, queries, scenarios
from windrow import backlog
from windrow.errors import DataError
from windrow.exact.kernels import INTEGER
from windrow.operators import group_updates
from windrow.operators.expiry.wheel import timing_wheel
from windrow.operators.extremes import arena
from windrow.operators.keyed import factorised
from windrow.operators.lanes import LaneLayout
from windrow.operators.pairs import index as pair_index
from windrow.operators.pairs import rows as pair_rows
from windrow.operators.pairs import unmatched
from windrow.operators.pairs.sums import states
from windrow.operators.sum_values import too_large
from windrow.operators.tree import code_queues
from windrow.output import group_feed, known_groups, row_log, whole_feed
from windrow.output.aggregate_values import aggregate_values
from windrow.output.combine import CodedUpdates
from windrow.output.selects import select_feed
from windrow.plan.model import QueryPlan
from windrow.rows.shape import shape_of
from windrow.windows import codes, eviction, row_store

TINY = [
    pytest.param(
        tuple((module, "ROWS_LET_BE", 2) for module in (group_feed, select_feed)),
        id="rows let be",
    ),
    pytest.param(((known_groups, "IDLE_GROUPS", 0),), id="idle groups"),
    pytest.param(((backlog, "FANOUT", 2), (row_log, "FEW_PARTS", 0)), id="pieces of the log"),
    pytest.param(((factorised, "CHUNK", 2), (group_updates, "SMALLEST_OUTPUT", 1)), id="chunks"),
]
# What there is room for at first, made so small that a few rows outgrow it; not 1 where NumPy would
# take one value for any number of them.
FIRST_SIZES = (
    (select_feed, "SMALLEST", 2),
    (eviction, "SMALLEST", 2),
    (pair_rows, "SMALLEST", 2),
    (pair_index, "SMALLEST", 2),
    (unmatched, "SMALLEST", 2),
    (row_store, "SMALLEST_BUFFER", 2),
    (codes, "SMALLEST_TABLE", 2),
    (code_queues, "SMALLEST_BLOCKS", 2),
    (states, "SMALLEST_OUTPUT", 2),
    (group_updates, "SMALLEST_OUTPUT", 2),
    (arena, "SMALLEST_ARENA", 2),
    (fifo_queue, "SMALLEST_RING", 2),
    (timing_wheel, "SMALLEST_ROOM", 2),
)
# The patch is undone after all examples, and no example changes it.
patched = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("changes", TINY)
@patched
@given(
    text=queries,
    actions=scenarios(),
    reads=st.frozensets(st.integers(0, 12)),
    crosses=st.booleans(),
)
def test_small_buffers_show_the_same(
    changes, text: str, actions: list[Action], reads: frozenset[int], crosses: bool
) -> None:
    plan = plan_of(text)
    wanted = outcome(plan, actions)
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in changes:
            assert getattr(module, name) > value
            patch.setattr(module, name, value)
        assert outcome(plan, actions, reads=reads, crosses=crosses) == wanted


@pytest.mark.parametrize(
    "texts",
    [queries, general_joins(), general_selects(), general_negations()],
    ids=["queries", "joins", "selects", "negations"],
)
@settings(patched, max_examples=max(1, settings().max_examples // 2))
@given(
    data=st.data(),
    actions=small_scenarios(),
    restarts=st.frozensets(st.integers(0, 12), max_size=2),
    crosses=st.booleans(),
)
def test_what_outgrows_its_first_room_shows_the_same_also_after_a_restart(
    texts: st.SearchStrategy[str],
    data: st.DataObject,
    actions: list[Action],
    restarts: frozenset[int],
    crosses: bool,
) -> None:
    plan = plan_of(data.draw(texts))
    wanted = outcome(plan, actions)
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in FIRST_SIZES:
            assert getattr(module, name) > value
            patch.setattr(module, name, value)
        assert outcome(plan, actions, restarts=restarts, crosses=crosses) == wanted


@given(queries, scenarios())
def test_what_nobody_reads_is_netted_and_counted(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    wanted = outcome(plan, actions)
    if wanted == REFUSED:
        return
    with pytest.MonkeyPatch.context() as patch:
        for module in (group_feed, whole_feed):
            patch.setattr(module, "UPDATES_LIMIT", 3)
        runner = played(plan, actions)
    found = [repr(row) for row in rows_of(runner.publisher.answers())]
    assert set(found) <= set(wanted[0])
    if found != wanted[0]:
        assert runner.publisher.instants_lost > 0
    held: Counter = Counter()
    replay(runner.publisher.changes(), held)
    result = rows_of(runner.publisher.result())
    if wanted[1]:
        assert_same_rows(result, listed(held))
    assert [repr(row) for row in result] == wanted[2]


def played(plan: QueryPlan, actions: list[Action]) -> ShardRunner:
    runner, model = ShardRunner(plan), Model()
    for action in actions:
        batches = model.take(action)
        runner.step(batches, model.clock(plan))
    runner.step({}, model.last(plan))
    return runner


def test_too_many_rows_for_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("SELECT b.k AS k, COUNT(*) AS n FROM b [5 SECONDS] GROUP BY b.k")
    rows = tuple({"ts": instant(i), "k": i} for i in range(4))
    runner = played(plan, [Push("b", rows)])
    monkeypatch.setattr(group_feed, "ANSWER_ROWS_LIMIT", 5)
    with pytest.raises(DataError) as caught:
        runner.publisher.answers()
    assert caught.value.code == "WD301"


@pytest.mark.parametrize(
    ("text", "limb", "code"),
    [
        ("SELECT SUM(a.l) AS s FROM a [1 SECOND]", 2, "WD302"),
        ("SELECT SUM(a.p) AS s FROM a [1 SECOND]", 6, "WD303"),
    ],
)
def test_sums_that_cannot_be_shown(text: str, limb: int, code: str) -> None:
    plan = plan_of(text)
    shape = shape_of(plan)
    layout = LaneLayout.smallest(((INTEGER,),)).reaching(34, 41)
    lanes = np.zeros((1, layout.lane_count), np.int64)
    lanes[0, limb] = 1  # one row, 2 to the power of 32 * limb
    one = np.ones(1, np.int64)
    updates = CodedUpdates(one, np.zeros(1, np.int32), one, lanes, layout)
    aggregate = plan.aggregates[0]
    values, faults = aggregate_values(aggregate, shape.readings[0], shape, updates)
    assert values.to_pylist() == [None]
    assert faults is not None
    assert faults.all()
    assert too_large(aggregate, "SUM(x)")[0] == code


def test_an_average_is_a_double_however_large_the_sum() -> None:
    plan = plan_of("SELECT AVG(a.l) AS m, COUNT(*) AS n FROM a [1 SECOND]")
    rows = tuple({"ts": instant(0), "l": 2**63 - 1} for _ in range(4))
    (row,) = rows_of(played(plan, [Push("a", rows)]).publisher.result())
    assert row == (float(2**63), 4)


def test_a_sum_returns_when_what_overflowed_it_has_left() -> None:
    plan = replace(plan_of("SELECT SUM(b.k) AS s FROM b [ROWS 2]"), on_error="set_aside")
    runner = ShardRunner(plan)
    batches = [[2**63 - 1, 1], [5, 6]]
    found = []
    for second, values in enumerate(batches):
        times = pa.array([second] * 2).cast(pa.timestamp("us", tz="UTC"))
        schema = plan.inputs[0].stream.arrow
        columns = {"ts": times, "k": pa.array(values)}
        arrays = [columns.get(field.name, pa.nulls(2, field.type)) for field in schema]
        batch = {"b": pa.RecordBatch.from_arrays(arrays, schema=schema)}
        runner.step(batch, second)
        found.append(rows_of(runner.publisher.result()))
    assert found == [[], [(11,)]]
