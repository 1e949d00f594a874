"""Trees that are one block are planned as single queries, and answer as the tree does."""

from __future__ import annotations

import pyarrow as pa
import pytest

from windrow.embedded.session import EmbeddedSession
from windrow.plan.model import QueryPlan
from windrow.plan.relations import planner
from windrow.plan.relations.tree_plan import TreePlan

ONE_BLOCK = [
    "SELECT k, COUNT(*) FILTER (WHERE v > 4) AS n, SUM(v) FILTER (WHERE v < 7) AS t"
    " FROM s [10 SECONDS] GROUP BY k",
    "SELECT SUM(v) FILTER (WHERE v > 4) / COUNT(*) AS mean FROM s [10 SECONDS]",
    "SELECT MAX(v) - MIN(v) AS spread, k FROM (SELECT k, v FROM s [10 SECONDS] WHERE v > 1)"
    " GROUP BY k HAVING COUNT(*) FILTER (WHERE v > 2) > 1",
    "SELECT n FROM (SELECT k, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY k) WHERE n > 2 AND k > 1",
    "SELECT w + 1 AS x FROM (SELECT v * 2 AS w FROM s [10 SECONDS]) WHERE w > 6",
]
TREES = [
    "SELECT COUNT(*) AS n FROM (SELECT k, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY k)",
    "SELECT k, COUNT(*) FILTER (WHERE v > 4) AS n FROM s [10 SECONDS] GROUP BY k ORDER BY n",
]


def session_with_rows() -> EmbeddedSession:
    session = EmbeddedSession()
    session.stream("s", "ts timestamp, k bigint, v bigint", time="ts")
    return session


def rows() -> pa.Table:
    places = list(range(60))
    at = pa.array([place * 700_000 for place in places], pa.timestamp("us", "UTC"))
    values = [place * 7 % 11 for place in places]
    return pa.table({"ts": at, "k": [place % 4 for place in places], "v": values})


@pytest.mark.parametrize("text", ONE_BLOCK)
def test_one_block_is_a_single_query(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_with_rows()
    assert isinstance(session.plan_of(text), QueryPlan)
    single = session.query(text, name="single")
    monkeypatch.setattr(planner, "as_block", lambda plan: plan)
    assert isinstance(session.plan_of(text), TreePlan)
    tree = session.query(text, name="tree")
    session.push("s", rows())
    assert in_order(single.answers()) == in_order(tree.answers())
    assert in_order(single.changes()) == in_order(tree.changes())
    session.finish()
    assert in_order(single.result()) == in_order(tree.result())


def in_order(table: pa.Table) -> list[str]:
    assert table.num_rows
    return sorted(map(str, table.to_pylist()))


@pytest.mark.parametrize("text", TREES)
def test_what_is_more_than_a_block_stays_a_tree(text: str) -> None:
    assert isinstance(session_with_rows().plan_of(text), TreePlan)
