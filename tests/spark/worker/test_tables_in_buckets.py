"""Queries over tables in Spark's buckets give what one process gives, whatever is lost."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.runners import exactly
from support.spark.driven_tables import driven_tables, in_process, table_plan
from support.table_runs import AnyAction, table_scenarios
from windrow.plan.relations.tree_partitioning import bucket_words

# What each is partitioned by where it may be in several buckets.
TEXTS = {
    "SELECT a.k, a.d, t.s FROM a [3 SECONDS] JOIN t ON a.k = t.k": "a.k, t.k",
    "SELECT a.k, t.n AS x, v.n AS y FROM a [2 SECONDS] LEFT JOIN t ON a.k = t.k "
    "LEFT JOIN v ON a.k = v.k AND v.n > 0": "a.k, t.k, v.k",
    "SELECT t.k, COUNT(a.d) AS c FROM t LEFT JOIN a [3 SECONDS] ON a.k = t.k GROUP BY t.k": "",
    "SELECT k FROM t WHERE k NOT IN (SELECT k FROM a [2 SECONDS] WHERE k > 0)": "",
    "SELECT a.k, (SELECT n FROM t WHERE t.k = a.k) AS n FROM a [PARTITION BY k ROWS 1]": (
        "a.k, a#2.k, t.k"
    ),
    "SELECT k, n FROM t UNION ALL SELECT k, l FROM a [1 SECOND]": "any row of a, the key of t",
    "SELECT t.s, SUM(a.k) AS x FROM a [2 SECONDS], t WHERE a.k = t.k GROUP BY t.s "
    "EVERY (1 SECOND)": "",
    "SELECT b.k, w.n FROM b [2 SECONDS] JOIN w ON b.s = w.s AND b.d = w.d": "b.s, b.d, w.d, w.s",
    "SELECT x.c - y.c AS zero FROM (SELECT COUNT(*) AS c FROM t) AS x, "
    "(SELECT COUNT(k) AS c FROM t) AS y, (SELECT COUNT(*) AS c FROM a [1 SECOND]) AS z": "",
    "SELECT a.k, v.n FROM a [3 SECONDS] LEFT JOIN v FOR SYSTEM_TIME AS OF a.ts ON a.k = v.k": (
        "a.k, v.k"
    ),
    "SELECT a.k, t.n FROM a [TUMBLE 2 SECONDS] JOIN t FOR SYSTEM_TIME AS OF a.ts ON a.k = t.k": (
        "a.k, t.k"
    ),
    "SELECT a.k, t.n FROM a [3 SECONDS] JOIN t ON a.k = t.k DURATION [0, 3]": "a.k, t.k",
    "SELECT a.k, t.n FROM a [2 SECONDS] JOIN t ON a.k < t.k": "any row of a, a copy of t in each",
    "SELECT a.k, t.k AS o FROM a [2 SECONDS] LEFT JOIN t ON a.k = t.n": (
        "any row of a, a copy of t in each"
    ),
    "SELECT a.k FROM a [2 SECONDS] WHERE a.k NOT IN (SELECT n FROM t)": (
        "any row of a, a copy of t in each"
    ),
    "SELECT a.k, COUNT(*) AS c FROM a [2 SECONDS] JOIN t ON a.k = t.n GROUP BY a.k": (
        "a.k, a copy of t in each"
    ),
    "SELECT a.k, x.m FROM a [2 SECONDS] "
    "JOIN (SELECT s, MAX(n) AS m FROM v GROUP BY s) AS x ON a.s = x.s": (
        "any row of a, a copy of v in each"
    ),
}


# Those that exchange rows: by what tables are partitioned in the first stage.
STAGED = {
    "SELECT t.s, SUM(a.k) AS x FROM a [2 SECONDS], t WHERE a.k = t.k GROUP BY t.s "
    "EVERY (1 SECOND)": "by a.k, t.k",
    "SELECT k FROM t WHERE k NOT IN (SELECT k FROM a [2 SECONDS] WHERE k > 0)": (
        "by a.k, any row of a#2, t.k"
    ),
    "SELECT x.c - y.c AS zero FROM (SELECT COUNT(*) AS c FROM t) AS x, "
    "(SELECT COUNT(k) AS c FROM t) AS y, (SELECT COUNT(*) AS c FROM a [1 SECOND]) AS z": (
        "by a in the first, the key of t"
    ),
    "SELECT a.k, t.k AS o, b.d FROM a [2 SECONDS] LEFT JOIN t ON a.k = t.n "
    "LEFT JOIN b [1 SECOND] ON b.k = t.k": "by any row of a, any row of b, a copy of t in each",
    "SELECT k, n FROM (SELECT a.k, COUNT(*) AS n FROM a [3 SECONDS] JOIN t ON a.k = t.n "
    "GROUP BY a.k) AS q ORDER BY n DESC LIMIT 2": "by a.k, a copy of t in each",
    "SELECT n, COUNT(*) AS m FROM (SELECT t.s, COUNT(*) AS n FROM a [3 SECONDS] JOIN t "
    "ON a.k = t.k GROUP BY t.s) AS q GROUP BY n": "by a.k, t.k",
    # What the second stage reads of a table is sent to it, too.
    "SELECT q.n, t.s FROM (SELECT d, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY d) AS q "
    "FULL JOIN t ON t.n = q.n": "by a.d, the key of t",
    "SELECT a.k, c.x, v.s FROM a [3 SECONDS] LEFT JOIN b [2 SECONDS] ON a.k = b.k LEFT JOIN "
    "c [3 SECONDS] ON b.l = c.x LEFT JOIN v FOR SYSTEM_TIME AS OF a.ts ON v.k = a.k": (
        "by a.k, b.k, any row of c, the key of v"
    ),
}


@pytest.mark.parametrize("text", TEXTS)
def test_tables_are_partitioned_or_copied(text: str) -> None:
    words = bucket_words(table_plan(text))
    assert words.startswith(f"in many buckets by {TEXTS[text]}" if TEXTS[text] else "in one bucket")


@pytest.mark.parametrize("text", STAGED)
def test_tables_are_in_the_first_stage(text: str) -> None:
    plan = table_plan(text)
    assert len(plan.stages) > 1
    assert bucket_words(plan.stages[0]) == f"in many buckets {STAGED[text]}"
    assert [stage.own_tables for stage in plan.stages[1:]] == [()] * (len(plan.stages) - 1)
    # Packets and segments number tables as the query does.
    assert plan.stages[0].own_tables == plan.own_tables


@pytest.mark.parametrize("text", {**TEXTS, **STAGED})
def test_buckets_give_what_one_process_gives(text: str) -> None:
    @settings(max_examples=4)
    @given(table_scenarios(), st.sampled_from([None, 1, 2]), st.sampled_from([1, 3]))
    def check(actions: list[AnyAction], seed: int | None, buckets: int) -> None:
        twin = in_process(text, actions)
        with TemporaryDirectory() as folder:
            told = driven_tables(text, actions, Path(folder), seed, buckets)
        for feed in ("answers", "changes", "result"):
            found, wanted = (exactly(getattr(each, feed)) for each in (told, twin))
            # Rows of one instant have no order among buckets.
            assert sorted(found) == sorted(wanted), feed

    check()
