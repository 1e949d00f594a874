"""What is printed parses to what was printed: examples of the documents, and generated texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.statement_texts import scripts, statements
from windrow.sql import parse_script, parse_statement, print_statement

ALARMS = """
    SELECT temp.location, COUNT(*) AS n
    FROM temp [10 MINUTES], smoke [10 MINUTES]
    WHERE temp.location = smoke.location AND temp.celsius >= 40 AND smoke.strength > 0.6
    GROUP BY temp.location HAVING COUNT(*) > 5
    EVERY (5 SECONDS)"""

_STORABLE = st.characters(exclude_characters="\0", exclude_categories=["Cs"])

EXAMPLES = [
    ALARMS,
    "SELECT AVG(celsius) FROM HISTORY(temp) [FROM '2026-01-01' TO '2026-01-02' AT 1 MINUTE]",
    "SELECT COUNT(*) FROM A [60 MINUTE]",
    "SELECT COUNT(*) FROM A [RANGE 60 MINUTES]",
    "SELECT COUNT(*) FROM A [RANGE Now-3600, Now]",
    "SELECT COUNT(*) FROM A [RANGE 60 SECONDS SLIDE 5 SECONDS]",
    "SELECT COUNT(*) FROM A [ROWS 1000]",
    "SELECT COUNT(*) FROM A [PARTITION BY k ROWS 10]",
    "SELECT COUNT(*) FROM A [UNBOUNDED]",
    "SELECT COUNT(*) FROM A",
    "SELECT SUM(a.x*b.y)/COUNT(*) FROM a [5], b [5] WHERE a.k = b.k",
    "SELECT COUNT(x), COUNT(DISTINCT x), SUM(x), AVG(x), MIN(x), MAX(x), STDDEV(x), VARIANCE(x), "
    "approx_percentile(x, 0.5) FROM s [1 DAY]",
    "SELECT * FROM s [5] ERROR (2%) EVERY (5) DURATION [70, 500]",
    "SELECT * FROM s [5] DURATION ['2026-01-01 09:30', TIMESTAMP '2026-01-01 16:00:00.5']",
    "CREATE HISTORY ON s (price, volume) GROUP BY symbol LEVELS (1 SECOND FOR 10 MINUTES, "
    "1 MINUTE FOR 1 DAY, 1 HOUR FOR 90 DAYS)",
    "SELECT symbol, AVG(price) FROM HISTORY(s) [FROM '2026-01-01 09:30' TO '2026-01-01 16:00' "
    "AT 1 MINUTE] GROUP BY symbol",
    "SELECT symbol FROM HISTORY(s) [FROM '2026-01-01 09:30+02:00' TO NOW] AS h GROUP BY symbol",
    "CREATE STREAM s (a string, p decimal(10, 2), ts timestamp) TIME ts LATENESS 10 SECONDS "
    "FROM kafka('topic', kafka.bootstrap.servers = 'host:9092', n = -5, x = 1.5, y = true)",
    "CREATE STREAM s (ts timestamp) TIME ts",
    "CREATE STREAM s (ts timestamp) TIME ts LATENESS 5 MAX AHEAD 90 MINUTES ON BAD ROW FAIL",
    "CREATE STREAM s (ts timestamp) TIME ts UNIT ms IDLE AFTER 5 KEEP 10 MINUTES FROM csv('x')",
    "CREATE STREAM s (ts bigint) TIME ts LATENESS 1 UNIT us UNKNOWN FIELDS IGNORE ON BAD ROW FAIL",
    "CREATE STREAM s (ts timestamp) TIME ts MAX AHEAD OFF ON BAD ROW SET ASIDE FROM csv('x')",
    "CREATE STREAM s (ts timestamp) TIME ts ON BAD ROW SET ASIDE INTO parquet('b') FROM csv('x')",
    "CREATE QUERY q AS SELECT a FROM t [5] INTO parquet('/tmp/x', feed = 'changes')",
    "CREATE QUERY q AS SELECT a FROM t [5] EVERY 5 INTO console",
    "EXPLAIN SELECT a FROM t [5]",
    "SET memory = '64 MB'",
    "SET spark.shuffle = 8",
    "SELECT DISTINCT a.*, * FROM A [5] AS a LEFT ANTI JOIN B [5] b ON a.k = b.k",
    "SELECT a FROM t [5] INNER JOIN u [ROWS 5] ON t.k = u.k AND t.x > u.x JOIN v [5]",
    "SELECT a FROM t [5] WHERE NOT EXISTS (SELECT 1 FROM u [5] WHERE u.k = t.k) AND (a OR b)",
    "SELECT CASE a WHEN 1 THEN 'x' END, CASE WHEN a IS NULL THEN 1 ELSE -2 END FROM t [5]",
    "SELECT CAST(a AS long), a::string, date '2026-01-01', 1L, .5, 1e6, -(-a), - -a FROM t",
    r"""SELECT 'it''s', 'it\'s', "a ""b"" ", r'\d', 'two' 'parts', '\n\t\\', '\%' FROM t""",
    "SELECT `two words`, `a``b`, `select`, error, every, duration, t.`order` FROM t",
    "SELECT a || b + c, a + b || c, (a || b) || c, a - b - c, a - (b - c), a % b * c FROM t",
    "SELECT NOT a AND !b OR c, a NOT IN (1, 2), a NOT LIKE 'x', a NOT BETWEEN 1 AND 2 FROM t",
    "SELECT a <=> b, a IS NOT DISTINCT FROM b, a IS DISTINCT FROM b, a IS NOT TRUE FROM t",
    "SELECT unknown_function(a, b), nothing(), IF(a, b, c), nvl(a, b) FROM t",
    "SELECT -- a comment\n a /* another */ FROM t /*+ no hint */",
    "SELECT 1",
    "SELECT ALL a FROM t",
    "WITH a AS (SELECT 1 FROM t [5]), b (x, y) AS (VALUES (1, 2)) SELECT * FROM a, b",
    "VALUES (1, 'a'), (2, 'b')",
    "VALUES 1, 2 ORDER BY 1 LIMIT 1",
    "SELECT a FROM (VALUES (1, 2)) AS t (a, b)",
    "SELECT a FROM (SELECT b FROM s [5] EVERY (10 SECONDS)) [1 HOUR] AS t",
    "SELECT a FROM (a [5] JOIN b [5] ON a.k = b.k) LEFT JOIN c USING (k, l)",
    "SELECT a FROM ((SELECT 1) UNION (SELECT 2)) AS t",
    "SELECT a FROM ((SELECT 1 FROM t) AS x CROSS JOIN u)",
    "SELECT a FROM ((SELECT 1 FROM t)) x",
    "SELECT a FROM t NATURAL LEFT JOIN u NATURAL JOIN v RIGHT OUTER JOIN w ON a = b FULL "
    "JOIN x ON TRUE",
    "SELECT a FROM t SEMI JOIN u ON a = b LEFT SEMI JOIN v USING (a) ANTI JOIN w ON c = d",
    "SELECT a FROM t UNION SELECT b FROM u INTERSECT ALL SELECT c FROM v EXCEPT DISTINCT "
    "SELECT d FROM w MINUS ALL SELECT e FROM w ORDER BY 1 DESC NULLS LAST LIMIT 5 OFFSET 6 "
    "EVERY (5)",
    "(SELECT a FROM t ORDER BY a LIMIT 1) UNION ALL (SELECT a FROM u UNION SELECT 1)",
    "(SELECT a FROM t LIMIT 5) LIMIT 3",
    "(SELECT a FROM t) ORDER BY a",
    "SELECT a FROM t ORDER BY a ASC NULLS LAST, b DESC OFFSET 5 ROWS FETCH FIRST 3 ROWS ONLY",
    "SELECT a FROM t FETCH NEXT ROW ONLY",
    "SELECT a, SUM(b) FROM t GROUP BY ROLLUP (a, (b, c)), CUBE (d, e), GROUPING SETS ((f), ()), g",
    "SELECT a, SUM(b) FROM t GROUP BY a, b WITH ROLLUP",
    "SELECT a, GROUPING(a), grouping_id(a, b) FROM t GROUP BY GROUPING SETS (ROLLUP (a, b), (c))",
    "SELECT a FROM t GROUP BY ()",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b DESC) AS r FROM t QUALIFY r = 1",
    "SELECT SUM(x) FILTER (WHERE a > 1) OVER w, lag(x, 1, 0) OVER (w ROWS 5 PRECEDING) "
    "FROM t WINDOW w AS (PARTITION BY a ORDER BY b), v AS (w RANGE BETWEEN INTERVAL '10' "
    "SECOND PRECEDING AND CURRENT ROW) QUALIFY rank() OVER v = 1 ORDER BY max(x) OVER w",
    "SELECT SUM(x) OVER (ORDER BY ts RANGE BETWEEN 10 SECONDS PRECEDING AND 1.5 SECONDS "
    "FOLLOWING) FROM t",
    "SELECT SUM(x) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1.5 minutes' PRECEDING AND "
    "UNBOUNDED FOLLOWING), SUM(x) OVER () FROM t",
    "SELECT SUM(x) OVER (ORDER BY n RANGE 2.5 PRECEDING) FROM t",
    "SELECT (SELECT MAX(b) FROM u [5]) + 1 FROM t WHERE EXISTS (SELECT 1 FROM u) OR NOT "
    "EXISTS (SELECT 2 FROM v) AND a NOT IN (SELECT c FROM w)",
    "SELECT a FROM t WHERE (a, b) IN (SELECT c, d FROM u) AND a >= ALL (SELECT 1 FROM v) "
    "AND a = SOME (SELECT 1 FROM v)",
    "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u) AND b",
    "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u) OR b",
    "SELECT a FROM t WHERE b AND NOT EXISTS (SELECT 1 FROM u GROUP BY a)",
    "SELECT a FROM t WHERE b AND NOT EXISTS (SELECT 1 FROM u WHERE NOT EXISTS (SELECT 1 FROM v))",
    "SELECT a FROM t WHERE ! EXISTS (SELECT 1 FROM u) AND NOT NOT EXISTS (SELECT 1 FROM u)",
    "SELECT a FROM t WHERE NOT EXISTS ((SELECT 1 FROM u) UNION SELECT 2)",
    "SELECT a IS UNKNOWN, a IS NOT UNKNOWN, + a, a IS NOT FALSE, COUNT(ALL b), "
    "COUNT(DISTINCT a, b) FROM t",
    "CREATE VIEW v AS SELECT a FROM t [5] EVERY 5",
    "CREATE QUERY q AS SELECT a FROM t UNION SELECT b FROM u INTO memory('x')",
    "EXPLAIN WITH x AS (SELECT 1) SELECT * FROM x",
    "SELECT a FROM t AS x (b, c), u",
    "WITH x AS (SELECT 1) (SELECT a FROM x LIMIT 3)",
    "SELECT ((SELECT 1)), (((SELECT 1) UNION (SELECT 2)) ORDER BY 1), ((a)) FROM t",
    "SELECT a FROM t WHERE a IN ((SELECT 1), 2)",
    "SELECT lead(x) RESPECT NULLS OVER (ORDER BY y) FROM t",
    "SELECT émile FROM température [5 HOURS]",
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_print_and_parse_back(text: str) -> None:
    statement = parse_statement(text)
    printed = print_statement(statement)
    assert parse_statement(printed) == statement
    assert print_statement(parse_statement(printed)) == printed


@given(statements())
def test_generated_statements_print_and_parse_back(text: str) -> None:
    statement = parse_statement(text)
    assert parse_statement(print_statement(statement)) == statement


@given(scripts())
def test_generated_scripts_hold_their_statements(texts: list[str]) -> None:
    assert parse_script(";\n".join(texts)) == tuple(parse_statement(text) for text in texts)


@given(st.text(_STORABLE, max_size=30))
def test_any_text_survives_as_a_value(value: str) -> None:
    from_print = parse_statement("SET a = " + _quoted(value))
    assert from_print.value == value  # type: ignore[union-attr]  # it is a SetOption
    assert parse_statement(print_statement(from_print)) == from_print


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


@given(st.text(_STORABLE, min_size=1, max_size=30))
def test_any_name_survives_in_backquotes(name: str) -> None:
    statement = parse_statement(f"SELECT `{name.replace('`', '``')}` FROM t")
    assert statement.items[0].expression.name == name  # type: ignore[union-attr]  # a Select
    assert parse_statement(print_statement(statement)) == statement


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("select A from t [60 minute]", "SELECT A FROM t [RANGE 1 HOUR] -- same"),
        ("SELECT a FROM t [RANGE Now-3600, Now]", "SELECT a FROM t [3600] AS t"),
        ("SELECT a FROM t [1.5 SECONDS]", "SELECT a FROM t [1500 MILLISECONDS]"),
        ("SELECT a x FROM t u EVERY (5)", "SELECT a AS x FROM t AS u EVERY 5 SECONDS"),
        ("SELECT a FROM t CROSS JOIN u WHERE b AND c", "SELECT a FROM t JOIN u WHERE b AND c;"),
        (
            "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u) AND b",
            "SELECT a FROM t WHERE b AND NOT EXISTS (SELECT 1 FROM u)",
        ),
        ("SELECT `a` FROM `t`", "SELECT a FROM t"),
        (
            "SELECT a FROM t MINUS SELECT b FROM u",
            "SELECT a FROM t EXCEPT DISTINCT SELECT b FROM u",
        ),
        (
            "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3",
            "(SELECT 1) UNION (SELECT 2 INTERSECT SELECT 3)",
        ),
        (
            "SELECT a FROM t GROUP BY a, ROLLUP (b, c)",
            "SELECT a FROM t GROUP BY GROUPING SETS ((a, b, c), (a, b), (a))",
        ),
        (
            "SELECT sum(x) OVER w FROM t WINDOW w AS (PARTITION BY a ORDER BY b ROWS 5 PRECEDING)",
            "SELECT sum(x) OVER (PARTITION BY a ORDER BY b ASC NULLS FIRST "
            "ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) FROM t",
        ),
        ("SELECT a FROM t FETCH FIRST ROW ONLY", "SELECT a FROM t LIMIT 1 OFFSET 0"),
        (
            "SELECT a FROM t WHERE !EXISTS (SELECT 1 FROM u)",
            "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u)",
        ),
        ("SELECT a FROM t EVERY 5 ERROR (2%)", "SELECT a FROM t ERROR (2.0%) EVERY (5)"),
        ("SELECT a != b, a::long FROM t", "SELECT a <> b, CAST(a AS bigint) FROM t"),
    ],
)
def test_statements_that_say_the_same_are_equal(left: str, right: str) -> None:
    assert parse_statement(left) == parse_statement(right)
    assert hash(parse_statement(left)) == hash(parse_statement(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("SELECT a FROM t [5]", "SELECT a FROM t [6]"),
        ("SELECT a FROM t", "SELECT b FROM t"),
        ("SELECT a FROM t", "SELECT DISTINCT a FROM t"),
        ("SELECT a FROM t WHERE b", "SELECT a FROM t WHERE NOT b"),
        ("SELECT a FROM t WHERE b - (c - d) > 1", "SELECT a FROM t WHERE b - c - d > 1"),
        ("SELECT 'A' FROM t", "SELECT 'a' FROM t"),
        ("SELECT a FROM t, u JOIN v ON b", "SELECT a FROM t JOIN u JOIN v ON b"),
        ("SELECT (SELECT a FROM t)", "SELECT (SELECT b FROM t)"),
        ("SELECT a FROM t UNION SELECT b FROM t", "SELECT a FROM t UNION ALL SELECT b FROM t"),
        ("SELECT a FROM t LEFT JOIN u USING (k)", "SELECT a FROM t LEFT JOIN u ON t.k = u.k"),
    ],
)
def test_statements_that_differ_are_not_equal(left: str, right: str) -> None:
    assert parse_statement(left) != parse_statement(right)
