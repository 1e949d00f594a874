"""A star that is run straight from its windows gives what events through a tree give."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given

from support.runners import outcome
from support.streams import Action, plan_of, scenarios
from windrow.operators.tree.linear_tree import LinearTree

THREE = "FROM a [2 SECONDS], b [3 SECONDS], c [1 SECOND] WHERE a.k = b.k AND b.k = c.k"
TEXTS = (
    f"SELECT COUNT(*) AS n, SUM(a.l) AS s {THREE}",
    f"SELECT SUM(b.l * c.l) AS s, SUM(a.l - c.k) AS t, COUNT(a.l) AS n, SUM(c.l) AS u {THREE}",
    f"SELECT a.k AS k, COUNT(*) AS n, SUM(b.k) AS s {THREE} GROUP BY a.k",
    f"SELECT a.k AS k, COUNT(*) AS n, SUM(b.k) AS s {THREE} GROUP BY a.k EVERY (1 SECOND)",
    f"SELECT COUNT(*) AS n, SUM(c.k) AS s {THREE} EVERY (1 SECOND)",
    "SELECT SUM(a.k * b.k) AS s, COUNT(*) AS n FROM a [2 SECONDS], b [1 SECOND] WHERE a.k = b.k",
    "SELECT SUM(a.k * b.k) AS s FROM a [2 SECONDS], b [ROWS 3] WHERE a.k = b.k",
)


@pytest.mark.parametrize("text", TEXTS)
@given(actions=scenarios(streams="abc"))
def test_a_star_from_its_windows_has_the_same_sums(text: str, actions: list[Action]) -> None:
    plan = plan_of(text)
    found = outcome(plan, actions, reads=frozenset([3, 6]))
    with patch.object(LinearTree, "run_plain", return_value=False):
        assert outcome(plan, actions, reads=frozenset([3, 6])) == found
