"""Aggregates of changing relations against their slow twins, which see all rows of a group."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import (
    LAST_INSTANT,
    Change,
    Held,
    Row,
    assert_follows,
    changing,
    in_columns,
    outcome,
    plain_changes,
    plain_row,
    relation,
)
from support.slow_aggregates import exact_sum, exact_variance, largest, smallest
from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, sum_type
from windrow.errors import DataError
from windrow.event_time import START_OF_TIME
from windrow.operators.relations.aggregate import AggregateOperator
from windrow.operators.relations.aggregates import group_sums
from windrow.operators.relations.aggregates.extremes import coded_values, extreme_values
from windrow.operators.relations.changes import Changes
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.relations.algebra import Aggregate, AggregateCall, Field, Item, Values
from windrow.schema import BIGINT, BOOLEAN, DOUBLE, ColumnType, columns_of, decimal

INPUT = relation(
    "r", "k int, s string, v bigint, i int, d double, f float, b boolean, at timestamp, on_day date"
)
MONEY = Values(
    (),
    (
        Field("r.k", "k", columns_of("k string")[0].type),
        Field("r.small", "small", decimal(18, 2)),
        Field("r.large", "large", decimal(30, 2)),
        Field("r.largest", "largest", decimal(38, 2)),
    ),
)


@pytest.fixture(autouse=True, scope="module")
def all_digits() -> Iterator[None]:
    """Python's decimals have 28 digits unless one asks for more."""
    with localcontext(prec=100):
        yield


class BeyondTypeError(ArithmeticError):
    """A sum that its type does not hold."""


# ---- the slow twin


def slow_rows(node: Aggregate) -> Callable[[Held], Held]:
    """The relation of the aggregate, from that of its input."""
    ids = [field.id for field in node.input.fields]

    def read(expression: Expr, row: Row) -> Any:
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
    traits = AGGREGATE_FUNCTIONS[call.function]
    there = [row for row in rows if None not in row]
    if call.is_distinct or call.function == "count_distinct":
        there = list(dict.fromkeys(there))
    if traits.is_count:
        return sum(1 for row in there if not traits.only_true or row[0])
    values = [row[0] for row in there]
    if not values:
        return None
    if call.function in ("min", "bool_and"):
        return min(values) if isinstance(values[0], str) else smallest(values)
    if call.function in ("max", "bool_or"):
        return max(values) if isinstance(values[0], str) else largest(values)
    if call.function in ("sum", "avg"):
        return slow_sum(call, values)
    variance = exact_variance([float(value) for value in values], traits.rows_less)
    return math.sqrt(variance) if traits.is_root and variance is not None else variance


def slow_sum(call: AggregateCall, values: list[Any]) -> Any:
    total = exact_sum(values)
    if call.function == "avg":
        return float(total) / len(values)
    if call.field.type.is_integer and not -(2**63) <= total < 2**63:
        raise BeyondTypeError
    if isinstance(total, Decimal):
        scale = call.field.type.scale
        if abs(Fraction(total)) >= 10 ** (call.field.type.precision - scale):
            raise BeyondTypeError
    return total


# ---- nodes


def call_of(function: str, *names: str, of: Values = INPUT, is_distinct: bool = False) -> Any:
    """A call over columns of the input."""
    fields = {field.name: field for field in of.fields}
    arguments = tuple(fields[name].ref for name in names)
    traits = AGGREGATE_FUNCTIONS[function]
    kind = traits.type_of(arguments[0].type if arguments else BIGINT)
    name = f"{function}{is_distinct}({','.join(names)})"
    return AggregateCall(Field(f"o.{name}", name, kind), function, arguments, is_distinct)


def grouped(by: Sequence[str], calls: Sequence[AggregateCall], of: Values = INPUT) -> Aggregate:
    """An aggregate by these columns."""
    fields = {field.name: field for field in of.fields}
    items = [Item(Field(f"g.{name}", name, fields[name].type), fields[name].ref) for name in by]
    return Aggregate(of, tuple(items), tuple(calls))


COUNTS = [
    call_of("count_star"),
    *(call_of("count", name) for name in ("v", "s", "d", "b")),
    call_of("count_if", "b"),
    *(call_of("count_distinct", name) for name in ("s", "d", "b", "at")),
    call_of("count", "k", "s", is_distinct=True),
    call_of("count", "d", is_distinct=True),
]
SUMS = [
    *(call_of("sum", name) for name in ("i", "d", "f")),
    *(call_of("avg", name) for name in ("v", "i", "d", "f")),
    *(call_of("sum", name, is_distinct=True) for name in ("i", "d")),
    *(call_of("avg", name, is_distinct=True) for name in ("v", "f")),
]
EXTREMES = [
    call_of(function, name)
    for function in ("min", "max")
    for name in ("k", "s", "v", "d", "f", "b", "at", "on_day")
] + [call_of("bool_and", "b"), call_of("bool_or", "b"), call_of("max", "s", is_distinct=True)]
SPREADS = [
    call_of(function, name, is_distinct=is_distinct)
    for function in ("stddev_samp", "stddev_pop", "var_samp", "var_pop")
    for name in ("d", "i", "v")
    for is_distinct in (False, True)
]
keys = st.sampled_from([(), ("k",), ("s",), ("k", "s"), ("d",), ("f", "b"), ("at", "on_day")])


# ---- tests


@given(inputs=changing(INPUT), by=keys, calls=st.lists(st.sampled_from(COUNTS + SUMS), max_size=4))
def test_counts_and_sums(inputs: Any, by: tuple[str, ...], calls: list[AggregateCall]) -> None:
    node = grouped(by, calls)
    assert_follows(AggregateOperator, node, inputs, slow_rows(node))


@given(inputs=changing(INPUT), by=keys, calls=st.lists(st.sampled_from(EXTREMES), max_size=3))
def test_extremes(inputs: Any, by: tuple[str, ...], calls: list[AggregateCall]) -> None:
    node = grouped(by, calls)
    assert_follows(AggregateOperator, node, inputs, slow_rows(node))


def rounded(value: Any) -> Any:
    """A double without its last digits, which a variance may have wrong."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    return float(f"{value:.12g}")


class RoundedAggregate(AggregateOperator):
    """The same with doubles rounded."""

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        found = super().advance(inputs, until)
        columns = [
            pa.array([rounded(value) for value in column.to_pylist()], column.type)
            for column in found.columns
        ]
        return Changes(found.at, found.weight, tuple(columns))


@given(
    inputs=changing(INPUT),
    by=keys,
    calls=st.lists(st.sampled_from(SPREADS + COUNTS), min_size=1, max_size=3),
)
def test_variances(inputs: Any, by: tuple[str, ...], calls: list[AggregateCall]) -> None:
    node = grouped(by, calls)
    exact = slow_rows(node)

    def slow(held: Held) -> Held:
        return Counter(tuple(map(rounded, row)) for row in exact(held).elements())

    assert_follows(RoundedAggregate, node, inputs, slow)


MONEY_CALLS = [
    call_of(function, name, of=MONEY, is_distinct=is_distinct)
    for function in ("sum", "avg", "min", "max", "count", "count_distinct")
    for name in ("small", "large", "largest")
    for is_distinct in (False, True)
]


@given(
    inputs=changing(MONEY),
    by=st.sampled_from([(), ("k",), ("small",), ("largest",), ("k", "large")]),
    calls=st.lists(st.sampled_from(MONEY_CALLS), max_size=3),
)
def test_decimals(inputs: Any, by: tuple[str, ...], calls: list[AggregateCall]) -> None:
    assert_follows_or_fails(grouped(by, calls, MONEY), inputs)


@given(inputs=changing(INPUT), is_distinct=st.booleans(), by=keys)
def test_a_sum_beyond_its_type_is_an_error(
    inputs: Any, is_distinct: bool, by: tuple[str, ...]
) -> None:
    assert_follows_or_fails(grouped(by, [call_of("sum", "v", is_distinct=is_distinct)]), inputs)


def assert_follows_or_fails(node: Aggregate, inputs: Any) -> None:
    try:
        assert_follows(AggregateOperator, node, inputs, slow_rows(node))
    except BeyondTypeError:
        for cuts in ([], range(LAST_INSTANT)):
            with pytest.raises(DataError, match=r"WD30[23]"):
                outcome(AggregateOperator(node), node, inputs, list(cuts))


def test_the_error_names_call_group_and_instant() -> None:
    node = grouped(["k"], [call_of("sum", "v")])
    row = (7, None, 2**62, *[None] * 6)
    with pytest.raises(DataError) as caught:
        outcome(AggregateOperator(node), node, [[Change(0, 1, row), Change(5, 1, row)]], [3])
    assert "SUM(v) is beyond 64 bits where k is 7, at 1970-01-01 00:00:00.000005" in str(
        caught.value
    )


@pytest.mark.parametrize("limit", [1, 1 << 40])
@given(inputs=changing(INPUT), by=keys)
def test_sums_that_outgrow_narrow_lanes(limit: int, inputs: Any, by: tuple[str, ...]) -> None:
    calls = [call_of("sum", "i"), call_of("avg", "v"), call_of("count", "s")]
    node = grouped(by, calls)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_sums, "NARROW_LIMIT", limit)
        assert_follows(AggregateOperator, node, inputs, slow_rows(node))


def test_nothing_has_one_row_without_groups() -> None:
    calls = [call_of("count_star"), call_of("sum", "d"), call_of("max", "s")]
    node = grouped([], calls)
    operator = AggregateOperator(node)
    assert plain_changes(operator.advance([in_columns([], INPUT)], 5)) == [
        Change(START_OF_TIME, 1, (0, None, None))
    ]
    assert operator.advance([in_columns([], INPUT)], 6).size == 0
    by_key = AggregateOperator(grouped(["k"], calls))
    assert by_key.advance([in_columns([], INPUT)], 5).size == 0


def test_only_net_changes_of_rows_that_differ() -> None:
    node = grouped(["k"], [call_of("max", "i")])
    rows = [(1, None, None, value, *[None] * 5) for value in (5, 3)]
    changes = [
        Change(1, 1, rows[0]),
        Change(2, 1, rows[1]),  # the maximum stays
        Change(3, -1, rows[0]),
        Change(3, 2, rows[0]),
        Change(4, -2, rows[0]),
    ]
    found = outcome(AggregateOperator(node), node, [changes], [])
    assert found == [Change(1, 1, (1, 5)), Change(4, -1, (1, 5)), Change(4, 1, (1, 3))]


def test_groups_and_arguments_may_be_expressions() -> None:
    fields = {field.name: field.ref for field in INPUT.fields}
    is_large = Call(">", (fields["i"], Literal(1, fields["i"].type)), BOOLEAN)
    twice = Call("+", (fields["d"], fields["d"]), DOUBLE)
    node = Aggregate(
        INPUT,
        (Item(Field("g", "large", BOOLEAN), is_large),),
        (AggregateCall(Field("o", "twice", DOUBLE), "sum", (twice,)),),
    )
    changes = [Change(1, 1, (None, None, None, i, d, *[None] * 4)) for i, d in [(0, 1.0), (5, 2.5)]]
    found = outcome(AggregateOperator(node), node, [changes], [])
    assert found == [Change(1, 1, (False, 2.0)), Change(1, 1, (True, 5.0))]


@pytest.mark.parametrize("weight", [2**29, 2**31 + 5, 2**40])
def test_large_weights(weight: int) -> None:
    node = grouped([], [call_of("sum", "d"), call_of("avg", "v"), call_of("count", "i")])
    row = (None, None, 3, 1, 0.1, *[None] * 4)
    found = outcome(AggregateOperator(node), node, [[Change(1, weight, row)]], [])
    assert found[-1].row == (float(Fraction(0.1) * weight), 3.0, weight)
    gone = [Change(1, weight, row), Change(2, -weight, row)]
    assert outcome(AggregateOperator(node), node, [gone], [])[-1].row == (None, None, 0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_sliding_window_of_many_values(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extreme_values, "SMALLEST_HEAP", 2)
    monkeypatch.setattr(coded_values, "SMALLEST_LETTERS", 8)
    random = np.random.default_rng(seed)
    calls = [call_of(function, name) for function in ("min", "max") for name in ("v", "s")]
    node = grouped(["k"], [*calls, call_of("count_distinct", "s")])
    rows = [
        (int(k), "t" * int(n) + str(v), int(v), *[None] * 6)
        for k, v, n in random.integers(0, [3, 90, 12], (1500, 3))
    ]
    held = 200
    changes = [Change(at, 1, row) for at, row in enumerate(rows)]
    changes += [Change(at + held, -1, row) for at, row in enumerate(rows)]
    changes.sort(key=lambda change: change.at)
    operator = AggregateOperator(node)
    last = len(rows) + held
    found = outcome(operator, node, [changes], list(range(0, last, 70)), last)
    slow = slow_rows(node)
    now: Held = Counter()
    for at in range(last):
        now = _applied(now, [change for change in found if change.at == at])
        if at % 50 == 0 or at > last - 30:
            window = Counter(rows[max(0, at - held + 1) : at + 1])
            assert now == slow(window)
    assert not now


def _applied(held: Held, changes: Sequence[Change]) -> Held:
    for change in changes:
        held[change.row] += change.weight
    return Counter({row: count for row, count in held.items() if count})


def test_what_is_gone_is_forgotten() -> None:
    """State follows what is held, not what has come."""
    calls = [call_of("max", "s"), call_of("count_distinct", "s"), call_of("sum", "d")]
    node = grouped(["k"], calls)
    operator = AggregateOperator(node)
    sizes = []
    for step in range(60):
        rows = [
            (step * 100 + n, f"text {step} {n}", None, None, 0.5, *[None] * 4) for n in range(100)
        ]
        changes = [Change(2 * step, 1, row) for row in rows]
        changes += [Change(2 * step + 1, -1, row) for row in rows]
        assert operator.growth_bytes(200) > 0
        operator.advance([in_columns(changes, INPUT)], 2 * step + 1)
        sizes.append(operator.nbytes)
    assert sizes[-1] == sizes[10]
    assert operator.nbytes < 200_000


@pytest.mark.parametrize("kind", [BIGINT, DOUBLE, decimal(18, 2)])
def test_types_are_those_of_fields(kind: ColumnType) -> None:
    assert sum_type(kind).arrow == AGGREGATE_FUNCTIONS["sum"].type_of(kind).arrow
