"""Every error of binding queries to relations, with its code, its place and what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.binding_errors import failure, word_at
from support.relation_texts import CATALOG, STREAMS
from windrow.errors import BindingError, UnsupportedError
from windrow.plan.catalog import Catalog, View
from windrow.plan.relations.binder import bind_query
from windrow.plan.relations.bound_query import BoundQuery
from windrow.plan.relations.context import MAX_NESTED_QUERIES, MAX_TREE_INPUTS
from windrow.plan.relations.planner import plan_query
from windrow.sql import parse_query
from windrow.sql.statements import Select

# text, code, the word that the caret is under, a part of the message or hint
WRONG = [
    ("SELECT 1 FROM aa [9]", "WB201", "aa", "did you mean a?"),
    ("SELECT 1 FROM busi", "WB201", "busi", "did you mean busy?"),
    ("SELECT 1 FROM a [9], b [9] AS A", "WB202", "b", "two inputs 'A'"),
    ("WITH t AS (SELECT 1), t AS (SELECT 2) SELECT 1 FROM t", "WB202", None, "two queries 't'"),
    ("SELECT total FROM (SELECT SUM(x) AS totals FROM a [9]) AS q", "WB203", "total", "totals?"),
    ("SELECT n.qqq FROM busy AS n", "WB203", "qqq", "the columns are k, n"),
    ("SELECT 1 FROM a [9] WHERE EXISTS (SELECT 1 FROM b [9] WHERE yy = x)", "WB203", "yy", "b.y?"),
    ("SELECT zzz", "WB203", "zzz", "there is no FROM"),
    ("SELECT * FROM (VALUES (zzz)) AS t", "WB203", "zzz", "there is no FROM"),
    ("SELECT k FROM a [9], b [9]", "WB204", "k", "a.k or b.k"),
    ("SELECT k FROM (SELECT a.k, b.k FROM a [9], b [9]) AS q", "WB204", "k", "names of their own"),
    (
        "SELECT q.k FROM (SELECT a.k, b.k FROM a [9], b [9]) AS q",
        "WB204",
        "q",
        "names of their own",
    ),
    ("SELECT z.k FROM a [9] AS t", "WB205", "z", "FROM names t"),
    ("SELECT a.k FROM a [9] AS t", "WB205", "a", "did you mean t?"),
    ("SELECT z.* FROM a [9] AS t", "WB205", "z", "FROM names t"),
    ("SELECT b.k FROM a [9] SEMI JOIN b [9] ON a.k = b.k", "WB206", "b", "never reach"),
    ("SELECT flag FROM a [9] ANTI JOIN b [9] ON a.k = b.k", "WB206", "flag", "never reach"),
    (
        "SELECT COUNT(*) FROM a [RANGE 10 SECONDS SLIDE 5 SECONDS] "
        "UNION ALL SELECT 1 EVERY (1 SECOND)",
        "WB213",
        None,
        "finer than SLIDE",
    ),
    ("SELECT k FROM a [9] WHERE s IN (SELECT y FROM b [9])", "WB220", "s", "STRING cannot be"),
    ("SELECT s FROM a [9] UNION SELECT y FROM b [9]", "WB220", None, "column 1 of UNION"),
    ("VALUES (1), ('a'), (TRUE)", "WB220", None, "column 1 of VALUES"),
    (
        "SELECT 1 FROM (SELECT k FROM a [9]) AS q JOIN (SELECT s AS k FROM b [9]) AS r USING (k)",
        "WB220",
        None,
        "INT in one input and STRING",
    ),
    ("SELECT LAG(x, 1, 'a') OVER (ORDER BY ts) FROM a [9]", "WB220", None, "LAG takes values"),
    ("SELECT k FROM a [9] WHERE x", "WB222", "x", "takes a condition"),
    ("SELECT SUM(DISTINCT x, k) FROM a [9]", "WB231", "SUM", "COUNT(DISTINCT a, b)"),
    ("SELECT LAG(x, k) OVER (ORDER BY ts) FROM a [9]", "WB232", "k", "integer literal"),
    ("SELECT NTILE(0) OVER (ORDER BY ts) FROM a [9]", "WB232", "0", "1 or more"),
    ("SELECT k FROM a [9] WHERE SUM(x) > 1", "WB240", "SUM", "HAVING"),
    ("SELECT LOWER(s) FILTER (WHERE x > 1) FROM a [9]", "WB240", "LOWER", "an aggregate"),
    ("SELECT SUM(SUM(x)) FROM a [9]", "WB241", "SUM", "nested"),
    ("SELECT SUM(s) FROM a [9]", "WB242", "s", "takes numbers"),
    ("SELECT BOOL_AND(x) FROM a [9]", "WB242", "x", "truth values"),
    ("SELECT k, x FROM a [9] GROUP BY k", "WB243", "x", "add it to GROUP BY"),
    ("SELECT k, COUNT(*) FROM a [9]", "WB243", "k", "add it to GROUP BY"),
    ("SELECT x + 1 AS k FROM a [9] GROUP BY s HAVING k > 1", "WB243", "k", "repeat the item"),
    (
        "SELECT (SELECT MAX(y) FROM b [9] WHERE b.k = a.x) AS m FROM a [9] GROUP BY a.k",
        "WB243",
        "a",
        "neither grouped nor",
    ),
    ("SELECT *, COUNT(*) FROM a [9]", "WB244", "*", "name the columns"),
    ("SELECT k AS level FROM a [9]", "WB251", "k", "reserved"),
    ("SELECT change FROM (VALUES (1)) AS t (change)", "WB251", "change", "reserved"),
    ("WITH r AS (SELECT * FROM r) SELECT * FROM r", "WB260", "r", "recursion"),
    ("SELECT * FROM busy AS q (g)", "WB261", "busy", "2 columns, but 1 names"),
    ("SELECT * FROM a [9] JOIN b [9] USING (y)", "WB262", "b", "there is no column 'y' in 'a'"),
    ("SELECT * FROM (SELECT k FROM a [9]) [9] AS q", "WB263", None, "EVERY (1 MINUTE)"),
    ("SELECT * FROM timed", "WB264", "timed", "write a window"),
    ("SELECT * FROM timed [ROWS 3] AS t", "WU246", "[", "a window of time"),
    ("SELECT * FROM TUMBLE(TABLE a, DESCRIPTOR(y), '1 minute')", "WB700", "TUMBLE", "name ts"),
    (
        "SELECT k FROM a [9] WHERE EXISTS (SELECT 1 FROM"
        " (SELECT y FROM b [9] WHERE b.k = a.k EVERY (1 SECOND)) [9 SECONDS] AS q)",
        "WU244",
        "[",
        "select the column in the sub-query",
    ),
    ("SELECT k FROM a [9] WHERE RANK() OVER (ORDER BY x) = 1", "WB265", "RANK", "in WHERE"),
    ("SELECT SUM(RANK() OVER (ORDER BY x)) FROM a [9]", "WB265", "RANK", "query in FROM"),
    ("SELECT SUM(SUM(x) OVER ()) OVER () FROM a [9]", "WB265", "SUM", "the inner one"),
    ("SELECT RANK() FROM a [9]", "WB265", "RANK", "needs OVER"),
    ("SELECT SUM(x) OVER (ORDER BY s RANGE 1 PRECEDING) FROM a [9]", "WB266", None, "no distance"),
    (
        "SELECT SUM(x) OVER (ORDER BY x, k RANGE 1 PRECEDING) FROM a [9]",
        "WB266",
        None,
        "ORDER BY of one key",
    ),
    ("SELECT (SELECT k, y FROM b [9]) FROM a [9]", "WB267", None, "one column, but this has 2"),
    ("SELECT 1 FROM a [9] WHERE k IN (SELECT k, y FROM b [9])", "WB267", None, "of 2 columns"),
    ("SELECT 1 FROM a [9] WHERE (k, x) IN ((1, 2), (3, 4, 5))", "WB267", None, "row of 3 values"),
    ("SELECT k, x FROM a [9] UNION SELECT k FROM b [9]", "WB268", None, "2 and 1 columns"),
    ("SELECT k, COUNT(*) FROM a [9] GROUP BY 3", "WB269", "3", "has 2 items"),
    ("SELECT k FROM a [9] ORDER BY 0", "WB269", "0", "count from 1"),
    ("SELECT DISTINCT k FROM a [9] ORDER BY x", "WB270", "x", "does not select"),
    ("SELECT k, GROUPING(x) FROM a [9] GROUP BY ROLLUP (k)", "WB272", "x", "does not name"),
    ("SELECT GROUPING(k) FROM a [9]", "WB272", None, "GROUP BY"),
    ("SELECT *", "WB273", "*", "without FROM"),
    ("SELECT k FROM busy ERROR (5 %)", "WU240", None, "tree of relations"),
    (
        "SELECT a.k FROM a [9] LEFT JOIN b [9] ON EXISTS "
        "(SELECT 1 FROM c [9] WHERE c.y = a.x AND c.y = b.y)",
        "WU241",
        "EXISTS",
        "query in FROM",
    ),
    ("SELECT (SELECT SUM(a.x) FROM b [9]) FROM a [9]", "WU242", "SUM", "query in FROM"),
    ("SELECT COUNT(DISTINCT x) OVER () FROM a [9]", "WU243", "COUNT", "DISTINCT with OVER"),
]
TIMED = "SELECT k FROM a [9] EVERY (5 SECONDS)"
WITH_TIMED = CATALOG.with_view(View("timed", parse_query(TIMED), TIMED))


def bound(text: str, catalog: Catalog = WITH_TIMED) -> BoundQuery:
    return bind_query(parse_query(text), catalog)


@pytest.mark.parametrize(("text", "code", "word", "part"), WRONG)
def test_it_says_what_is_wrong_and_where(text: str, code: str, word: str | None, part: str) -> None:
    error = failure(lambda: bound(text))
    assert error.hint
    assert error.code == code, error
    assert part in str(error)
    if word is not None:
        assert word_at(error) == word


def test_names_of_streams_and_views_differ() -> None:
    view = View("A", parse_query("SELECT 1"), "SELECT 1")
    assert failure(lambda: CATALOG.with_view(view)).code == "WB200"
    assert failure(lambda: CATALOG.with_view(replace(view, name="Busy"))).code == "WB207"
    stream = replace(STREAMS[0], name="BUSY")
    assert failure(lambda: CATALOG.with_stream(stream)).code == "WB207"


def test_a_view_cannot_read_itself() -> None:
    one, other = (View(f"v{i}", parse_query(f"SELECT * FROM v{3 - i}"), "") for i in (1, 2))
    error = failure(lambda: bound("SELECT * FROM v1", Catalog(*STREAMS, views=(one, other))))
    assert (error.code, word_at(error)) == ("WB260", "v1")


def test_limits_are_named() -> None:
    double = Catalog(*STREAMS)
    for i in range(MAX_NESTED_QUERIES + 2):
        last = f"v{i - 1}" if i else "a [9]"
        joined = f"SELECT l.k FROM {last} AS l JOIN {last} AS r ON l.k = r.k"
        plain = f"SELECT k FROM {last}"
        double = double.with_view(View(f"v{i}", parse_query(plain), plain))
        if i <= MAX_TREE_INPUTS.bit_length():
            last = last if i == 0 else f"w{i - 1}"
            joined = f"SELECT l.k FROM {last} AS l JOIN {last} AS r ON l.k = r.k"
            double = double.with_view(View(f"w{i}", parse_query(joined), joined))
    bound("SELECT k FROM w4", double)
    error = failure(lambda: bound("SELECT k FROM w6", double))
    assert (error.code, str(MAX_TREE_INPUTS) in error.message) == ("WB274", True)
    error = failure(lambda: bound(f"SELECT k FROM v{MAX_NESTED_QUERIES + 1}", double))
    assert (error.code, str(MAX_NESTED_QUERIES) in error.message) == ("WB275", True)


def test_queries_within_queries_are_counted() -> None:
    text = "TRUE"
    for _ in range(10):
        text = f"TRUE IN (SELECT {text})"
    error = failure(lambda: bound(f"SELECT {text} AS x"))
    assert (error.code, "more than 128 queries" in error.message) == ("WB274", True)


def test_a_chain_of_unions_is_not_deep() -> None:
    bound(" UNION ALL ".join(["SELECT 1 AS one"] * 100))
    bound(" EXCEPT ".join(["SELECT 1 AS one"] * 100))


def test_limit_is_not_negative() -> None:
    query = parse_query("SELECT k FROM a [9] ORDER BY k LIMIT 5")
    assert isinstance(query, Select)
    error = failure(lambda: bind_query(replace(query, limit=-1), CATALOG))
    assert isinstance(error, BindingError)
    assert error.code == "WB271"
    assert failure(lambda: bind_query(replace(query, offset=-2), CATALOG)).code == "WB271"


def test_service_clauses_belong_to_the_whole() -> None:
    text = "SELECT COUNT(*) AS n FROM a [9] ERROR (5 %)"
    catalog = CATALOG.with_view(View("rough", parse_query(text), text))
    error = failure(lambda: bound("SELECT n FROM rough", catalog))
    assert isinstance(error, UnsupportedError)
    assert (error.code, "ERROR is not supported in a query within" in error.message) == (
        "WU240",
        True,
    )
    assert bound(text).error_percent == 5


@pytest.mark.parametrize("clause", ["GROUP BY 1", "GROUP BY k ORDER BY n", "GROUP BY 'x', k"])
def test_an_error_is_never_lost(clause: str) -> None:
    text = f"SELECT k, COUNT(*) AS n FROM a [9] {clause}"
    assert plan_query(parse_query(text), CATALOG).error_percent is None
    error = failure(lambda: plan_query(parse_query(f"{text} ERROR (5 %)"), CATALOG))
    assert (error.code, word_at(error)) == ("WU240", "ERROR")


def test_history_is_alone() -> None:
    text = "SELECT * FROM HISTORY(a) [FROM '2026-01-01' TO NOW]"
    assert failure(lambda: bound(text)).code == "WU211"


def test_a_common_table_that_nobody_reads_is_checked() -> None:
    error = failure(lambda: bound("WITH t AS (SELECT zzz FROM a [9]) SELECT 1"))
    assert (error.code, word_at(error)) == ("WB203", "zzz")
