"""Conditions taken apart select the same joined rows, and separated sums have the same value."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.plan.model import QueryPlan
from windrow.plan.names import NamedInput, Names
from windrow.plan.rows import row_scope
from windrow.plan.types import all_of
from windrow.rows.evaluate import evaluate, evaluate_filter
from windrow.schema import BOOLEAN, StreamSchema, columns_of
from windrow.sql import parse_query

COLUMNS = columns_of(
    "ts timestamp, i int, l bigint, f float, x double, d date, p decimal(10, 2), q decimal(17, 3)"
)
ALIASES = ("a", "b", "c")
CATALOG = Catalog(*(StreamSchema(name, COLUMNS, "ts") for name in ALIASES))
# Integers that one double stands for, both zeros, NaN.
BIG = 2**53
VALUES: dict[str, list[Any]] = {
    "ts": [datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC)],
    "i": [0, 1, None],
    "l": [0, 1, BIG, BIG + 1, None],
    "f": [0.0, -0.0, 1.0, float("nan")],
    "x": [0.0, 1.0, float(BIG), float("nan"), None],
    "d": [date(1970, 1, 1), date(1970, 1, 2), None],
    "p": [Decimal("0.00"), Decimal("1.00"), None],
    "q": [Decimal("1.000"), Decimal("90071992547409.930"), Decimal("90071992547409.931"), None],
}
NUMBERS = ("i", "l", "f", "x", "p")
TIMES = ("ts", "d")
row = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()})
rows = st.lists(row, min_size=1, max_size=4)
# Rows that differ, and that a DOUBLE does not tell apart.
PLAIN = {name: values[0] for name, values in VALUES.items()}
NEAR = [{**PLAIN, "l": BIG, "x": float(BIG)}, {**PLAIN, "l": BIG + 1, "x": float(BIG)}]
CLOSE = [{**PLAIN, "q": value, "x": float(value)} for value in VALUES["q"][1:3]]


@st.composite
def equalities(draw: st.DrawFn) -> str:
    family = draw(st.sampled_from([NUMBERS, NUMBERS, TIMES, ("p", "q", "x", "i")]))
    aliases = draw(st.permutations(ALIASES))[:2]
    left, right = (f"{alias}.{draw(st.sampled_from(family))}" for alias in aliases)
    # BIGINT and DECIMAL meet in more digits than a key may have.
    if {left[2:], right[2:]} in ({"l", "p"}, {"l", "q"}) or {left[2:], right[2:]} == {"q", "i"}:
        left, right = (f"CAST({side} AS DOUBLE)" for side in (left, right))
    return f"{left} {draw(st.sampled_from(['=', '=', '=', '=', '<=', '<=>']))} {right}"


def joined(sides: list[list[dict[str, Any]]]) -> tuple[dict[tuple[int, str], pa.Array], int]:
    """All combinations of rows, as one column for each column of each input."""
    combinations = list(itertools.product(*sides))
    types = {column.name: column.type.arrow for column in COLUMNS}
    return {
        (source, name): pa.array([each[source][name] for each in combinations], kind)
        for source in range(len(sides))
        for name, kind in types.items()
    }, len(combinations)


def kept(condition: Expr | None, columns: dict[tuple[int, str], pa.Array], size: int) -> list[bool]:
    if condition is None:
        return [True] * size

    def leaf(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnRef)
        return columns[part.source, part.column]

    return [bool(truth) for truth in evaluate_filter(condition, leaf, size)]


def whole_condition(plan: QueryPlan) -> Expr | None:
    """Filters, equal keys and residual of a plan as one condition."""
    parts = [entry.filter for entry in plan.inputs if entry.filter is not None]
    keys: dict[int, list[Expr]] = {}
    for entry in plan.inputs:
        for variable, key in zip(entry.variables, entry.keys, strict=True):
            keys.setdefault(variable, []).append(key)
    for first, *others in keys.values():
        assert others, "a variable joins two inputs or more"
        assert {key.type for key in others} == {first.type}
        parts += [Call("=", (first, other), BOOLEAN) for other in others]
    if plan.residual is not None:
        parts.append(plan.residual)
    return all_of(parts)


@given(st.lists(equalities(), min_size=1, max_size=6), rows, rows, rows)
@example(["a.l = b.x", "a.l = c.l"], NEAR, NEAR, NEAR)
@example(["a.l = b.x", "b.x = c.l"], NEAR, NEAR, NEAR)
@example(["a.q = b.x", "a.q = c.q"], CLOSE, CLOSE, CLOSE)
def test_the_same_rows_join(
    conditions: list[str],
    a: list[dict[str, Any]],
    b: list[dict[str, Any]],
    c: list[dict[str, Any]],
) -> None:
    text = f"SELECT COUNT(*) AS n FROM a [5], b [5], c [5] WHERE {' AND '.join(conditions)}"
    select = parse_query(text)
    plan = bind(select, CATALOG)
    inputs = tuple(NamedInput(each.alias, each.stream, i) for i, each in enumerate(plan.inputs))
    assert select.where is not None
    written = row_scope(Names(text, inputs), "WHERE").condition(select.where, "WHERE")
    columns, size = joined([a, b, c])
    assert kept(whole_condition(plan), columns, size) == kept(written, columns, size)


small = st.integers(-1000, 1000)
FACTORS = st.sampled_from(["a.i", "b.i", "c.i", "2", "a.i * 3", "(b.i - 1)"])


@st.composite
def arguments(draw: st.DrawFn, depth: int = 3) -> str:
    if depth == 0 or draw(st.booleans()):
        return draw(FACTORS)
    left, right = draw(arguments(depth - 1)), draw(arguments(depth - 1))
    return f"({left} {draw(st.sampled_from('+-*'))} {right})"


@given(arguments(), small, small, small)
def test_terms_add_up_to_the_argument(argument: str, a: int, b: int, c: int) -> None:
    text = f"SELECT SUM({argument}) AS n FROM a [5], b [5], c [5] WHERE a.i = b.i"
    aggregate, *_ = bind(parse_query(text), CATALOG).aggregates
    assert aggregate.argument is not None
    values = {(i, "i"): pa.array([value], pa.int32()) for i, value in enumerate((a, b, c))}

    def value_of(part: Expr) -> Fraction:
        def leaf(inner: Expr) -> pa.Array:
            assert isinstance(inner, ColumnRef)
            return values[inner.source, inner.column]

        (found,) = evaluate(part, leaf, 1).to_pylist()
        return Fraction(found)

    total = Fraction(0)
    for term in aggregate.terms:
        reads = [source for factor in term for source in sources(factor)]
        assert len(term) <= 2
        assert len(set(reads)) == len(reads), "factors read different inputs"
        product = Fraction(1)
        for factor in term:
            product *= value_of(factor)
        total += product
    if aggregate.terms:
        assert total == value_of(aggregate.argument)


def sources(factor: Expr) -> set[int]:
    if isinstance(factor, ColumnRef):
        return {factor.source}
    parts = factor.arguments if isinstance(factor, Call) else ()
    return set().union(*(sources(part) for part in parts))
