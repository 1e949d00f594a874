"""The format of sqllogictest files: records, tables, texts of values, and how texts become ours."""

from __future__ import annotations

import pytest

from sqllogic.duckdb_twin import DuckdbTwin, differing_rules, same_rows
from sqllogic.records import Query, read_records
from sqllogic.rendering import is_expected, rendered
from sqllogic.tables import read_tables
from sqllogic.translation import our_text

TEXT = """\
hash-threshold 8

# A comment.
statement ok
CREATE TABLE t1(a INTEGER, x VARCHAR(30))

statement ok
INSERT INTO t1(x,a) VALUES('it''s, so',NULL)

onlyif mysql # a reason
query IT rowsort label-1
SELECT a, x
  FROM t1
----
NULL
it's, so

query I valuesort
SELECT a FROM t1 WHERE a > 1
----

query I nosort
SELECT a FROM t1
----
3 values hashing to 37ccfa37a5f39c5e8c54b1f2a5b9e0f5

halt

query I nosort
SELECT 1
----
1
"""


def test_records() -> None:
    *statements, first, second, third = read_records(TEXT)
    assert len(statements) == 2
    assert isinstance(first, Query)
    assert (first.line, first.types, first.sort, first.for_mysql) == (10, "IT", "rowsort", True)
    assert first.sql == "SELECT a, x\n  FROM t1"
    assert first.expected.values == ("NULL", "it's, so")
    assert isinstance(second, Query)
    assert second.expected.values == ()
    assert not second.for_mysql
    assert isinstance(third, Query)
    assert (third.expected.values, third.expected.count) == (None, 3)


def test_tables() -> None:
    table = read_tables([each for each in read_records(TEXT) if isinstance(each, str)])["t1"]
    assert table.columns == {"a": "bigint", "x": "string"}
    assert table.rows == [(None, "it's, so")]


def test_values_become_texts_as_sqlite_shows_them() -> None:
    rows = [(2.9, "", 1), (None, "a\tb", 0.5), (True, "x", None)]
    assert rendered(rows, "ITR", "nosort") == [
        *("2", "(empty)", "1.000"),
        *("NULL", "a@b", "0.500"),
        *("1", "x", "NULL"),
    ]
    assert rendered([(10, 9), (9, 8)], "II", "rowsort") == ["10", "9", "9", "8"]
    assert rendered([(10, 9), (9, 8)], "II", "valuesort") == ["10", "8", "9", "9"]


def test_hashes() -> None:
    md5 = "c0710d6b4f15dfa88f600b0e6b624077"
    (query,) = read_records(f"query I rowsort\nSELECT a\n----\n3 values hashing to {md5}\n")
    assert isinstance(query, Query)
    assert is_expected([(3,), (1,), (2,)], query)
    assert not is_expected([(3,), (1,), (3,)], query)
    assert not is_expected([(1,), (2,)], query)


@pytest.mark.parametrize(
    ("sql", "ours"),
    [
        ("SELECT DISTINCT * FROM t1 AS u",
         "SELECT DISTINCT u.a AS value0, u.x AS value1 FROM t1 AS u"),
        ("SELECT a b FROM t1", "SELECT a b FROM t1"),
        ("SELECT a b, 2 DIV a, - a AS b FROM t1",
         "SELECT a AS value0,  2 DIV a AS value1,  - a AS value2 FROM t1"),
    ],
)  # fmt: skip
def test_texts(sql: str, ours: str) -> None:
    tables = read_tables([each for each in read_records(TEXT) if isinstance(each, str)])
    assert " ".join(our_text(sql, tables).split()) == " ".join(ours.split())
    windowed = our_text("SELECT t1.a FROM t1, t1 AS u", tables, with_windows=True)
    assert windowed == "SELECT t1.a FROM t1 [1000 DAYS], t1 [1000 DAYS] AS u"


def test_duckdb_means_what_our_dialect_says() -> None:
    twin = DuckdbTwin(read_tables(["CREATE TABLE t(a INTEGER)", "INSERT INTO t VALUES(-7)"]))
    rows = twin.rows("SELECT a / 2, a DIV 2, CAST(a / 2 AS SIGNED), a / 0 FROM t")
    twin.close()
    assert same_rows(rows, [(-3.5, -3, -3, None)])
    assert not same_rows(rows, [(-3.5, -4, -3, None)])
    assert differing_rules("SELECT a / 2") == "quotient of integers"
    assert differing_rules("SELECT a DIV 2") == ""
