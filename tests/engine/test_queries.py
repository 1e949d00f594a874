"""Every query form against the oracle: answers at every instant, changes, and the result."""

from __future__ import annotations

import pytest
from hypothesis import given

from oracle import SumOverflowError
from runners import Judge, Model, ShardRunner
from streams import Action, joins, plan_of, scenarios, selects, single_queries
from windrow.errors import DataError


def agree(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    judge, runner, model = Judge(plan), ShardRunner(plan), Model()
    since = -(2**61)
    try:
        for number, action in enumerate([*actions, None]):
            batches = {} if action is None else model.take(action)
            clock = model.clock(plan) if action is not None else model.last(plan)
            runner.step(batches, clock)
            if number % 4 == 0 or action is None:
                publisher = runner.publisher
                given = (publisher.answers(), publisher.changes(), publisher.result())
                judge.check(model.rows(), since, clock, *given)
                since = clock
    except DataError as refused:
        if refused.code != "WD302":
            raise
        everywhere = judge.oracle.change_instants(model.rows(), clock)
        with pytest.raises(SumOverflowError):
            judge.oracle.answers(model.rows(), everywhere)


@given(single_queries(), scenarios())
def test_aggregates_over_one_window(text: str, actions: list[Action]) -> None:
    agree(text, actions)


@given(joins(), scenarios())
def test_aggregates_over_a_join(text: str, actions: list[Action]) -> None:
    agree(text, actions)


@given(selects(), scenarios())
def test_rows_of_one_window(text: str, actions: list[Action]) -> None:
    agree(text, actions)
