"""Aggregates: what they read, their functions, and sums over several inputs taken apart."""

from __future__ import annotations

import pytest

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.expressions import Call, ColumnRef
from windrow.plan.model import Aggregate, QueryPlan
from windrow.plan.rules.separate_sums import MAX_TERMS
from windrow.plan.show import show, show_aggregate
from windrow.schema import BIGINT, DOUBLE, INT, StreamSchema, columns_of
from windrow.sql import parse_query

CATALOG = Catalog(
    StreamSchema(
        "a", columns_of("ts timestamp, s string, k int, l bigint, x double, p decimal(5, 2)"), "ts"
    ),
    StreamSchema(
        "b", columns_of("ts timestamp, s string, n int, l bigint, x double, q decimal(6, 4)"), "ts"
    ),
    StreamSchema(
        "c", columns_of("ts timestamp, s string, y bigint, x float, p decimal(3, 1)"), "ts"
    ),
)


def plan_of(aggregate: str) -> QueryPlan:
    text = f"SELECT {aggregate} AS m FROM a [5], b [5], c [5] WHERE a.s = b.s AND b.s = c.s"
    return bind(parse_query(text), CATALOG)


def one(aggregate: str) -> Aggregate:
    (found,) = plan_of(aggregate).aggregates
    return found


@pytest.mark.parametrize(
    ("written", "function"),
    [
        ("COUNT(DISTINCT a.s)", "count_distinct"),
        ("MIN(a.x)", "min"),
        ("MAX(DISTINCT a.x)", "max"),
        ("STDDEV(a.x)", "stddev_samp"),
        ("STDDEV_SAMP(a.x)", "stddev_samp"),
        ("STDDEV_POP(a.x)", "stddev_pop"),
        ("VARIANCE(a.x)", "var_samp"),
        ("VAR_SAMP(a.x)", "var_samp"),
        ("VAR_POP(a.x)", "var_pop"),
    ],
)
def test_functions(written: str, function: str) -> None:
    assert one(written).function == function
    assert one(written).source == 0


def test_min_and_max_over_distinct_values_are_the_plain_ones() -> None:
    plan = plan_of("MIN(DISTINCT a.k) + MIN(a.k)")
    assert plan.aggregates == (Aggregate("min", ColumnRef(0, "k", INT), 0, INT),)


def test_variances_are_of_doubles() -> None:
    converted = Call("cast", (ColumnRef(0, "k", INT),), DOUBLE)
    assert one("VAR_POP(a.k)") == Aggregate("var_pop", converted, 0, DOUBLE)
    assert plan_of("STDDEV(a.k) + STDDEV_SAMP(a.k)").aggregates == (
        Aggregate("stddev_samp", converted, 0, DOUBLE),
    )


@pytest.mark.parametrize(
    "written",
    ["COUNT(a.x + b.x)", "COUNT(DISTINCT concat(a.s, b.s))", "MAX(a.x - b.x)", "STDDEV(a.x - b.x)"],
)
def test_over_several_inputs_without_terms(written: str) -> None:
    found = one(written)
    assert (found.source, found.terms) == (None, ())
    assert found.argument is not None


def test_shown_as_written() -> None:
    plan = plan_of("COUNT(DISTINCT a.k) + STDDEV_POP(b.x) + MAX(a.x * b.x)")
    assert [show_aggregate(part, plan) for part in plan.aggregates] == [
        "COUNT(DISTINCT a.k)",
        "STDDEV_POP(b.x)",
        "MAX(a.x * b.x)",
    ]


def shown_terms(argument: str) -> list[str]:
    plan = plan_of(f"SUM({argument})")
    (found,) = plan.aggregates
    assert found.source is None
    assert one(f"AVG({argument})").terms == found.terms
    return [" | ".join(show(factor, plan) for factor in term) for term in found.terms]


@pytest.mark.parametrize(
    ("argument", "terms"),
    [
        ("a.x * b.x", ["a.x | b.x"]),
        ("a.x + b.x", ["a.x", "b.x"]),
        ("a.x - b.x", ["a.x", "-b.x"]),
        ("-(a.x * b.x) - c.x", ["-a.x | b.x", "-c.x"]),
        ("2 * a.x * b.x", ["2.0 * a.x | b.x"]),
        ("a.x * b.x * 0.1", ["a.x | b.x * 0.1"]),
        ("a.x * b.x / 3", ["a.x | b.x / 3.0"]),
        ("(a.x - b.x) * 0.5", ["a.x * 0.5", "-b.x * 0.5"]),
        ("(a.x - b.x) / 2", ["a.x / 2.0", "-b.x / 2.0"]),
        ("(a.x + b.x + 1) * c.x", ["a.x | c.x", "b.x | c.x", "c.x * 1.0"]),
        ("abs(a.x) * sqrt(b.x)", ["ABS(a.x) | SQRT(b.x)"]),
        ("a.k * b.n * 3 + 5", ["a.k * 3 | b.n", "5"]),
        ("a.k * b.n * (1 + 1)", ["a.k | b.n * (1 + 1)"]),
        ("(a.k + b.n) * c.x", ["a.k | c.x", "b.n | c.x"]),
        ("(a.k - b.n) * c.x", ["a.k | c.x", "b.n * -1 | c.x"]),
        # A BIGINT has no bits to spare: the constant is a factor of its own.
        ("a.l - b.l", ["a.l", "b.l | -1"]),
        ("(a.l + b.l) * 3", ["a.l | 3", "b.l | 3"]),
        ("a.k * b.l * -2", ["a.k * -2 | b.l"]),
        ("a.x * b.n", ["a.x | b.n"]),
    ],
)
def test_sums_of_products_separate(argument: str, terms: list[str]) -> None:
    assert shown_terms(argument) == terms


@pytest.mark.parametrize(
    "argument",
    [
        "abs(a.x - b.x)",
        "a.x / b.x",
        "a.x * b.x / c.x",
        "a.x * b.x * c.x",
        "a.x * b.x * a.l",
        "(a.x - b.x) * (a.x - b.x)",
        "CASE WHEN a.x > b.x THEN 1 ELSE 0 END",
        "a.x * b.x / 0",
        # Multiplied out, each part would be rounded by itself.
        "(a.x - b.x) * 0.1",
        "(a.x - b.x) / 3",
        # These integers would be rounded to doubles before they are added.
        "(a.l - b.l) * c.x",
        "(a.p + b.q) * c.x",
    ],
)
def test_what_does_not_separate(argument: str) -> None:
    assert shown_terms(argument) == []


def test_the_number_of_terms_is_bounded() -> None:
    assert len(shown_terms(" + ".join(["a.x", "b.x"] * (MAX_TERMS // 2)))) == MAX_TERMS
    assert shown_terms(" + ".join(["a.x", "b.x"] * (MAX_TERMS // 2) + ["a.x"])) == []


@pytest.mark.parametrize(
    "argument", ["a.p * b.q", "a.p + b.q + c.p", "(a.p + c.p) * 2 - b.q", "a.p * c.p * 1.5 - b.q"]
)
def test_scales_of_decimal_factors_add_up(argument: str) -> None:
    found = one(f"SUM({argument})")
    assert found.argument is not None
    assert found.terms
    for term in found.terms:
        assert sum(factor.type.scale for factor in term) == found.argument.type.scale
        assert all(factor.type.precision <= 18 for factor in term)


def test_factors_have_the_type_of_the_sum() -> None:
    for argument, kind in (("a.k * b.n + c.y", BIGINT), ("a.x * b.n + c.y", DOUBLE)):
        terms = one(f"SUM({argument})").terms
        assert {factor.type for term in terms for factor in term} == {kind}
