"""How rows that may match are dealt to one bucket, and how keys come to have one type for it."""

from __future__ import annotations

import pytest

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.plan.partitioning import partitioning
from windrow.plan.show import show
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

COLUMNS = columns_of("ts timestamp, s string, k int, l bigint, x double")
CATALOG = Catalog(*(StreamSchema(name, COLUMNS, "ts") for name in "abc"))
ONE = "FROM a [5] LEFT ANTI JOIN b [5] ON"
TWO = "FROM a [5], b [5] WHERE a.k = b.k"


def plan_of(text: str) -> QueryPlan:
    return bind(parse_query(text), CATALOG)


def without(condition: str, window: str = "5") -> str:
    return f"AND NOT EXISTS (SELECT 1 FROM c [{window}] WHERE {condition})"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        # Without negations, as for aggregates.
        (f"SELECT a.x {TWO}", [["a.k INT"], ["b.k INT"]]),
        (f"SELECT DISTINCT a.x {TWO}", [["a.k INT"], ["b.k INT"]]),
        # One joined input: any key of the match.
        (f"SELECT a.x {ONE} a.k = b.k", [["a.k INT"], ["b.k INT"]]),
        (
            f"SELECT a.x {ONE} a.k = b.l AND b.s = a.s AND a.x < b.x",
            [["a.k BIGINT", "a.s STRING"], ["b.l BIGINT", "b.s STRING"]],
        ),
        # Two negations: what is common to both, in the type of both.
        (
            f"SELECT a.x {ONE} a.k = b.k AND a.s = b.s WHERE TRUE {without('a.k = c.l')}",
            [["a.k BIGINT"], ["b.k BIGINT"], ["c.l BIGINT"]],
        ),
        # A join: its variable, which must be a key of the match.
        (
            f"SELECT a.x {TWO} {without('b.k = c.k AND b.s = c.s')}",
            [["a.k INT"], ["b.k INT"], ["c.k INT"]],
        ),
        (
            f"SELECT a.x FROM a [5], b [5] WHERE a.k = b.l {without('c.k = a.k')}",
            [["a.k BIGINT"], ["b.l BIGINT"], ["c.k BIGINT"]],
        ),
        (
            f"SELECT a.x {TWO} AND a.s = b.s {without('a.k = c.k AND a.s = c.s', '9')}",
            [["a.k INT", "a.s STRING"], ["b.k INT", "b.s STRING"], ["c.k INT", "c.s STRING"]],
        ),
        # Rows that are counted together, and values that are counted once, stay together.
        (
            f"SELECT a.x {TWO} AND a.s = b.s "
            f"{without('a.k = c.k AND a.s = c.s', 'PARTITION BY s ROWS 2')}",
            [["a.s STRING"], ["b.s STRING"], ["c.s STRING"]],
        ),
        (
            f"SELECT a.s, COUNT(DISTINCT a.x) AS n {ONE} a.k = b.k AND a.s = b.s GROUP BY a.s",
            [["a.s STRING"], ["b.s STRING"]],
        ),
    ],
)
def test_rows_are_dealt_by_keys(text: str, keys: list[list[str]]) -> None:
    plan = plan_of(text)
    found = partitioning(plan)
    assert found.kind == "key"
    shown = [[f"{show(key, plan)} {key.type}" for key in each] for each in found.keys]
    assert shown == keys


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"SELECT a.x {ONE} a.x < b.x", "b is negated without an equality"),
        (f"SELECT a.x {ONE} a.k = b.k WHERE TRUE {without('a.s = c.s')}", "no key is common"),
        (f"SELECT a.x {TWO} {without('b.s = c.s')}", "no key is common"),
        # A DOUBLE equals several BIGINT: no one type holds both equalities.
        (f"SELECT a.x {ONE} a.l = b.k WHERE TRUE {without('a.l = c.x')}", "no key is common"),
        (f"SELECT a.x {TWO} {without('b.k = c.k', 'ROWS 5')}", "c [ROWS ...] counts"),
        (
            f"SELECT a.x {TWO} {without('b.k = c.k', 'PARTITION BY s ROWS 5')}",
            "c counts rows by PARTITION BY across keys",
        ),
        (f"SELECT COUNT(DISTINCT a.x) AS n {ONE} a.k = b.k", "no key separates the values of"),
    ],
)
def test_rows_that_stay_in_one_bucket(text: str, reason: str) -> None:
    found = partitioning(plan_of(text))
    assert found.kind == "one"
    assert reason in found.reason


def test_any_row_of_a_distinct_window_may_go_anywhere() -> None:
    assert partitioning(plan_of("SELECT DISTINCT x FROM a [5]")).kind == "any"
