"""Parts of a tree that differ in ids alone are one node, which runs once."""

from __future__ import annotations

import pytest

import windrow
from support.relation_texts import CATALOG
from windrow.plan.explain_any import explain_any
from windrow.plan.relations.algebra import walk_relations
from windrow.plan.relations.planner import tree_plan
from windrow.plan.relations.tree_plan import TreePlan
from windrow.runtime.trees.operator_tree import OperatorTree
from windrow.sql import parse_query

COUNTS = "WITH c AS (SELECT k, COUNT(*) AS n FROM a [9] GROUP BY k) "
SHARED = {
    "a name of WITH in a scalar sub-query": "SELECT k FROM c WHERE n >= (SELECT MAX(n) FROM c)",
    "a name of WITH joined with itself": (
        "SELECT l.n, r.n FROM c AS l LEFT JOIN c AS r ON l.k = r.k"
    ),
    "a name of WITH in a union": "SELECT k, n FROM c UNION ALL SELECT n, k FROM c",
}


def planned(text: str) -> TreePlan:
    return tree_plan(parse_query(text), CATALOG)


@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED.keys())
def test_a_name_that_is_read_twice_runs_once(text: str) -> None:
    plan = planned(COUNTS + text)
    assert len(plan.blocks) == len(plan.inputs) == 1
    drawing = explain_any(plan)
    assert "shared: runs once for 2 that read it" in drawing
    assert "(shared, as above)" in drawing


MORE = "WITH c AS (SELECT k, COUNT(*) AS n, SUM(x) AS s FROM a [9] WHERE x > 1 GROUP BY k) "


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        (MORE + "SELECT l.n, r.s FROM c AS l LEFT JOIN c AS r ON l.k = r.k", 1),
        (MORE + "SELECT k FROM c WHERE s >= (SELECT MAX(n) FROM c)", 1),
        (
            MORE + "SELECT l.n, r.m FROM c AS l LEFT JOIN (SELECT k, MAX(x) AS m FROM a [9]"
            " WHERE x > 2 GROUP BY k) AS r ON l.k = r.k",
            2,
        ),
        (
            MORE + "SELECT l.n, r.m FROM c AS l LEFT JOIN (SELECT k, MAX(x) AS m FROM a [8]"
            " WHERE x > 1 GROUP BY k) AS r ON l.k = r.k",
            2,
        ),
    ],
)
def test_different_aggregates_of_the_same_rows_are_one(text: str, windows: int) -> None:
    plan = planned(text)
    assert len(plan.inputs) == windows


def test_readers_of_different_aggregates_have_their_own() -> None:
    session = windrow.connect()
    session.stream("a", "ts timestamp, k int, x int", time="ts")
    text = MORE.replace("[9]", "[9 SECONDS]")
    query = session.query(text + "SELECT l.k, l.n, r.s FROM c AS l LEFT JOIN c AS r ON l.k = r.k")
    times = [f"2026-01-01 00:00:0{second}" for second in range(5)]
    session.push("a", {"ts": times, "k": [1, 2, 1, 2, 2], "x": [5, 1, 7, 3, 4]})
    session.finish()
    assert sorted(map(tuple, (row.values() for row in query.result().to_pylist()))) == [
        (1, 2, 12),
        (2, 2, 7),
    ]


def test_ids_stay_different_where_copies_meet() -> None:
    plan = planned(COUNTS + SHARED["a name of WITH joined with itself"])
    for node in walk_relations(plan.relation):
        ids = [field.id for field in node.fields]
        assert len(ids) == len(set(ids))


def test_operators_above_windows_are_shared_too() -> None:
    top = "WITH t AS (SELECT k, x FROM a [9] ORDER BY x LIMIT 2) "
    plan = planned(top + "SELECT l.k FROM t AS l LEFT JOIN t AS r ON l.x = r.x + 1")
    kinds = [type(node).__name__ for node, _ in OperatorTree(plan.relation).sizes()]
    assert kinds.count("TopRows") == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT l.k FROM (SELECT k FROM a [9] LIMIT 1) AS l, (SELECT k FROM a [8] LIMIT 1) AS r",
        "SELECT l.k FROM (SELECT k FROM a [9] LIMIT 1) AS l, (SELECT k FROM a [9] LIMIT 2) AS r",
        "SELECT l.k FROM (SELECT k FROM a [9] LIMIT 1) AS l, (SELECT x FROM a [9] LIMIT 1) AS r",
    ],
)
def test_parts_that_mean_something_else_stay_apart(text: str) -> None:
    plan = planned(text)
    kinds = [type(node).__name__ for node, _ in OperatorTree(plan.relation).sizes()]
    assert kinds.count("TopRows") == 2


def test_answers_are_those_of_two_copies() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts")
    text = (
        "WITH c AS (SELECT k, COUNT(*) AS n FROM s [2 SECONDS] GROUP BY k) "
        "SELECT c.k, c.n FROM c WHERE c.n = (SELECT MAX(n) FROM c) ORDER BY k"
    )
    query = session.query(text)
    rows = [(1, 7), (1, 8), (2, 8), (2, 8), (5, 7)]
    session.push("s", [{"ts": f"2026-01-01 00:00:0{second}", "k": k} for second, k in rows])
    session.finish()
    at = [(row["at"].second, row["k"], row["n"]) for row in query.answers().to_pylist()]
    assert at == [(1, 7, 1), (1, 8, 1), (2, 8, 3), (5, 7, 1)]
