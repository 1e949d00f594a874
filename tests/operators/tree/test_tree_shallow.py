"""A tree of few levels, walked without a stack, gives what any tree gives."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given

from support.runners import outcome
from support.streams import Action, plan_of, scenarios
from windrow.operators.tree import linear_tree

THREE = "FROM a [2 SECONDS], b [3 SECONDS], c [2 SECONDS] WHERE"
TEXTS = (
    f"SELECT COUNT(*) AS n {THREE} a.k = b.k AND b.l = c.l",
    f"SELECT COUNT(*) AS n, SUM(c.k) AS t, SUM(a.l) AS u {THREE} a.k = b.k AND b.o = c.o",
    f"SELECT SUM(b.k) AS t {THREE} a.k = b.k AND a.l = c.l",
)


@pytest.mark.parametrize("text", TEXTS)
@given(actions=scenarios(streams="abc"))
def test_a_shallow_tree_is_walked_to_the_same_sums(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    found = outcome(plan, actions, reads=frozenset([3, 6]))
    with patch.object(linear_tree, "SHALLOW", -1):
        assert outcome(plan, actions, reads=frozenset([3, 6])) == found
