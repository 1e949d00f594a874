"""+ - * and their kin: NULL where there is no value, for that row only.

Beyond 64 bits that is a fault, which engine.faults tells from a NULL among the arguments.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.values import Function, from_numpy, numbers, over_arrays
from windrow.schema import BIGINT, DOUBLE, ColumnType

__all__ = ["ARITHMETIC"]

_MIN, _MAX = -(2**63), 2**63 - 1


def _checked(kernel: Any, checked: Any, exact: Callable[..., int]) -> Function:
    """Arrow's kernel; only when an integer overflows are the rows checked one by one."""
    slow = over_arrays(lambda columns, _kind: _row_by_row(exact, columns))

    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        if kind != BIGINT:
            return _in_type(kernel(*arguments), kind)
        try:
            return checked(*arguments)
        except pa.ArrowInvalid:
            return slow(arguments, kind)

    return apply


def _in_type(value: Any, kind: ColumnType) -> Any:
    # A product of decimals has a digit more than it can fill.
    return value if value.type == kind.arrow else value.cast(kind.arrow)


def _row_by_row(exact: Callable[..., int], columns: list[pa.Array]) -> pa.Array:
    found: list[int | None] = []
    for row in zip(*(column.to_pylist() for column in columns), strict=True):
        value = None if None in row else exact(*row)
        found.append(value if value is not None and _MIN <= value <= _MAX else None)
    return pa.array(found, pa.int64())


@over_arrays
def _power(arguments: list[Any], _kind: ColumnType) -> Any:
    base, exponent = (numbers(column) for column in arguments)
    with np.errstate(all="ignore"):
        raised = np.power(base, exponent)
    # C says that 1 to any power is 1, Java (and so Spark) that 1 to NaN or infinity is NaN.
    unknown = np.isnan(exponent) | (np.isinf(exponent) & (np.abs(base) == 1))
    return from_numpy(np.where(unknown, np.nan, raised), DOUBLE, arguments)


def _logarithm(arguments: list[Any], _kind: ColumnType) -> Any:
    (value,) = arguments
    nothing = pa.scalar(None, pa.float64())
    return pc.if_else(pc.less_equal(value, 0.0), nothing, pc.ln(value))


def _sign(arguments: list[Any], _kind: ColumnType) -> Any:
    (value,) = arguments
    # A zero keeps its own sign, as in Java.
    return pc.if_else(pc.equal(value, 0.0), value, pc.sign(value))


ARITHMETIC: dict[str, Function] = {
    "+": _checked(pc.add, pc.add_checked, operator.add),
    "-": _checked(pc.subtract, pc.subtract_checked, operator.sub),
    "*": _checked(pc.multiply, pc.multiply_checked, operator.mul),
    "try_add": _checked(pc.add, pc.add_checked, operator.add),
    "try_subtract": _checked(pc.subtract, pc.subtract_checked, operator.sub),
    "try_multiply": _checked(pc.multiply, pc.multiply_checked, operator.mul),
    "negate": _checked(pc.negate, pc.negate_checked, operator.neg),
    "abs": _checked(pc.abs, pc.abs_checked, abs),
    "power": _power,
    "sqrt": lambda arguments, _kind: pc.sqrt(arguments[0]),
    "exp": lambda arguments, _kind: pc.exp(arguments[0]),
    "ln": _logarithm,
    "sign": _sign,
}
