"""Comparisons and choices. NaN is one value, equal to itself and larger than all others.

IEEE says false to every comparison with NaN but <>. That is right for `x < y` and `x = y` as long
as y is not NaN: where one side holds none, at most a negation is needed and kernels stay plain.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.values import Function, as_array, numbers, over_arrays, true_where
from windrow.schema import ColumnType
from windrow.windows.order_bytes import order_bytes

__all__ = ["COMPARISONS", "equal"]


def equal(left: Any, right: Any) -> Any:
    """Whether left = right, where NaN equals NaN."""
    if pa.types.is_nested(left.type):
        return pc.equal(_as_bytes(left), _as_bytes(right))
    if not (_has_nan(left) and _has_nan(right)):
        return pc.equal(left, right)
    both_nan = pc.and_kleene(pc.is_nan(left), pc.is_nan(right))
    return pc.or_kleene(pc.equal(left, right), both_nan)


def _as_bytes(value: Any) -> Any:
    """Nested values as bytes, which compare as they do."""
    if isinstance(value, pa.Scalar):
        return order_bytes(as_array(value, 1))[0]
    return order_bytes(value)


def _less(left: Any, right: Any) -> Any:
    if pa.types.is_nested(left.type):
        left, right = _as_bytes(left), _as_bytes(right)
    if not _has_nan(right):
        return pc.less(left, right)
    only_right = pc.and_kleene(pc.is_nan(right), pc.invert(pc.is_nan(left)))
    return pc.or_kleene(pc.less(left, right), only_right)


def _at_most(left: Any, right: Any) -> Any:
    if pa.types.is_nested(left.type):
        left, right = _as_bytes(left), _as_bytes(right)
    # Either form is one comparison; the one whose right side holds no NaN needs no more.
    if _is_float(left) and _has_nan(right):
        return pc.invert(_less(right, left))
    return pc.less_equal(left, right)


def _is_float(value: Any) -> bool:
    return bool(pa.types.is_floating(value.type))


def _has_nan(value: Any) -> bool:
    if not _is_float(value):
        return False
    if isinstance(value, pa.Scalar):
        return bool(value.is_valid and math.isnan(value.as_py()))
    return bool(np.isnan(numbers(value)).any())


def _greater(left: Any, right: Any) -> Any:
    if _is_float(left) and not _has_nan(right):
        return pc.invert(pc.less_equal(left, right))
    return _less(right, left)


def _at_least(left: Any, right: Any) -> Any:
    if _is_float(left) and not _has_nan(right):
        return pc.invert(pc.less(left, right))
    return _at_most(right, left)


def _is_same(left: Any, right: Any) -> Any:
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.or_(true_where(equal(left, right)), both_null)


def _in(arguments: list[Any], kind: ColumnType) -> Any:
    value, *listed = arguments
    # The choices are one set for all rows; only the value is a column.
    return over_arrays(lambda columns, _kind: _among(columns[0], listed))([value], kind)


def _among(value: pa.Array, listed: list[pa.Scalar]) -> pa.Array:
    if pa.types.is_nested(value.type):
        value, listed = _as_bytes(value), [_as_bytes(each) for each in listed]
    choices = pa.array([choice.as_py() for choice in listed if choice.is_valid], value.type)
    if pa.types.is_floating(value.type):
        # Sets tell -0.0 from 0.0; adding 0.0 makes them one.
        value, choices = pc.add(value, 0.0), pc.add(choices, 0.0)
    found = pc.is_in(value, value_set=choices)
    nothing = pa.scalar(None, pa.bool_())
    if len(choices) < len(listed):
        found = pc.if_else(found, True, nothing)
    return pc.if_else(pc.is_valid(value), found, nothing) if value.null_count else found


def _case(arguments: list[Any], _kind: ColumnType) -> Any:
    result = arguments[-1]
    for index in range(len(arguments) - 3, -1, -2):
        result = pc.if_else(true_where(arguments[index]), arguments[index + 1], result)
    return result


def _null_if(arguments: list[Any], kind: ColumnType) -> Any:
    left, right = arguments
    return pc.if_else(true_where(equal(left, right)), pa.scalar(None, kind.arrow), left)


def _extreme(*, largest: bool) -> Function:
    def choose(arguments: list[Any], _kind: ColumnType) -> Any:
        best = arguments[0]
        for value in arguments[1:]:
            better = _less(best, value) if largest else _less(value, best)
            # Unknown means that one is NULL: NULL gives way to any value.
            best = pc.if_else(pc.coalesce(better, pc.is_null(best)), value, best)
        return best

    return choose


COMPARISONS: dict[str, Function] = {
    "=": lambda arguments, _kind: equal(*arguments),
    "<>": lambda arguments, _kind: pc.invert(equal(*arguments)),
    "<": lambda arguments, _kind: _less(*arguments),
    "<=": lambda arguments, _kind: _at_most(*arguments),
    ">": lambda arguments, _kind: _greater(*arguments),
    ">=": lambda arguments, _kind: _at_least(*arguments),
    "is_same": lambda arguments, _kind: _is_same(*arguments),
    "and": lambda arguments, _kind: pc.and_kleene(*arguments),
    "or": lambda arguments, _kind: pc.or_kleene(*arguments),
    "not": lambda arguments, _kind: pc.invert(arguments[0]),
    "is_null": lambda arguments, _kind: pc.is_null(arguments[0]),
    "in": _in,
    "case": _case,
    "coalesce": lambda arguments, _kind: pc.coalesce(*arguments),
    "nullif": _null_if,
    "least": _extreme(largest=False),
    "greatest": _extreme(largest=True),
}
