"""Where a tree is cut into stages, and what each of them sends."""

from __future__ import annotations

import pytest

from support.tree_runs import tree_plan_of
from windrow.plan.relations.exchange_algebra import LocalAggregate, LocalTopRows, Sent
from windrow.plan.relations.explain_stages import explain_on_spark
from windrow.plan.relations.tree_plan import first_stage

COUNTED = "(SELECT k, s, COUNT(*) AS n, AVG(l) AS m FROM a [4] GROUP BY k, s) AS q"
JOINED = "(SELECT a.k, a.s, b.l FROM a [3] LEFT JOIN b [2] ON a.k = b.k) AS q"

# What EXPLAIN says of the stages, the last one first.
STAGED = {
    f"SELECT n, COUNT(*) AS c FROM {COUNTED} GROUP BY n": [
        "stage 2, in 4 buckets",
        "stage 1, in 4 buckets by a.k, a.s",
        "sends 1 by n",
    ],
    f"SELECT q.s, c.x FROM {JOINED} LEFT JOIN c [3] ON q.l = c.x": [
        "stage 2, in 4 buckets",
        "stage 1, in 4 buckets by a.k, b.k, any row of c",
        "sends 1 by l",
        "sends 2 by x",
    ],
    f"SELECT k, n FROM {COUNTED} ORDER BY n LIMIT 2 OFFSET 3": [
        "stage 2, in one bucket, because the first 2 rows are those of all",
        "stage 1, in 4 buckets by a.k, a.s",
        "sends 1 to one bucket",
    ],
    f"SELECT MAX(n) AS n FROM {COUNTED}": [
        "stage 2, in one bucket, because one row is computed from all others",
        "stage 1, in 4 buckets by a.k, a.s",
        "sends 1 to one bucket",
    ],
    f"SELECT l, (SELECT COUNT(*) FROM c [2]) AS n FROM {JOINED}": [
        "stage 2, in 4 buckets",
        "stage 1, in 4 buckets by a.k, b.k, c in the first",
        "sends 1 by all that it holds",
        "sends 2 from the first bucket to all buckets, because one row is computed from all others",
    ],
    # The largest of each bucket go to all, and each finds the largest of these.
    f"SELECT k, n FROM {COUNTED} WHERE n = (SELECT MAX(n) FROM {COUNTED})": [
        "stage 2, in 4 buckets",
        "stage 1, in 4 buckets by a.k, a.s",
        "sends 1 by all that it holds",
        "sends 2 to all buckets",
    ],
    # One row with one row is not worth many buckets.
    f"SELECT x.m - y.n AS d FROM (SELECT COUNT(*) AS m FROM {COUNTED}) AS x,"
    " (SELECT COUNT(*) AS n FROM b [2]) AS y": [
        "stage 2, in one bucket, because a join has no equality, so any rows may match",
        "stage 1, in 4 buckets by a.k, a.s, b in the first",
        "sends 1 to one bucket",
        "sends 2 from the first bucket to one bucket, because one row is computed from all others",
    ],
    # One relation that is needed by two keys is sent by each.
    f"WITH q AS (SELECT * FROM {COUNTED}) SELECT x.s FROM q AS x JOIN q AS y ON x.k = y.n": [
        "stage 2, in 4 buckets",
        "stage 1, in 4 buckets by a.k, a.s",
        "sends 1 by k",
        "sends 2 by n",
    ],
}
# Rows would only be passed on, or one key is enough.
WHOLE = [
    "SELECT a.l, b.l AS m FROM a [2] LEFT JOIN b [2] ON a.l < b.l",
    "SELECT COUNT(*) AS n, AVG(l) AS m, COUNT(DISTINCT k, s) AS t FROM a [2]",
    "SELECT a.k, b.l FROM a [2] LEFT JOIN b [2] ON a.k = b.k",
    "SELECT k, COUNT(*) AS n FROM a [SESSION 1 SECOND] GROUP BY k",
]


@pytest.mark.parametrize("text", STAGED)
def test_cut_into_stages(text: str) -> None:
    plan = tree_plan_of(text)
    lines = [line.strip() for line in explain_on_spark(plan, buckets=4).splitlines()]
    assert f"as it runs, in {len(plan.stages)} stages:" in lines
    assert [line for line in lines if line.startswith(("stage ", "sends "))] == STAGED[text]
    assert first_stage(plan, 4) is plan.stages[0]
    assert first_stage(plan, 1) is plan


@pytest.mark.parametrize("text", WHOLE)
def test_in_one_stage(text: str) -> None:
    plan = tree_plan_of(text)
    assert plan.stages == (plan,)
    assert "stage" not in explain_on_spark(plan, buckets=4)


def test_what_buckets_know_of_the_first_rows_and_of_one_row() -> None:
    root = (
        tree_plan_of(f"SELECT k, n FROM {COUNTED} ORDER BY n LIMIT 2 OFFSET 3").stages[0].relation
    )
    assert isinstance(root, Sent)
    (first,) = root.parts
    assert isinstance(first, LocalTopRows)
    assert (first.limit, first.offset) == (5, 0)
    root = tree_plan_of(f"SELECT SUM(n) AS n, COUNT(n) AS c FROM {COUNTED}").stages[0].relation
    assert isinstance(root, Sent)
    (one,) = root.parts
    assert isinstance(one, LocalAggregate)
    # The sum of a BIGINT in two words: that of one bucket alone may be beyond the type.
    assert [call.function for call in one.calls] == ["sum", "sum", "count"]
    # A mean, or a sum of doubles, is rounded once: rows go to one bucket.
    for aggregate in ("AVG(n)", "SUM(m)"):
        root = tree_plan_of(f"SELECT {aggregate} AS v FROM {COUNTED}").stages[0].relation
        assert isinstance(root, Sent)
        assert not isinstance(root.parts[0], LocalAggregate)


# With ticks, or where windows close, a group changes less often than its rows.
BEGUN = {
    f"SELECT q.s, COUNT(*) AS n FROM {JOINED} GROUP BY q.s EVERY (1)": True,
    f"SELECT q.s, COUNT(*) AS n FROM {JOINED} GROUP BY q.s": False,
    f"SELECT q.s, SUM(CAST(q.l AS DOUBLE)) AS n FROM {JOINED} GROUP BY q.s EVERY (1)": False,
    f"SELECT q.s, COUNT(DISTINCT q.l) AS n FROM {JOINED} GROUP BY q.s EVERY (1)": False,
    "SELECT q.s, COUNT(*) AS n FROM (SELECT a.s, b.l FROM a [TUMBLE 2] LEFT JOIN b [TUMBLE 2] ON"
    " a.k = b.k) AS q GROUP BY q.s": True,
    "SELECT q.s, COUNT(*) AS n FROM (SELECT a.s, b.l FROM a [TUMBLE 2] LEFT JOIN b [2] ON"
    " a.k = b.k) AS q GROUP BY q.s": False,
}


@pytest.mark.parametrize("text", BEGUN)
def test_groups_that_buckets_begin(text: str) -> None:
    root = tree_plan_of(text).stages[0].relation
    assert isinstance(root, Sent)
    (part,) = root.parts
    assert isinstance(part, LocalAggregate) == BEGUN[text]
    lines = explain_on_spark(tree_plan_of(text), buckets=4).splitlines()
    assert any("a row for each a.s of the bucket" in line for line in lines) == BEGUN[text]
