"""Bound expressions over whole columns, with Arrow's kernels.

`leaf` gives the column of a ColumnRef, GroupRef or AggregateRef; the result has exactly the Arrow
type of the expression. Nothing here raises for a value: what has none in a row is NULL in that row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine.scalar.arithmetic import ARITHMETIC
from windrow.engine.scalar.casts import CASTS
from windrow.engine.scalar.comparisons import COMPARISONS
from windrow.engine.scalar.rounding import ROUNDING
from windrow.engine.scalar.squares import SQUARES
from windrow.engine.scalar.texts import TEXTS
from windrow.engine.scalar.values import Function, as_array
from windrow.plan.expressions import Call, Expr, Literal
from windrow.schema import ColumnType

__all__ = ["Leaf", "evaluate", "evaluate_filter"]

Leaf = Callable[[Expr], pa.Array]

_FUNCTIONS: dict[str, Function] = {
    **ARITHMETIC,
    **COMPARISONS,
    **CASTS,
    **ROUNDING,
    **SQUARES,
    **TEXTS,
}


def evaluate(expression: Expr, leaf: Leaf, length: int) -> pa.Array:
    """The value of the expression in each of the rows."""
    return as_array(_value(expression, leaf), length)


def evaluate_filter(expression: Expr, leaf: Leaf, length: int) -> npt.NDArray[np.bool_]:
    """Where the condition is true: neither false nor NULL."""
    if isinstance(expression, Call) and expression.function in ("and", "or"):
        # AND and OR are true on the same rows whether NULL counts as NULL or as false.
        left, right = (evaluate_filter(part, leaf, length) for part in expression.arguments)
        return left & right if expression.function == "and" else left | right
    quick = _compared_with_literal(expression, leaf)
    if quick is not None:
        return quick
    truth = evaluate(expression, leaf, length)
    if truth.null_count:
        truth = pc.fill_null(truth, False)
    where: npt.NDArray[np.bool_] = truth.to_numpy(zero_copy_only=False)
    return where


def _value(expression: Expr, leaf: Leaf) -> Any:
    if isinstance(expression, Literal):
        return pa.scalar(expression.value, expression.type.arrow)
    if not isinstance(expression, Call):
        return leaf(expression)
    arguments = [_value(part, leaf) for part in expression.arguments]
    return _FUNCTIONS[expression.function](arguments, expression.type)


# A comparison, its mirror image, and the IEEE comparison that gives it: negated where True, so that
# NaN, for which IEEE always says false, comes out larger than the literal.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_BY_IEEE: dict[str, tuple[Any, bool]] = {
    "<": (np.less, False),
    "<=": (np.less_equal, False),
    ">": (np.less_equal, True),
    ">=": (np.less, True),
    "=": (np.equal, False),
    "<>": (np.not_equal, False),
}


def _compared_with_literal(expression: Expr, leaf: Leaf) -> npt.NDArray[np.bool_] | None:
    """A column of numbers without NULL against a number: one pass, without Arrow's bitmaps."""
    if not isinstance(expression, Call) or expression.function not in _BY_IEEE:
        return None
    function, (column, number) = expression.function, expression.arguments
    if isinstance(column, Literal):
        function, column, number = _MIRRORED[function], number, column
    if not isinstance(number, Literal) or isinstance(column, (Call, Literal)):
        return None
    array = leaf(column)
    if array.null_count or not _is_plain(column.type, number.value):
        return None
    compare, negate = _BY_IEEE[function]
    found: npt.NDArray[np.bool_] = compare(
        array.to_numpy(), array.type.to_pandas_dtype()(number.value)
    )
    return np.logical_not(found, out=found) if negate else found


def _is_plain(kind: ColumnType, number: object) -> bool:
    if not isinstance(number, (int, float)) or math.isnan(number):
        return False
    return kind.is_integer or kind.is_float
