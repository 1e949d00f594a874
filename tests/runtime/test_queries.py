"""Every query form against the oracle: answers at every instant, changes, and the result."""

from __future__ import annotations

from hypothesis import given

from support.runners import agree
from support.streams import Action, joins, plan_of, scenarios, selects, single_queries


@given(single_queries(), scenarios())
def test_aggregates_over_one_window(text: str, actions: list[Action]) -> None:
    agree(plan_of(text), actions)


@given(joins(), scenarios())
def test_aggregates_over_a_join(text: str, actions: list[Action]) -> None:
    agree(plan_of(text), actions)


@given(selects(), scenarios())
def test_rows_of_one_window(text: str, actions: list[Action]) -> None:
    agree(plan_of(text), actions)
