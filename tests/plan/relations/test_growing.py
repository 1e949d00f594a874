"""Inputs that are UNBOUNDED below operators that keep all their rows: they are named, and run."""

from __future__ import annotations

import pytest

from support.relation_texts import CATALOG
from windrow.plan.model import QueryPlan
from windrow.plan.relations.planner import plan_query
from windrow.plan.relations.tree_plan import TreePlan
from windrow.sql import parse_query

GROWING = [
    ("SELECT a.k FROM a, b [9] WHERE a.k = b.k", ("a",)),
    ("SELECT t.k FROM a AS t, b AS u WHERE t.k = u.k", ("t", "u")),
    ("SELECT k FROM a [9] WHERE k IN (SELECT k FROM b)", ("b",)),
    ("SELECT k FROM a [9] WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)", ("b",)),
    ("SELECT k FROM a ORDER BY k LIMIT 1", ("a",)),
    ("SELECT RANK() OVER (ORDER BY k) AS r FROM a [UNBOUNDED]", ("a",)),
    # Only the totals of an aggregate are kept.
    ("SELECT MAX(n) AS most FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) AS q", ()),
    ("SELECT RANK() OVER (ORDER BY k) AS r FROM a [9]", ()),
]


@pytest.mark.parametrize(("text", "names"), GROWING)
def test_the_plan_names_what_grows(text: str, names: tuple[str, ...]) -> None:
    plan = plan_query(parse_query(text), CATALOG)
    assert isinstance(plan, TreePlan)
    assert plan.growing == names


def test_an_endless_block_alone_is_no_tree() -> None:
    plan = plan_query(parse_query("SELECT k, COUNT(*) AS n FROM a GROUP BY k"), CATALOG)
    assert isinstance(plan, QueryPlan)
