"""Every algorithm that can run a query gives the same, to the last bit, alone or in turns."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.join_texts import general_joins, general_singles, small_scenarios
from support.runners import outcome
from support.streams import Action, joins, plan_of
from windrow.errors import UnsupportedError
from windrow.plan.algorithms import reasons_against
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import can_shard

NAMES = ("pipelined", "incremental", "charged", "factorised")
aggregates = st.one_of(general_joins(), general_joins(), joins(), general_singles())
steps = st.integers(0, 12)


def able(plan: QueryPlan) -> list[str]:
    """The algorithms that can run a plan."""
    return [name for name, reason in reasons_against(plan).items() if reason is None]


@given(aggregates, small_scenarios())
def test_all_algorithms_give_the_same(text: str, actions: list[Action]) -> None:
    expected = outcome(plan_of(text), actions)
    for name in able(plan_of(text)):
        assert outcome(plan_of(text, name), actions) == expected, name


@given(aggregates, small_scenarios(), st.frozensets(steps, min_size=1, max_size=3))
def test_restarts_are_invisible_to_each(
    text: str, actions: list[Action], restarts: frozenset[int]
) -> None:
    expected = outcome(plan_of(text), actions)
    for name in able(plan_of(text)):
        assert outcome(plan_of(text, name), actions, restarts=restarts) == expected, name


@given(aggregates, small_scenarios(), st.integers(2, 4), st.frozensets(steps, max_size=1))
def test_shards_are_invisible_to_each(
    text: str, actions: list[Action], buckets: int, restarts: frozenset[int]
) -> None:
    assume(can_shard(plan_of(text)))
    expected = outcome(plan_of(text), actions)
    for name in able(plan_of(text)):
        plan = plan_of(text, name)
        assert outcome(plan, actions, buckets=buckets, restarts=restarts) == expected, name


@given(aggregates, small_scenarios(), st.data())
def test_changing_the_algorithm_changes_nothing(
    text: str, actions: list[Action], data: st.DataObject
) -> None:
    plan = plan_of(text)
    names = st.sampled_from(able(plan))
    switches = data.draw(st.dictionaries(steps, names, min_size=1, max_size=4))
    reads = data.draw(st.frozensets(steps, max_size=2))
    restarts = data.draw(st.frozensets(steps, max_size=1))
    buckets = data.draw(st.integers(1, 3)) if can_shard(plan) else 1
    changed = outcome(
        plan, actions, buckets=buckets, restarts=restarts, reads=reads, switches=switches
    )
    assert changed == outcome(plan, actions)


@given(aggregates)
def test_an_algorithm_that_cannot_run_a_query_is_refused(text: str) -> None:
    reasons = reasons_against(plan_of(text))
    assert set(reasons) == set(NAMES)
    assert None in reasons.values(), "nothing runs it"
    for name, reason in reasons.items():
        if reason is None:
            assert plan_of(text, name).algorithm == name
            continue
        with pytest.raises(UnsupportedError) as caught:
            plan_of(text, name)
        assert caught.value.code == "WU214"


def test_the_plain_join_has_every_algorithm() -> None:
    text = "SELECT COUNT(*) AS n FROM a [1 SECOND], b [1 SECOND] WHERE a.k = b.k"
    assert sorted(able(plan_of(text))) == sorted(NAMES)
