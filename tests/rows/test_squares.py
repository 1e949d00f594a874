"""Squares in two parts: together they are the exact square."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from windrow.plan.expressions import Call, ColumnRef, Literal
from windrow.rows.evaluate import evaluate
from windrow.schema import DOUBLE

# Below this the last digits of a square are smaller than the smallest double.
LEAST = 1e-140


def parts(values: list[float | None]) -> tuple[list[float | None], list[float | None]]:
    column = pa.array(values, pa.float64())
    leaf = ColumnRef(0, "x", DOUBLE)
    square, error = (
        evaluate(Call(name, (leaf,), DOUBLE), lambda _: column, len(values)).to_pylist()
        for name in ("square", "square_error")
    )
    return square, error


@given(st.floats(min_value=LEAST, max_value=1e150), st.booleans())
@example(0.1, True)
@example(134217729.0, False)
@example(1e150, False)
def test_the_parts_add_up_exactly(size: float, negative: bool) -> None:
    value = -size if negative else size
    (square,), (error,) = parts([value])
    assert square == value * value
    assert error is not None
    assert Fraction(square) + Fraction(error) == Fraction(value) ** 2


def test_squares_that_are_not_finite_have_no_error() -> None:
    square, error = parts([1e200, -math.inf, math.nan, None, 0.0, 1e308])
    assert square[:2] == [math.inf, math.inf]
    assert square[2] is not None
    assert math.isnan(square[2])
    assert (square[3], square[4]) == (None, 0.0)
    assert error == [0.0, 0.0, 0.0, None, 0.0, 0.0]


def test_a_constant_is_squared_too() -> None:
    call = Call("square", (Literal(3.0, DOUBLE),), DOUBLE)
    assert evaluate(call, lambda _: pa.array([]), 2).to_pylist() == [9.0, 9.0]
