"""Which algorithms take a plan, which refuse it, and how rows may be dealt out to buckets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from windrow.errors import UnsupportedError
from windrow.plan.algorithms import ALGORITHMS, reasons_against
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.cost import candidates, cheapest
from windrow.plan.figures import assumed_figures
from windrow.plan.model import QueryPlan
from windrow.plan.partitioning import partitioning
from windrow.plan.show import show
from windrow.plan.update_pattern import update_pattern
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

COLUMNS = columns_of("ts timestamp, s string, k int, l bigint, x double")
CATALOG = Catalog(*(StreamSchema(name, COLUMNS, "ts") for name in "abc"))
TWO = "FROM a [5], b [5] WHERE a.k = b.k"
STAR = "FROM a [5], b [5], c [5] WHERE a.k = b.k AND b.k = c.k"
ANTI = "FROM a [5] LEFT ANTI JOIN b [5] ON a.k = b.k"
TRIANGLE = "FROM a [5], b [5], c [5] WHERE a.k = b.k AND b.l = c.l AND c.s = a.s"


def plan_of(text: str, algorithm: str = "auto") -> QueryPlan:
    return bind(parse_query(text), CATALOG, algorithm)


def able(text: str) -> set[str]:
    return {name for name, reason in reasons_against(plan_of(text)).items() if reason is None}


@pytest.mark.parametrize(
    ("text", "unable"),
    [
        (f"SELECT COUNT(*) AS n {TWO}", set()),
        (f"SELECT a.x, b.x AS y, SUM(a.x) AS n {TWO} GROUP BY a.x, b.x", set()),
        (f"SELECT STDDEV(a.x) AS n, COUNT(DISTINCT a.s) AS d {TWO}", set()),
        (f"SELECT SUM(a.x * b.x) AS n {STAR}", set()),
        ("SELECT COUNT(*) AS n FROM a [5], b [5]", set()),
        (f"SELECT MAX(a.x) AS n {TWO}", {"incremental"}),
        ("SELECT MIN(a.x) AS n FROM a [5]", {"incremental"}),
        (f"SELECT SUM(abs(a.x - b.x)) AS n {TWO}", {"factorised"}),
        (f"SELECT COUNT(*) AS n {TWO} AND a.x > b.x", {"factorised"}),
        (f"SELECT COUNT(*) AS n {TRIANGLE}", {"factorised"}),
        (f"SELECT a.x + b.x AS g, COUNT(*) AS n {TWO} GROUP BY a.x + b.x", {"factorised"}),
        (f"SELECT MAX(a.x - b.x) AS n {TWO}", {"factorised", "incremental"}),
        ("SELECT SUM(x) AS n FROM a", {"pipelined", "incremental", "charged"}),
        ("SELECT x FROM a [5]", {"pipelined", "incremental", "charged"}),
        (f"SELECT a.x {TWO}", set(ALGORITHMS)),
        ("SELECT DISTINCT x FROM a [5]", set(ALGORITHMS)),
        (f"SELECT a.x {ANTI}", set(ALGORITHMS)),
        (f"SELECT COUNT(*) AS n {ANTI}", {"charged", "factorised"}),
        (f"SELECT MIN(a.x) AS n {ANTI}", {"charged", "factorised", "incremental"}),
    ],
)
def test_who_can_run_what(text: str, unable: set[str]) -> None:
    assert able(text) == set(ALGORITHMS) - unable
    for name in unable:
        with pytest.raises(UnsupportedError, match=f"'{name}' cannot run this query: ") as caught:
            plan_of(text, name)
        assert caught.value.code == "WU214"
        assert caught.value.hint is not None
        assert all(repr(other) in caught.value.hint for other in able(text))
        assert repr(name) not in caught.value.hint


def test_reasons_say_what_is_in_the_way() -> None:
    reasons = reasons_against(plan_of(f"SELECT MAX(a.x) AS n {TWO} AND a.x > b.x"))
    assert reasons["incremental"] == "a MAX cannot be retracted when its row leaves"
    assert "a.x > b.x" in (reasons["factorised"] or "")
    assert reasons["charged"] is None


def test_a_plan_keeps_what_was_asked_for() -> None:
    for name in ("auto", *ALGORITHMS):
        assert plan_of(f"SELECT COUNT(*) AS n {TWO}", name).algorithm == name
    for name in ("auto", "factorised"):
        assert plan_of("SELECT x FROM a [5]", name).algorithm == "scan"


def test_auto_over_negations_holds_joined_rows_only_where_it_must() -> None:
    negated = "AND NOT EXISTS (SELECT 1 FROM c [5] WHERE c.k = b.k)"
    few = assumed_figures(plan_of(f"SELECT COUNT(*) AS n {TWO} {negated}"))
    sums = plan_of(f"SELECT COUNT(*) AS n {TWO} AND a.x > b.x {negated}")
    assert len(few.rates) == len(few.held) == 2
    for kept in (0.0, 1.0):
        assert cheapest(sums, replace(few, kept=kept)) == "incremental"
    # Figures of a running query may tell of all windows.
    more = replace(few, rates=(*few.rates, 9.0), held=(*few.held, 9.0))
    assert candidates(sums, more) == candidates(sums, few)
    assert cheapest(plan_of(f"SELECT MAX(a.x) AS n {TWO} {negated}"), few) == "pipelined"


def test_joins_replace_the_rows_of_their_groups() -> None:
    assert update_pattern(plan_of(f"SELECT MAX(a.x) AS n {STAR} AND a.x > b.x"))[0] == "strict"


def dealt(text: str) -> list[list[str]] | str:
    """The keys of each input, or why there is one bucket."""
    plan = plan_of(text)
    found = partitioning(plan)
    if found.kind == "one":
        return found.reason
    assert found.kind == "key"
    return [[show(key, plan) for key in keys] for keys in found.keys]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (f"SELECT COUNT(*) AS n {STAR}", [["a.k"], ["b.k"], ["c.k"]]),
        (f"SELECT MAX(a.x) AS n {STAR} AND a.x > b.x", [["a.k"], ["b.k"], ["c.k"]]),
        # b.s = a.s comes first in b, so that equal keys stand at different places.
        (
            "SELECT COUNT(*) AS n FROM a [5], b [5], c [5] "
            "WHERE b.s = c.s AND a.k = b.k AND b.k = c.k AND c.l = b.l",
            [["a.k"], ["b.k"], ["c.k"]],
        ),
        (f"SELECT SUM(a.x) AS n {TWO} AND a.s = b.s", [["a.k", "a.s"], ["b.k", "b.s"]]),
        # A value, or a group, stays in one bucket.
        (f"SELECT COUNT(DISTINCT a.k) AS n {TWO} AND a.s = b.s", [["a.k"], ["b.k"]]),
        (
            f"SELECT b.s, COUNT(DISTINCT a.x) AS n {TWO} AND a.s = b.s GROUP BY b.s",
            [["a.s"], ["b.s"]],
        ),
        (f"SELECT a.k, COUNT(DISTINCT a.x) AS n {TWO} GROUP BY a.k", [["a.k"], ["b.k"]]),
        # Rows that are counted together stay together.
        (
            "SELECT COUNT(*) AS n FROM a [PARTITION BY k ROWS 2], b [5] "
            "WHERE a.k = b.l AND a.s = b.s",
            [["a.k"], ["b.l"]],
        ),
        ("SELECT s, COUNT(DISTINCT x) AS n FROM a [5] GROUP BY s", [["a.s"]]),
        (
            "SELECT s, COUNT(DISTINCT x) AS n FROM a [PARTITION BY k, s ROWS 5] GROUP BY s",
            [["a.s"]],
        ),
        ("SELECT COUNT(DISTINCT k) AS n FROM a [PARTITION BY k, s ROWS 5]", [["a.k"]]),
    ],
)
def test_rows_are_dealt_by_keys(text: str, keys: list[list[str]]) -> None:
    assert dealt(text) == keys


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"SELECT COUNT(*) AS n {TRIANGLE}", "no join key is common to all inputs"),
        ("SELECT COUNT(*) AS n FROM a [5], b [5] WHERE a.x > b.x", "no equality"),
        (f"SELECT COUNT(*) AS n {STAR}".replace("c [5]", "c [ROWS 5]"), "c [ROWS ...] counts"),
        (
            f"SELECT COUNT(*) AS n {STAR}".replace("c [5]", "c [PARTITION BY s ROWS 5]"),
            "c counts rows by PARTITION BY across join keys",
        ),
        (f"SELECT COUNT(DISTINCT a.x) AS n {TWO}", "COUNT(DISTINCT a.x)"),
        (f"SELECT COUNT(DISTINCT a.k + a.l) AS n {TWO}", "COUNT(DISTINCT a.k + a.l)"),
        (f"SELECT COUNT(DISTINCT a.k) AS n, COUNT(DISTINCT b.x) AS m {TWO}", "counted twice"),
        ("SELECT COUNT(DISTINCT x) AS n FROM a [5]", "no GROUP BY separates"),
        (
            "SELECT COUNT(DISTINCT x) AS n FROM a [PARTITION BY k ROWS 5]",
            "no PARTITION BY separates",
        ),
    ],
)
def test_rows_that_stay_in_one_bucket(text: str, reason: str) -> None:
    found = dealt(text)
    assert isinstance(found, str)
    assert reason in found
