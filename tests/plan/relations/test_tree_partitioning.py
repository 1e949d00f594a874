"""By what a tree may be partitioned into buckets, or why all its rows must be in one."""

from __future__ import annotations

import pytest

from support.tree_runs import tree_plan_of
from windrow.plan.relations.tree_partitioning import bucket_words

SHARDED = {
    "SELECT x.k, y.m FROM (SELECT k, COUNT(*) AS n FROM a [4] GROUP BY k) AS x LEFT JOIN"
    " (SELECT k, MAX(l) AS m FROM b [2] GROUP BY k) AS y ON x.k = y.k": "a.k, b.k",
    "SELECT k, l, ROW_NUMBER() OVER (PARTITION BY k, s ORDER BY l) AS n FROM a [3]": "a.k, a.s",
    "SELECT k FROM a [3] INTERSECT SELECT k FROM c [3]": "a.k, c.k",
    "SELECT DISTINCT a.k AS x FROM a [3] LEFT JOIN b [3] ON a.k = b.k": "a.k, b.k",
    "SELECT k, COUNT(*) AS n FROM a [SESSION 1 SECOND PARTITION BY k] GROUP BY k": "a.k, a#2.k",
    "SELECT k FROM a [3] UNION ALL SELECT k FROM a [2]": "any row of a, any row of a#2",
    "SELECT q.k, q.n FROM (SELECT k, COUNT(*) AS n FROM a [PARTITION BY k ROWS 2] GROUP BY k)"
    " AS q WHERE EXISTS (SELECT 1 FROM b [2] WHERE b.k = q.k)": "a.k, b.k",
    "SELECT k, l FROM a [9] ORDER BY d": "any row of a",
}
ONE = {
    "SELECT k FROM a [3] ORDER BY k LIMIT 2": "the first 2 rows are those of all",
    "SELECT MAX(n) AS n FROM (SELECT COUNT(*) AS n FROM a [3] GROUP BY k) AS q": "one row is",
    "SELECT a.k FROM a [3] LEFT JOIN b [3] ON a.k < b.k": "a join has no equality",
    "SELECT SUM(l) OVER (ORDER BY ts) AS t FROM a [3]": "it has no PARTITION BY",
    "SELECT x.k FROM a [ROWS 3] AS x LEFT JOIN b [3] AS y ON x.k = y.k": "counts the rows",
    "SELECT x.k FROM a [PARTITION BY s ROWS 1] AS x LEFT JOIN b [3] AS y ON x.k = y.k": "rows are",
    # 0.0 and -0.0 are one group, and what is computed from them may differ.
    "SELECT CAST(d AS INT) AS t, COUNT(*) AS n FROM (SELECT DISTINCT d FROM a [3]) AS q"
    " GROUP BY CAST(d AS INT)": "rows are",
    "SELECT x.s, COUNT(*) AS n FROM (SELECT k, s, COUNT(*) AS n FROM a [3] GROUP BY k, s) AS x"
    " LEFT JOIN (SELECT k, l FROM b [3]) AS y ON x.k = y.k GROUP BY x.s": "",
}


@pytest.mark.parametrize("text", SHARDED)
def test_in_many_buckets(text: str) -> None:
    plan = tree_plan_of(text)
    assert plan.partitioning.is_sharded, plan.partitioning.reason
    shown = bucket_words(plan, 4).removeprefix("in 4 buckets by ").lower()
    assert shown == SHARDED[text].lower()


@pytest.mark.parametrize("text", ONE)
def test_in_one_bucket(text: str) -> None:
    plan = tree_plan_of(text)
    assert not plan.partitioning.is_sharded, bucket_words(plan)
    assert ONE[text] in bucket_words(plan)
