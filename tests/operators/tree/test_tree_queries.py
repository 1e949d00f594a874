"""The tree operator against the oracle: joins of every acyclic shape, all that it aggregates."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from support.join_texts import TAME, small_scenarios
from support.streams import Action, plan_of
from support.tree_texts import agree, is_for_trees, tree_queries


@given(tree_queries(), small_scenarios(), st.frozensets(st.integers(0, 12), max_size=2))
def test_any_values(text: str, actions: list[Action], rebuilds: frozenset[int]) -> None:
    plan = plan_of(text)
    assume(is_for_trees(plan))
    agree(plan, actions, rebuilds)


@given(tree_queries(2), small_scenarios(TAME), st.frozensets(st.integers(0, 12), max_size=2))
def test_rows_that_meet(text: str, actions: list[Action], rebuilds: frozenset[int]) -> None:
    plan = plan_of(text)
    assume(is_for_trees(plan))
    agree(plan, actions, rebuilds)
