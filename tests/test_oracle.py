"""The slow twin itself, on cases worked out by hand: an oracle must not share our mistakes."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

from support.oracle import Oracle, Row, SumOverflowError, assert_same_rows
from support.slow_aggregates import exact_variance, largest, made, smallest
from support.streams import STREAMS, batch_of, instant
from windrow.plan.expressions import AggregateRef, Call, ColumnRef, Expr, GroupRef
from windrow.plan.model import (
    SEVERAL,
    Aggregate,
    OutputColumn,
    PlanInput,
    QueryPlan,
    WindowSpec,
)
from windrow.schema import BIGINT, BOOLEAN, DOUBLE, INT, ColumnType, decimal

MINUTE = WindowSpec("time", length_us=60_000_000)
Values = dict[str, object]


def column(source: int, stream: str, name: str) -> ColumnRef:
    return ColumnRef(source, name, STREAMS[stream].column(name).type)


def entry(stream: str, alias: str, keys: dict[int, Expr]) -> PlanInput:
    return PlanInput(STREAMS[stream], alias, MINUTE, None, tuple(keys.values()), tuple(keys))


def plan(inputs: tuple[PlanInput, ...], *aggregates: Aggregate) -> QueryPlan:
    shown = [
        OutputColumn(f"c{i}", AggregateRef(i, each.type), each.type)
        for i, each in enumerate(aggregates)
    ]
    return QueryPlan("", "aggregate", inputs, tuple(shown), aggregates=aggregates)


def answer(wanted: QueryPlan, **rows: list[Values]) -> list[Row]:
    """The answer at one second, of rows that all came then."""
    tables = {}
    for name in STREAMS:
        timed = tuple({"ts": instant(1_000_000), **row} for row in rows.get(name, []))
        tables[name] = pa.Table.from_batches([batch_of(name, timed)])
    return Oracle(wanted).answer_at(tables, 1_000_000)


def as_bigint(part: Expr) -> Expr:
    return Call("cast", (part,), BIGINT)


COUNT = Aggregate("count_star", None, None, BIGINT)


def test_a_chain_joins_each_pair_on_its_own_variable() -> None:
    chain = (
        entry("a", "a", {0: as_bigint(column(0, "a", "k"))}),
        entry("b", "b", {0: column(1, "b", "k"), 1: column(1, "b", "s")}),
        entry("c", "c", {1: column(2, "c", "s")}),
    )
    rows = {
        "a": [{"k": 1}, {"k": 1}, {"k": 2}, {"k": None}],
        "b": [{"k": 1, "s": "x"}, {"k": 1, "s": "y"}, {"k": 2, "s": "z"}, {"k": None, "s": "x"}],
        "c": [{"s": "x"}, {"s": "x"}, {"s": "x"}, {"s": "y"}, {"s": None}],
    }
    # (1, x): 2 of a, 3 of c; (1, y): 2 of a, 1 of c; (2, z): none of c.
    assert answer(plan(chain, COUNT), **rows) == [(8,)]


def test_a_cycle_needs_all_three() -> None:
    cycle = (
        entry("a", "a", {0: column(0, "a", "s"), 2: column(0, "a", "l")}),
        entry("b", "b", {0: column(1, "b", "s"), 1: column(1, "b", "d")}),
        entry("c", "c", {1: column(2, "c", "d"), 2: column(2, "c", "l")}),
    )
    rows = {
        "a": [{"s": "x", "l": 5}, {"s": "x", "l": 6}],
        "b": [{"s": "x", "d": math.nan}, {"s": "x", "d": -0.0}],
        "c": [{"d": math.nan, "l": 5}, {"d": 0.0, "l": 6}, {"d": 0.0, "l": 7}],
    }
    # Through NaN with l = 5, through either zero with l = 6.
    assert answer(plan(cycle, COUNT), **rows) == [(2,)]


def test_a_residual_over_all_pairs_and_groups_over_both() -> None:
    left, right = column(0, "a", "d"), column(1, "b", "d")
    product = Call("*", (left, right), DOUBLE)
    wanted = replace(
        plan((entry("a", "a", {}), entry("b", "b", {})), COUNT),
        residual=Call(">", (left, right), BOOLEAN),
        group_by=(product,),
        group_sources=(SEVERAL,),
        group_keys=(None,),
        select=(
            OutputColumn("g", GroupRef(0, DOUBLE), DOUBLE),
            OutputColumn("n", AggregateRef(0, BIGINT), BIGINT),
        ),
    )
    rows = {
        "a": [{"d": math.nan}, {"d": 2.0}, {"d": 0.0}, {"d": None}],
        "b": [{"d": 1.0}, {"d": -0.0}, {"d": -1.0}, {"d": math.nan}],
    }
    # NaN is above 1, -0 and -1, not above NaN; 2 above the same three; 0 above -1: 0 * -1 = -0.
    expected: list[Row] = [(math.nan, 3), (2.0, 1), (0.0, 2), (-2.0, 1)]
    found = answer(wanted, **rows)
    assert_same_rows(found, expected)
    assert [math.copysign(1, g) for g, _ in found if g == 0] == [1.0]


def pairs(*aggregates: Aggregate) -> QueryPlan:
    key = {0: column(0, "a", "s")}, {0: column(1, "b", "s")}
    return plan((entry("a", "a", key[0]), entry("b", "b", key[1])), *aggregates)


def test_sums_of_products_are_rounded_once() -> None:
    left, right = column(0, "a", "d"), column(1, "b", "d")
    argument = Call("*", (left, right), DOUBLE)
    product = ((left, right),)
    wanted = pairs(
        Aggregate("sum", argument, None, DOUBLE, product),
        Aggregate("avg", argument, None, DOUBLE, product),
    )
    big = [{"s": "x", "d": 1e300}, {"s": "x", "d": -1e300}, {"s": "x", "d": 0.1}, {"s": "x"}]
    # The products of 1e300 and 1e300 are beyond doubles, but cancel; NULL takes no part.
    exact = Fraction(0.1) * Fraction(1e300) + Fraction(0.1) * Fraction(3)
    found = answer(wanted, a=big, b=[{"s": "x", "d": 1e300}, {"s": "x", "d": 3.0}, {"s": "x"}])
    assert found == [(float(exact), float(exact) / 6)]
    endless = answer(wanted, a=[{"s": "x", "d": math.inf}], b=[{"s": "x", "d": 0.0}])
    assert_same_rows(endless, [(math.nan, math.nan)])
    assert answer(wanted, a=big) == [(None, None)]


def test_infinities_win_and_cancel_to_nan() -> None:
    left, right = column(0, "a", "d"), column(1, "b", "d")
    argument = Call("-", (left, right), DOUBLE)
    minus = Call("negate", (right,), DOUBLE)
    wanted = pairs(Aggregate("sum", argument, None, DOUBLE, ((left,), (minus,))))
    one, endless = [{"s": "x", "d": 1e308}], [{"s": "x", "d": math.inf}]
    assert answer(wanted, a=one, b=endless) == [(-math.inf,)]
    assert answer(wanted, a=endless, b=one) == [(math.inf,)]
    assert_same_rows(answer(wanted, a=endless, b=endless), [(math.nan,)])


def test_products_of_integers_and_decimals_are_exact() -> None:
    left, right = column(0, "a", "l"), as_bigint(column(1, "b", "l"))
    price = column(0, "a", "p")
    whole = Call("*", (left, right), BIGINT)
    scaled = decimal(18, 5)
    wanted = pairs(
        Aggregate("avg", whole, None, DOUBLE, ((left, right),)),
        Aggregate(
            "sum",
            Call("*", (price, column(1, "b", "p")), scaled),
            None,
            decimal(36, 5),
            ((price, column(1, "b", "p")),),
        ),
    )
    a = [{"s": "x", "l": 2**62, "p": Decimal("0.01")}, {"s": "x", "l": 1, "p": Decimal("2.00")}]
    found = answer(wanted, a=a, b=[{"s": "x", "l": 4, "p": Decimal("0.001")}])
    assert found == [(2.0**63, Decimal("0.00201"))]
    total = pairs(Aggregate("sum", whole, None, BIGINT, ((left, right),)))
    with pytest.raises(SumOverflowError):
        answer(total, a=a, b=[{"s": "x", "l": 4}])
    # Beyond 64 bits on the way, but not at the end.
    back = [{"s": "x", "l": 2**62}, {"s": "x", "l": -(2**62)}, {"s": "x", "l": 3}]
    assert answer(total, a=back, b=[{"s": "x", "l": 4}]) == [(12,)]


def test_extremes_distinct_values_and_variances() -> None:
    d, k = column(0, "a", "d"), column(1, "b", "k")
    both = Call("*", (d, Call("cast", (k,), DOUBLE)), DOUBLE)
    wanted = pairs(
        Aggregate("min", d, 0, DOUBLE),
        Aggregate("max", d, 0, DOUBLE),
        Aggregate("count_distinct", d, 0, BIGINT),
        Aggregate("max", both, None, DOUBLE),
        Aggregate("var_samp", Call("cast", (k,), DOUBLE), 1, DOUBLE),
        Aggregate("stddev_pop", Call("cast", (k,), DOUBLE), 1, DOUBLE),
    )
    a = [{"s": "x", "d": value} for value in (-0.0, 0.0, 3.0, None)]
    b = [{"s": "x", "k": value} for value in (-2, 4)]
    # Four rows of a meet both of b: -2 and 4 four times each, the mean 1, distances 3.
    assert answer(wanted, a=a, b=b) == [(0.0, 3.0, 2, 12.0, 72 / 7, 3.0)]
    nan = answer(wanted, a=[*a, {"s": "x", "d": math.nan}, {"s": "x", "d": math.nan}], b=b)
    assert_same_rows([nan[0][:4]], [(0.0, math.nan, 3, math.nan)])
    assert answer(wanted, a=a) == [(None, None, 0, None, None, None)]


def test_the_order_of_extremes() -> None:
    assert largest([1.0, math.inf]) == math.inf
    assert math.isnan(largest([math.nan, math.inf]))
    assert smallest([math.nan, math.inf]) == math.inf
    assert math.isnan(smallest([math.nan]))
    assert math.copysign(1, largest([-0.0, -1.0])) == 1
    assert largest([False, True]) is True


@pytest.mark.parametrize(
    ("values", "sample", "population"),
    [
        ([5.0], None, 0.0),
        ([1e16, 1e16 + 2], 2.0, 1.0),
        ([0.0, 1e200, -1e200], math.inf, math.inf),
        ([5e-324, 0.0], 0.0, 0.0),
    ],
)
def test_variances(values: list[float], sample: float | None, population: float) -> None:
    assert exact_variance(values, 1) == sample
    assert exact_variance(values, 0) == population


@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf])
def test_the_variance_of_what_is_not_finite(wild: float) -> None:
    found = exact_variance([wild, 1.0], 0)
    assert found is not None
    assert math.isnan(found)
    assert exact_variance([wild], 1) is None


@pytest.mark.parametrize(("kind", "value"), [(INT, 3), (DOUBLE, 3.0), (decimal(4, 1), "3.0")])
def test_nothing_gathered_is_null(kind: ColumnType, value: object) -> None:
    argument = ColumnRef(0, "x", kind)
    for function in ("sum", "avg", "min", "max", "var_pop", "stddev_samp"):
        assert made(Aggregate(function, argument, 0, kind), 0, None) is None
    kept = Decimal(value) if isinstance(value, str) else value
    assert made(Aggregate("min", argument, 0, kind), 1, [kept]) == kept
