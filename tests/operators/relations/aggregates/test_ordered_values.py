"""FIRST, LAST, MIN_BY, MAX_BY, percentiles and MODE against slow twins that sort all rows."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

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
from windrow.operators.relations.aggregates.ordered.ordered_values import OrderedValues
from windrow.plan.expressions import Expr, Literal
from windrow.plan.relations.algebra import Aggregate, AggregateCall, Field, Item
from windrow.schema import BOOLEAN, DOUBLE

INPUT = relation("r", "k int, s string, v bigint, d double, f float, b boolean, at timestamp")
FIELDS = {field.name: field for field in INPUT.fields}
TRUE = Literal(True, BOOLEAN)


# ---- the slow twin


def slow_rows(node: Aggregate) -> Callable[[Held], Held]:
    """The relation of the aggregate, from that of its input."""
    ids = [field.id for field in node.input.fields]

    def read(expression: Expr, row: Row) -> Any:
        if isinstance(expression, Literal):
            return expression.value
        return row[ids.index(expression.column)]  # type: ignore[union-attr]

    def rows(held: Held) -> Held:
        groups: dict[Row, list[Row]] = {} if node.groups else {(): []}
        for row, count in held.items():
            key = tuple(read(item.expression, row) for item in node.groups)
            groups.setdefault(key, []).extend([row] * count)
        found: Held = Counter()
        for key, members in groups.items():
            values = [
                slow_value(call, [tuple(read(a, row) for a in call.arguments) for row in members])
                for call in node.calls
            ]
            found[plain_row((*key, *values))] += 1
        return found

    return rows


def slow_value(call: AggregateCall, rows: Sequence[Row]) -> Any:
    """The value of a call over the values of its arguments in all rows of a group."""
    function = AGGREGATE_FUNCTIONS[call.function]
    if function.form is Form.CHOSEN:
        there = [row for row in rows if row[1] is not None]
        ordered = sorted(there, key=lambda row: [in_order(value) for value in row[2:]])
        return ordered[-1 if function.is_greatest else 0][0] if ordered else None
    if function.form is Form.CHOSEN_BY:
        return slow_chosen_by(rows, -1 if function.is_greatest else 1)
    values = sorted((row[0] for row in rows if row[0] is not None), key=in_order)
    if not values:
        return None
    if function.form is Form.MOST_FREQUENT:
        counts = Counter(map(in_order, values))
        best = max(counts.values())
        most = [value for value in values if counts[in_order(value)] == best]
        return most[-1 if call.arguments[2].value else 0]  # type: ignore[union-attr]
    fraction, is_descending = rows[0][1:3]
    values = values[::-1] if is_descending else values
    found = slow_ranked(values, fraction, is_nearest=function.is_nearest)
    return float(found) if call.field.type == DOUBLE else found


def slow_chosen_by(rows: Sequence[Row], sign: int) -> Any:
    there = [row for row in rows if row[1] is not None]

    def compare(one: Row, other: Row) -> int:
        mine, theirs = in_order(one[1]), in_order(other[1])
        if mine != theirs:
            return sign if mine > theirs else -sign
        values = [(row[0] is None, in_order(row[0])) for row in (one, other)]
        return (values[0] > values[1]) - (values[0] < values[1])

    return min(there, key=functools.cmp_to_key(compare))[0] if there else None


def slow_ranked(values: list[Any], fraction: float, *, is_nearest: bool) -> Any:
    if is_nearest:
        return values[max(math.ceil(fraction * len(values)) - 1, 0)]
    position = fraction * (len(values) - 1)
    low, high = float(values[math.floor(position)]), float(values[math.ceil(position)])
    if low == high or position == math.floor(position):
        return low
    return (math.ceil(position) - position) * low + (position - math.floor(position)) * high


def in_order(value: Any) -> Any:
    """NULL first, NaN last; 0.0 and -0.0 are one."""
    if value is None:
        return (0, 0, 0)
    is_nan = isinstance(value, float) and math.isnan(value)
    return (1, is_nan, 0 if is_nan else value)


# ---- nodes


def call_of(function: str, value: str, *arguments: Expr) -> AggregateCall:
    """A call over columns of the input."""
    first = FIELDS[value]
    kind = AGGREGATE_FUNCTIONS[function].type_of(first.type)
    name = f"{function}({value}, {arguments})"
    return AggregateCall(Field(f"o.{name}", name, kind), function, (first.ref, *arguments))


def ranked(function: str, value: str, fraction: float, is_descending: bool) -> AggregateCall:
    return call_of(function, value, Literal(fraction, DOUBLE), Literal(is_descending, BOOLEAN))


def grouped(by: Sequence[str], calls: Sequence[AggregateCall]) -> Aggregate:
    items = [Item(Field(f"g.{name}", name, FIELDS[name].type), FIELDS[name].ref) for name in by]
    return Aggregate(INPUT, tuple(items), tuple(calls))


ROWS = [field.ref for field in INPUT.fields]
CHOSEN = [
    call_of(function, value, needed, FIELDS["at"].ref, *ROWS[:-1])
    for function in ("first_row", "last_row", "any_row")
    for value in ("s", "d", "at")
    for needed in (TRUE, FIELDS["b"].ref)
]
CHOSEN_BY = [
    call_of(function, value, FIELDS[by].ref)
    for function in ("min_by", "max_by")
    for value, by in (("s", "d"), ("d", "s"), ("v", "at"), ("k", "k"), ("f", "b"))
]
RANKED = [
    ranked(function, value, fraction, is_descending)
    for function in ("percentile", "percentile_disc", "percentile_nearest")
    for value in ("d", "v", "f")
    for fraction in (0.0, 0.25, 0.5, 0.9, 1.0)
    for is_descending in (False, True)
] + [ranked("percentile_disc", value, 0.5, False) for value in ("s", "at", "b")]
MOST = [
    ranked("most_frequent", value, 0.0, is_descending)
    for value in ("s", "d", "k", "b")
    for is_descending in (False, True)
]
keys = st.sampled_from([(), ("k",), ("s",), ("d", "b")])
calls = st.lists(st.sampled_from(CHOSEN + CHOSEN_BY + RANKED + MOST), min_size=1, max_size=4)


# ---- tests


@given(inputs=changing(INPUT), by=keys, calls=calls)
def test_values_in_order(inputs: Any, by: tuple[str, ...], calls: list[AggregateCall]) -> None:
    node = grouped(by, calls)
    assert_follows(AggregateOperator, node, inputs, slow_rows(node))


def test_calls_with_one_order_share_their_rows() -> None:
    shared = grouped((), [CHOSEN[0], CHOSEN[2], CHOSEN[6], ranked("percentile", "v", 0.1, False)])
    operator = AggregateOperator(
        grouped((), [*shared.calls, ranked("percentile", "v", 0.9, False)])
    )
    orders = [each for each in vars(operator)["_ordered"] if isinstance(each, OrderedValues)]
    assert len(orders) == 2


def test_what_left_is_not_held() -> None:
    operator = AggregateOperator(grouped(("k",), [RANKED[0], MOST[0], CHOSEN[0]]))
    rows = [
        (place % 7, f"text {place}", place, float(place), 0.0, True, None) for place in range(500)
    ]
    sizes = []
    for round_ in range(6):
        for step, weight in enumerate((1, -1)):
            at = 2 * round_ + step
            changes = [Change(at, weight, row) for row in rows]
            operator.advance([in_columns(changes, INPUT)], at)
        sizes.append(operator.nbytes)
    assert sizes[-1] == sizes[1]
