"""Plans that are trees as text and back: nothing is lost, and nothing but plans comes out."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.streams import CATALOG
from support.tree_forms import CLOSING_FORMS, TREE_FORMS, WINDOW_FORMS
from support.tree_queries import random_tree
from support.tree_runs import tree_plan_of
from windrow.errors import CheckpointError
from windrow.plan.relations.planner import plan_query
from windrow.plan.relations.shipped_nodes import NODES
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.sql import parse_query

OTHERS = [
    "SELECT k, (SELECT k FROM b [NOW]) AS x FROM a [2 SECONDS]",
    "SELECT n FROM (SELECT MAX(ts) AS n FROM a [9]) AS q WHERE n > now() - INTERVAL '1' SECOND",
    "SELECT a.k, b.l FROM a [3] ASOF LEFT JOIN b [9] ON a.k = b.k AND a.ts >= b.ts",
    "SELECT k, u.x FROM a [3], UNNEST(ARRAY(k, 7)) AS u(x)",
]
FORMS = [*TREE_FORMS, *WINDOW_FORMS, *CLOSING_FORMS, *OTHERS]


def check(plan: RunnablePlan) -> None:
    """The plan that comes out of its text is the plan."""
    text = plan_to_json(plan)
    again = plan_from_json(text)
    assert again == plan
    assert _written(again) == _written(plan), "types and signs of zero, too"
    assert plan_to_json(again) == text


def _written(plan: RunnablePlan) -> str:
    """Its repr, with the members of sets in order: equal sets are not always iterated alike."""
    return _SET.sub(lambda found: ", ".join(sorted(found[1].split(", "))), repr(plan))


_SET = re.compile(r"(?<=frozenset\(\{)([^}]*)")


@pytest.mark.parametrize("number", range(len(FORMS)))
def test_a_form_comes_back(number: int) -> None:
    tree = tree_plan_of(FORMS[number])
    for plan in dict.fromkeys((tree, *tree.stages)):
        check(plan)
    check(plan_query(parse_query(FORMS[number]), CATALOG))


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_a_random_tree_comes_back(seed: int, depth: int) -> None:
    plan = tree_plan_of(random_tree(seed, depth))
    check(plan)
    assert plan_from_json(plan_to_json(plan)).fingerprint == plan.fingerprint


def test_every_kind_of_node_is_in_some_form() -> None:
    trees = map(tree_plan_of, FORMS)
    plans = [plan for tree in trees for plan in (tree, *tree.stages)]
    texts = "".join(map(plan_to_json, plans))
    # Tables and views are leaves of sessions that have some.
    missing = {name for name in NODES if f'"is":"{name}"' not in texts}
    assert missing == {"TableScan", "VersionScan", "ViewScan"}


@pytest.mark.parametrize(
    "node",
    [
        {"is": "Path", "value": "/"},
        {"is": "Filter", "condition": None},
        {"is": "Field", "id": "x", "name": "x", "type": None},
    ],
)
def test_what_is_no_plan_is_refused(node: dict[str, object]) -> None:
    body = json.loads(plan_to_json(tree_plan_of(FORMS[0])))
    with pytest.raises(CheckpointError, match="WC201"):
        plan_from_json(json.dumps({**body, "plan": node}))


def test_spacing_aliases_and_algorithms_do_not_count() -> None:
    one = tree_plan_of("SELECT a.k, (SELECT MAX(l) FROM b [3]) AS m FROM a [9] ORDER BY k LIMIT 2")
    other = tree_plan_of(
        "SELECT  x.k,(SELECT MAX(y.l) FROM b [3] AS y) AS m FROM a [9] AS x ORDER BY k LIMIT 2"
    )
    assert one.fingerprint == other.fingerprint
    narrow = tree_plan_of("SELECT a.k, (SELECT MAX(l) FROM b [3]) AS m FROM a [8] LIMIT 2")
    assert narrow.fingerprint != one.fingerprint
