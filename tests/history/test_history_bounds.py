"""Bounds of expressions: every value between the bounds of the parts gives one between theirs."""

from __future__ import annotations

import math

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from support.oracle import order_of
from windrow.history.questions.bounds import Bounded, evaluate_bounded
from windrow.plan.expressions import AggregateRef, Call, Expr, Literal
from windrow.plan.types import arithmetic, convert
from windrow.rows.evaluate import evaluate_or_null
from windrow.rows.faults import FaultError
from windrow.schema import BIGINT, DOUBLE, INT

LEFT, RIGHT = AggregateRef(0, BIGINT), AggregateRef(1, DOUBLE)
integers = st.integers(-20, 20) | st.sampled_from([2**63 - 1, -(2**63), 0])
doubles = st.sampled_from([0.0, 0.1, -0.3, 1e300, -1e308, math.inf, -math.inf, math.nan]) | (
    st.floats(-50, 50)
)
COUNT_LESS_TWO = arithmetic("-", LEFT, Literal(2, INT))
leaves = st.sampled_from([LEFT, RIGHT, Literal(2, INT), Literal(-0.5, DOUBLE), COUNT_LESS_TWO])
FUNCTIONS = ("+", "-", "*", "/")


@st.composite
def expressions(draw: st.DrawFn) -> Expr:
    """Arithmetic of two levels, functions that rise, and some of which nothing is known."""
    parts = [
        arithmetic(draw(st.sampled_from(FUNCTIONS)), draw(leaves), draw(leaves)) for _ in range(2)
    ]
    whole: Expr = arithmetic(draw(st.sampled_from(FUNCTIONS)), *parts)
    if draw(st.booleans()):
        return whole
    number = convert(whole, DOUBLE)
    name = draw(st.sampled_from(["sqrt", "exp", "ln", "negate", "abs"]))
    return Call(name, (number,), DOUBLE)


def between(values: list) -> tuple:
    low, high = sorted(values[:2], key=order_of)
    inner = [value for value in values[2:] if order_of(low) <= order_of(value) <= order_of(high)]
    return low, high, [low, high, *inner]


@given(
    expressions(),
    st.lists(integers, min_size=2, max_size=5),
    st.lists(doubles, min_size=2, max_size=5),
)
def test_values_between_bounds_stay_between_them(
    expression: Expr, whole: list[int], real: list[float]
) -> None:
    one, other = between(whole), between(real)
    columns: dict[Expr, Bounded] = {
        LEFT: Bounded(*(pa.array([value], pa.int64()) for value in (one[0], one[0], one[1]))),
        RIGHT: Bounded(*(pa.array([value]) for value in (other[0], other[0], other[1]))),
    }
    try:
        found = evaluate_bounded(expression, columns.__getitem__, 1)
    except FaultError:
        return  # without a value there are no bounds of it
    low, high = found.low[0].as_py(), found.high[0].as_py()
    for left in one[2]:
        for right in other[2]:
            exact = {LEFT: pa.array([left], pa.int64()), RIGHT: pa.array([right])}
            value = evaluate_or_null(expression, exact.__getitem__, 1)[0].as_py()
            if value is None:
                continue
            assert low is None or order_of(low) <= order_of(value), (left, right, low, value)
            assert high is None or order_of(value) <= order_of(high), (left, right, value, high)


def test_bounds_are_not_given_away() -> None:
    sides = [pa.array([value], pa.int64()) for value in (6, 4, 8)]
    columns: dict[Expr, Bounded] = {LEFT: Bounded(*sides)}

    def bounds(expression: Expr) -> list:
        found = evaluate_bounded(expression, columns.__getitem__, 1)
        return [side[0].as_py() for side in (found.value, found.low, found.high)]

    assert bounds(arithmetic("*", Literal(-2, INT), LEFT)) == [-12, -16, -8]
    assert bounds(arithmetic("/", Literal(8, INT), LEFT)) == [8 / 6, 1, 2]
    assert bounds(arithmetic("-", LEFT, LEFT)) == [0, -4, 4]
    assert bounds(arithmetic("/", LEFT, arithmetic("-", LEFT, Literal(5, INT)))) == [6, None, None]
    assert bounds(Call("negate", (LEFT,), BIGINT)) == [-6, -8, -4]
    assert bounds(Call("abs", (LEFT,), BIGINT)) == [6, None, None]
    sure: dict[Expr, Bounded] = {LEFT: Bounded(*sides[:1] * 3)}
    found = evaluate_bounded(Call("abs", (LEFT,), BIGINT), sure.__getitem__, 1)
    assert (found.low[0].as_py(), found.high[0].as_py()) == (6, 6)
