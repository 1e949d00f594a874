"""Plans shown, fingerprinted, written as JSON and read back."""

from __future__ import annotations

import pytest

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.explain import explain
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.plan.partitioning import partitioning
from windrow.plan.row_bytes import row_bytes
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.plan.update_pattern import update_pattern
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

COLUMNS = columns_of("k string, ts timestamp, v double, n int, p decimal(10, 2), flag boolean")
CATALOG = Catalog(StreamSchema("a", COLUMNS, "ts"), StreamSchema("b", COLUMNS, "ts"))
JOIN = "SELECT a.k, COUNT(*) AS c, SUM(a.v) AS total FROM a [60], b [60] WHERE a.k = b.k"
TEXTS = [
    JOIN + " AND a.v >= 40 GROUP BY a.k HAVING COUNT(*) > 5 EVERY (5)",
    "SELECT * FROM a",
    "SELECT n + 1 AS m, p - 0.5 AS q FROM a [ROWS 5] WHERE k IN ('x', NULL) OR v < 1e300",
    "SELECT CASE WHEN flag THEN 1 ELSE 2 END AS c FROM a [PARTITION BY k ROWS 2]",
    "SELECT AVG(n) AS m FROM a [RANGE 10 SLIDE 5] WHERE ts > '2026-01-01' AND k LIKE 'x%'",
    "SELECT k, -SUM(n) AS m FROM a [60] GROUP BY k, DATE '2026-01-01'",
]


def plan_of(text: str) -> QueryPlan:
    return bind(parse_query(text), CATALOG)


@pytest.mark.parametrize("text", TEXTS)
def test_plans_go_through_json_unchanged(text: str) -> None:
    plan = plan_of(text)
    again = plan_from_json(plan_to_json(plan))
    assert again == plan
    assert plan_to_json(again) == plan_to_json(plan)
    assert fingerprint(again) == fingerprint(plan)


def test_infinity_goes_through_json() -> None:
    plan = plan_of("SELECT n FROM a WHERE v < 1e999")
    text = plan_to_json(plan)
    assert "Infinity" not in text
    assert plan_from_json(text) == plan


def test_fingerprints_tell_meanings_apart_not_spellings() -> None:
    one = fingerprint(plan_of("SELECT n FROM a [60] WHERE v > 1"))
    assert fingerprint(plan_of("select x.n\nfrom a [1 MINUTE] as x where x.v > 1.0")) == one
    others = [
        plan_of("SELECT n FROM a [61] WHERE v > 1"),
        plan_of("SELECT n FROM a [60] WHERE v > 2"),
        plan_of("SELECT n AS m FROM a [60] WHERE v > 1"),
        plan_of("SELECT n FROM b [60] WHERE v > 1"),
        plan_of("SELECT n FROM a [60] WHERE v > 1 EVERY (5)"),
    ]
    assert len({one, *map(fingerprint, others)}) == 1 + len(others)
    late = Catalog(StreamSchema("a", COLUMNS, "ts", lateness_us=5))
    assert fingerprint(bind(parse_query("SELECT n FROM a [60] WHERE v > 1"), late)) != one


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    assert fingerprint(plan_of("SELECT n FROM a [60]")) == FIXED


FIXED = "37a76c86897d6e320d293bd1911e6dcd5e4cc0e712f58a2c1e7bde1055eac19a"


def test_a_join_explained() -> None:
    lines = explain(plan_of(TEXTS[0])).splitlines()
    assert lines == [
        "aggregate over an equi-join of two windows",
        "  input a [1 minute]",
        "    where     a.v >= 40.0",
        "    join key  a.k",
        "    memory    about 20 bytes for each row in the window",
        "  input b [1 minute]",
        "    join key  b.k",
        "    memory    about 12 bytes for each row in the window",
        "  aggregates  COUNT(*), SUM(a.v)",
        "  group by    a.k",
        "  having      COUNT(*) > 5",
        "  columns     k STRING, c BIGINT, total DOUBLE",
        "  answers     every 5 seconds of event time",
        "  updates     strict: the row of a group is replaced at every change, at no known time",
        "  buckets     by (a.k) = (b.k): rows join only with rows of an equal key",
        "  algorithm   factorised, the cheapest: one state per key and input, no joined row is "
        "formed",
        "  figures     assumed: a 1,000 rows/s, 60,000 held, b 1,000 rows/s, 60,000 held; "
        "600 matches per arriving row",
        *lines[-6:-2],
        "  paper       rows touched per arrival: incremental (3) 121,200, charged (6) 240,600",
        "  pairs       about 36,000,000 joined rows, not materialised",
    ]
    names = [line.split()[0].strip("*") or line.split()[1] for line in lines[-6:-2]]
    assert sorted(names) == ["charged", "factorised", "incremental", "pipelined"]
    assert all(line.endswith("bytes per row") for line in lines[-6:-2])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("SELECT n FROM a", "window scan"),
        ("SELECT n FROM a", "at every arrival"),
        ("SELECT n FROM a", "growing without limit"),
        ("SELECT SUM(n) AS s FROM a", "none ever leaves"),
        ("SELECT SUM(n) AS s FROM a", "one state per group"),
        ("SELECT n FROM a [60] AS x", "input a as x"),
        ("SELECT n FROM a [RANGE 10 SLIDE 5]", "[10 seconds, sliding by 5 seconds]"),
        ("SELECT n FROM a [ROWS 7]", "[last 7 rows]"),
        ("SELECT n FROM a [ROWS 7]", "one bucket"),
        ("SELECT n FROM a [PARTITION BY k ROWS 7]", "[last 7 rows of each a.k]"),
        ("SELECT n FROM a WHERE (n > 1 OR n < 0) AND k = 'it''s'", "(a.n > 1 OR a.n < 0) AND a.k"),
        ("SELECT n FROM a WHERE k = 'it''s'", "a.k = 'it''s'"),
        ("SELECT n FROM a WHERE ts > '2026-01-01'", "a.ts > TIMESTAMP '2026-01-01 00:00:00'"),
        ("SELECT n FROM a WHERE CAST(ts AS DATE) = DATE '2026-01-01'", "DATE '2026-01-01'"),
        ("SELECT n FROM a WHERE (n + 1) * 2 > 3", "(a.n + 1) * 2 > 3"),
        ("SELECT n FROM a WHERE NOT flag AND n IS NULL", "NOT (a.flag) AND a.n IS NULL"),
        ("SELECT n FROM a WHERE n IN (1, NULL)", "a.n IN (1, NULL)"),
        ("SELECT n FROM a WHERE n <=> 1 OR -n > 1", "a.n <=> 1 OR -a.n > 1"),
        ("SELECT n FROM a WHERE flag = TRUE AND p > 1.50", "a.flag = TRUE AND a.p > 1.50"),
        ("SELECT n FROM a WHERE IF(flag, 1, 2) = 1", "CASE WHEN a.flag THEN 1 ELSE 2 END = 1"),
        ("SELECT n FROM a WHERE upper(k) = 'X'", "UPPER(a.k) = 'X'"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert shown in explain(plan_of(text))


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("SELECT n FROM a", "monotonic"),
        ("SELECT n FROM a [60]", "weakest"),
        ("SELECT n FROM a [ROWS 5]", "weakest"),
        ("SELECT n FROM a [PARTITION BY k ROWS 5]", "strict"),
        ("SELECT COUNT(*) AS c FROM a", "strict"),
        ("SELECT a.n FROM a [60], b [RANGE 10 SLIDE 5] WHERE a.k = b.k", "weak"),
        ("SELECT a.n FROM a [60], b [ROWS 5] WHERE a.k = b.k", "strict"),
        ("SELECT a.n FROM a [PARTITION BY k ROWS 5], b [60] WHERE a.k = b.k", "strict"),
        ("SELECT DISTINCT n FROM a [60]", "weak"),
        ("SELECT DISTINCT n FROM a [ROWS 5]", "strict"),
        ("SELECT DISTINCT a.n FROM a [60], b [60] WHERE a.k = b.k", "weak"),
        ("SELECT a.n FROM a [60] LEFT ANTI JOIN b [60] ON a.k = b.k", "strict"),
        ("SELECT COUNT(*) AS c FROM a [60] LEFT ANTI JOIN b [60] ON a.k = b.k", "strict"),
    ],
)
def test_update_patterns(text: str, pattern: str) -> None:
    assert update_pattern(plan_of(text))[0] == pattern


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (JOIN.replace("a.k, ", ""), "key"),
        (JOIN.replace("a.k, ", "").replace("b [60]", "b [ROWS 5]"), "one"),
        (JOIN.replace("a.k, ", "").replace("b [60]", "b [PARTITION BY k ROWS 5]"), "key"),
        (JOIN.replace("a.k, ", "").replace("b [60]", "b [PARTITION BY n ROWS 5]"), "one"),
        ("SELECT n FROM a [60]", "any"),
        ("SELECT COUNT(*) AS c FROM a [60]", "any"),
        ("SELECT COUNT(*) AS c FROM a [60] GROUP BY k, 'x'", "key"),
        ("SELECT COUNT(*) AS c FROM a [ROWS 5] GROUP BY k", "one"),
        ("SELECT COUNT(*) AS c FROM a [PARTITION BY n ROWS 5] GROUP BY k", "key"),
    ],
)
def test_how_rows_are_dealt_out(text: str, kind: str) -> None:
    assert partitioning(plan_of(text)).kind == kind


def test_bytes_for_each_row() -> None:
    plan = plan_of(
        "SELECT SUM(a.v) AS s, SUM(a.n) AS m FROM a [60], b [60] WHERE a.k = b.k GROUP BY b.n"
    )
    assert [row_bytes(plan, input_index) for input_index in (0, 1)] == [28, 20]
