"""Selects that are followed by their changes, against the same selects with a result that is kept.

Both tell the same bytes: changes, answers and the result, however rows come and whoever reads.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from support.join_texts import small_scenarios
from support.live_texts import general_negations, general_selects
from support.runners import Model, ShardRunner
from support.streams import Action, plan_of
from windrow.operators.select import netting_kernels
from windrow.operators.select.followed import FollowedSelect
from windrow.operators.select.following import can_follow
from windrow.operators.select.row_changes import RowWords
from windrow.output import group_feed
from windrow.output.publish import Publisher
from windrow.plan.model import QueryPlan
from windrow.rows.shape import shape_of
from windrow.runtime.shard import Shard
from windrow.windows.row_store import NO_MATRIX

FORMS = {
    "window": "SELECT k, d FROM a [2 SECONDS]",
    "texts": "SELECT s, o, d FROM a [2 SECONDS] WHERE k > 0",
    "steps": "SELECT d, s FROM a [RANGE 2 SECONDS SLIDE 1 SECOND] EVERY (1 SECOND)",
    "constants": "SELECT 'x' AS x, k, k AS again FROM a [1 SECOND]",
    "nothing but constants": "SELECT 1 AS one FROM a [1 SECOND], b [2 SECONDS] WHERE a.k = b.k",
    "distinct": "SELECT DISTINCT k FROM a [2 SECONDS]",
    "distinct texts": "SELECT DISTINCT s, d FROM a [RANGE 3 SECONDS SLIDE 1 SECOND]",
    "join": "SELECT a.k AS k, a.d AS d, b.d AS e FROM a [2 SECONDS], b [1 SECOND] WHERE a.k = b.k",
    "join of texts": "SELECT b.s AS s, a.o AS o FROM a [RANGE 2 SECONDS SLIDE 1 SECOND], "
    "b [3 SECONDS] WHERE a.s = b.s AND a.k = b.k",
    "all pairs": "SELECT a.d AS d, b.k AS k FROM a [1 SECOND], b [1 SECOND]",
    "of itself": "SELECT x.k AS k, y.d AS d FROM a [2 SECONDS] AS x, a [1 SECOND] AS y "
    "WHERE x.k = y.k",
    "anti join": "SELECT a.k AS k, a.d AS d FROM a [3 SECONDS] LEFT ANTI JOIN b [1 SECOND] "
    "ON a.k = b.k",
    "anti join of two keys": "SELECT a.d AS d FROM a [3 SECONDS] LEFT ANTI JOIN b [2 SECONDS] "
    "ON a.k = b.k AND a.s = b.s",
    "without correlation": "SELECT a.k AS k FROM a [3 SECONDS] WHERE NOT EXISTS "
    "(SELECT 1 FROM b [1 SECOND])",
}


class FollowedRunner(ShardRunner):
    """The same query by its changes."""

    def __init__(self, plan: QueryPlan) -> None:
        super().__init__(plan, crosses=False)
        self.shards = [Shard(plan, is_followed=True)]
        self.publisher = Publisher(plan, self.shards[0].live_columns)


def followed(text: str) -> QueryPlan:
    plan = plan_of(text)
    assert can_follow(plan, shape_of(plan))
    return plan


def read(runner: ShardRunner, kind: str) -> pa.Table:
    table: pa.Table = getattr(runner.publisher, kind)()
    return table


def assert_same(plan: QueryPlan, actions: list[Action], reads: set[int], breaks: set[int]) -> None:
    """reads: after which actions all is read; breaks: before which a step fails and is undone."""
    slow, fast, model = ShardRunner(plan, crosses=False), FollowedRunner(plan), Model()
    for number, action in enumerate(actions):
        if number in breaks:
            broken(fast)
        batches = model.take(action)
        clock = model.clock(plan)
        slow.step(batches, clock)
        fast.step(batches, clock)
        if number in reads:
            assert_read(slow, fast)
    for runner in (slow, fast):
        runner.step({}, model.last(plan))
    assert_read(slow, fast)
    for runner in (slow, fast):  # all that is left leaves
        runner.step({}, model.last(plan) + 10**8)
    assert_read(slow, fast)


def assert_read(slow: ShardRunner, fast: ShardRunner) -> None:
    for kind in ("changes", "result", "answers"):
        wanted, found = read(slow, kind), read(fast, kind)
        assert found.schema == wanted.schema
        assert str(found.to_pylist()) == str(wanted.to_pylist()), kind  # NaN is not NaN
    operator = fast.shards[0]._operator
    assert isinstance(operator, FollowedSelect)
    assert operator.joined_rows() == read(fast, "result").num_rows
    assert operator.nbytes >= sum(operator.window_bytes())


def broken(runner: ShardRunner) -> None:
    """A step that is undone: the shard is made again from its rows."""
    (shard,) = runner.shards
    mark, published = shard.mark(), runner.publisher.mark()
    shard.advance({}, shard.clock)
    runner.publisher.rewind(published)
    shard.rewind(mark)
    shard.keep(mark)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(
    actions=small_scenarios(), reads=st.sets(st.integers(0, 9)), breaks=st.sets(st.integers(1, 9))
)
def test_each_form(form: str, actions: list[Action], reads: set[int], breaks: set[int]) -> None:
    assert_same(followed(FORMS[form]), actions, reads, breaks)


# Few of all forms can be followed.
@settings(suppress_health_check=[HealthCheck.filter_too_much], max_examples=25)
@given(general_selects(most=2) | general_negations(), small_scenarios(), st.sets(st.integers(0, 9)))
def test_any_form(text: str, actions: list[Action], reads: set[int]) -> None:
    plan = plan_of(text)
    assume(can_follow(plan, shape_of(plan)))
    assert_same(plan, actions, reads, set())


@pytest.mark.parametrize("form", ["window", "texts", "distinct", "join", "anti join"])
@settings(max_examples=10)
@given(actions=small_scenarios(), reads=st.sets(st.integers(0, 9)))
def test_changes_that_nobody_reads_are_netted(
    form: str, actions: list[Action], reads: set[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_feed, "UPDATES_LIMIT", 3)
        plan = followed(FORMS[form])
        runner, model = FollowedRunner(plan), Model()
        held: Counter[str] = Counter()
        for number, action in enumerate(actions):
            runner.step(model.take(action), model.clock(plan))
            if number in reads:
                add_up(read(runner, "changes"), held)
                assert +held == shown(runner)
        runner.step({}, model.last(plan))
        add_up(read(runner, "changes"), held)
        assert +held == shown(runner)
        assert min(held.values(), default=0) >= 0


def add_up(changes: pa.Table, held: Counter[str]) -> None:
    for row in changes.drop_columns(["at"]).to_pylist():
        held[str({name: row[name] for name in row if name != "change"})] += row["change"]


def shown(runner: ShardRunner) -> Counter[str]:
    return Counter(map(str, read(runner, "result").to_pylist()))


@given(st.data(), st.integers(1, 90), st.sampled_from([1, 3, 40]), st.booleans())
def test_instants_are_ordered_and_netted(
    data: st.DataObject, size: int, instants: int, has_null: bool
) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    far = [-(2**63), -(2**62), -1, 0, 1, 5, 2**62, 2**63 - 1]
    values = [random.choice(far if data.draw(st.booleans()) else far[2:5], size) for _ in range(2)]
    words, at = np.array(values, np.int64), np.sort(random.integers(0, instants, size))
    valid = random.integers(0, 2, words.shape).astype(np.uint8) if has_null else NO_MATRIX
    sign = random.choice(np.array([1, -1], np.int8), size)
    change, out = np.empty(size, np.int32), np.empty(size, np.int8)
    rows = RowWords(words, valid, np.zeros(2, np.bool_))
    count = netting_kernels.net_instants(at, sign, rows, change, out)

    def row(number: int) -> tuple[object, ...]:
        present = valid[:, number] if has_null else (1, 1)
        both = zip(present, words[:, number].tolist(), strict=True)
        return (int(at[number]), *((bool(p), w if p else 0) for p, w in both))

    net: Counter[tuple[object, ...]] = Counter()
    for number in range(size):
        net[row(number)] += int(sign[number])
    wanted = [(each, np.sign(net[each])) for each in sorted(net) for _ in range(abs(net[each]))]
    assert [(row(i), s) for i, s in zip(change[:count], out[:count], strict=True)] == wanted
