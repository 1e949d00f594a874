"""CORR, COVAR, REGR, SKEWNESS, KURTOSIS and BIT_AND against twins that count with fractions."""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import (
    Change,
    Held,
    Row,
    assert_follows,
    changing,
    in_columns,
    plain_row,
    relation,
)
from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.operators.relations.aggregate import AggregateOperator
from windrow.operators.relations.changes import Changes
from windrow.plan.relations.algebra import Aggregate, AggregateCall, Field, Item

INPUT = relation("r", "k int, x double, y double, v bigint, i int")
FIELDS = {field.name: field for field in INPUT.fields}


# ---- the slow twin


def slow_rows(node: Aggregate) -> Callable[[Held], Held]:
    """The relation of the aggregate, from that of its input."""
    ids = [field.id for field in node.input.fields]

    def rows(held: Held) -> Held:
        groups: dict[Row, list[Row]] = {} if node.groups else {(): []}
        for row, count in held.items():
            key = tuple(row[ids.index(item.expression.column)] for item in node.groups)  # type: ignore[union-attr]
            groups.setdefault(key, []).extend([row] * count)
        found: Held = Counter()
        for key, members in groups.items():
            values = []
            for call in node.calls:
                places = [ids.index(each.column) for each in call.arguments]  # type: ignore[union-attr]
                arguments = [tuple(row[place] for place in places) for row in members]
                values.append(rounded(slow_value(call, arguments)))
            found[plain_row((*key, *values))] += 1
        return found

    return rows


def slow_value(call: AggregateCall, rows: Sequence[Row]) -> Any:
    """The value over all rows of a group."""
    function = AGGREGATE_FUNCTIONS[call.function]
    there = [row for row in rows if None not in row]
    if function.form is Form.BITS:
        signs = {"all": operator.and_, "some": operator.or_, "odd": operator.xor}
        values = [row[0] for row in there]
        return functools.reduce(signs[function.formula], values) if values else None
    if len(there) < function.fewest_values:
        return None
    if any(not math.isfinite(value) for row in there for value in row):
        return math.nan
    if function.form is Form.MOMENT:
        return slow_moment([Fraction(row[0]) for row in there], function.formula)
    ys, xs = ([Fraction(row[place]) for row in there] for place in (0, 1))
    return slow_pair(ys, xs, function.formula, len(there) - function.rows_less)


def slow_moment(values: list[Fraction], formula: str) -> float | None:
    mean = sum(values) / len(values)
    second, third, fourth = (sum((each - mean) ** power for each in values) for power in (2, 3, 4))
    if not second:
        return None
    if formula == "third":
        square = third**2 * len(values) / second**3
        return math.copysign(root(square), third)
    return float(fourth * len(values) / second**2 - 3)


def slow_pair(ys: list[Fraction], xs: list[Fraction], formula: str, divisor: int) -> float | None:
    y, x = sum(ys) / len(ys), sum(xs) / len(xs)
    pairs = list(zip(ys, xs, strict=True))
    both = sum(((one - y) * (other - x) for one, other in pairs), Fraction(0))
    along, across = sum((each - x) ** 2 for each in xs), sum((each - y) ** 2 for each in ys)
    plain = {"covariance": both / divisor, "products": both}
    plain |= {"squares of x": along, "squares of y": across}
    if formula in plain:
        return float(plain[formula])
    if not along or (formula == "correlation" and not across):
        return None
    if formula == "determination":
        return float(both**2 / along / across) if across else 1.0
    if formula == "correlation":
        return math.copysign(root(both**2 / along / across), both)
    return float(both / along if formula == "slope" else y - both / along * x)


def root(square: Fraction) -> float:
    scale = 10**60
    return float(Fraction(math.isqrt(int(square * scale**2)), scale))


def rounded(value: Any) -> Any:
    """A double without its last digits."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    return float(f"{value:.11g}")


class RoundedAggregate(AggregateOperator):
    """The same with doubles rounded."""

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        found = super().advance(inputs, until)
        columns = [
            pa.array([rounded(each) for each in column.to_pylist()], column.type)
            if pa.types.is_floating(column.type)
            else column
            for column in found.columns
        ]
        return Changes(found.at, found.weight, tuple(columns))


# ---- nodes


def call_of(function: str, *names: str) -> AggregateCall:
    arguments = tuple(FIELDS[name].ref for name in names)
    kind = AGGREGATE_FUNCTIONS[function].type_of(arguments[0].type)
    name = f"{function}({names})"
    return AggregateCall(Field(f"o.{name}", name, kind), function, arguments)


def grouped(by: Sequence[str], calls: Sequence[AggregateCall]) -> Aggregate:
    items = [Item(Field(f"g.{name}", name, FIELDS[name].type), FIELDS[name].ref) for name in by]
    return Aggregate(INPUT, tuple(items), tuple(calls))


PAIRED = [each.name for each in AGGREGATE_FUNCTIONS.values() if each.form is Form.PAIRED]
MOMENTS = [each.name for each in AGGREGATE_FUNCTIONS.values() if each.form is Form.MOMENT]
BITS = [each.name for each in AGGREGATE_FUNCTIONS.values() if each.form is Form.BITS]
CALLS = [call_of(name, "y", "x") for name in PAIRED] + [call_of(name, "x") for name in MOMENTS]
COUNTED = [call_of(name, value) for name in BITS for value in ("v", "i")]
keys = st.sampled_from([(), ("k",)])
NUMBERS = [None, 0.0, 1.5, -2.0, 0.1, 1e16, -1e16, 3.0, 1e-9, math.inf, math.nan, 7e40]
ROWS = st.tuples(
    st.sampled_from([None, 0, 1]), st.sampled_from(NUMBERS), st.sampled_from(NUMBERS),
    st.sampled_from([0]), st.sampled_from([0]),
)  # fmt: skip


@st.composite
def coming_and_going(draw: st.DrawFn) -> list[Change]:
    """Rows that come, of which some leave again."""
    rows = draw(st.lists(ROWS, max_size=9))
    changes = [Change(place, 1, plain_row(row)) for place, row in enumerate(rows)]
    gone = draw(st.lists(st.sampled_from(range(len(rows))), unique=True)) if rows else []
    return changes + [Change(12 + at, -1, plain_row(rows[each])) for at, each in enumerate(gone)]


# ---- tests


@given(
    changes=coming_and_going(),
    by=keys,
    calls=st.lists(st.sampled_from(CALLS), min_size=1, max_size=3),
)
def test_sums_of_powers(
    changes: list[Change], by: tuple[str, ...], calls: list[AggregateCall]
) -> None:
    node = grouped(by, calls)
    assert_follows(RoundedAggregate, node, [changes], slow_rows(node))


@given(
    inputs=changing(INPUT),
    by=keys,
    calls=st.lists(st.sampled_from(COUNTED), min_size=1, max_size=3),
)
def test_bits(inputs: Any, by: tuple[str, ...], calls: list[AggregateCall]) -> None:
    node = grouped(by, calls)
    assert_follows(AggregateOperator, node, inputs, slow_rows(node))


@pytest.mark.parametrize("large", [1e16, 1e300, math.inf, math.nan])
def test_nothing_is_left_of_what_left(large: float) -> None:
    node = grouped((), CALLS)
    rows = [(0, place * 0.1, math.sin(place), 0, 0) for place in range(30)]
    maintained, fresh = AggregateOperator(node), AggregateOperator(node)
    guest = (0, large, -large, 0, 0)
    coming = [Change(0, 1, row) for row in rows]
    maintained.advance([in_columns([*coming, Change(0, 1, guest)], INPUT)], 0)
    last = maintained.advance([in_columns([Change(1, -1, guest)], INPUT)], 1)
    wanted = fresh.advance([in_columns(coming, INPUT)], 0)
    assert [each[-1].as_py() for each in last.columns] == [
        each[-1].as_py() for each in wanted.columns
    ]
