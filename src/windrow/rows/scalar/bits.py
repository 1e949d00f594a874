"""Bits of integers. INT has 32 of them, BIGINT 64; a shift counts modulo that, as in Java."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from windrow.rows.scalar.values import Function, from_numpy, numbers, over_arrays
from windrow.schema import ColumnType

__all__ = ["BITS"]


def _shift(operate: Callable[[Any, Any], Any]) -> Function:
    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        values, by = numbers(arguments[0]), numbers(arguments[1])
        found = operate(values, (by % (8 * values.itemsize)).astype(values.dtype))
        return from_numpy(found.astype(values.dtype), kind, arguments)

    return over_arrays(apply)


def _unsigned(values: Any, by: Any) -> Any:
    kind = np.dtype(f"u{values.dtype.name}")
    return np.right_shift(values.view(kind), by.view(kind)).view(values.dtype)


@over_arrays
def _bit(arguments: list[Any], kind: ColumnType) -> Any:
    values, place = numbers(arguments[0]), numbers(arguments[1])
    valid = (place >= 0) & (place < 8 * values.itemsize)
    found = np.right_shift(values, np.where(valid, place, 0).astype(values.dtype)) & 1
    return from_numpy(found.astype(np.int8), kind, arguments, valid)


@over_arrays
def _count(arguments: list[Any], kind: ColumnType) -> Any:
    # Spark counts the bits of a negative INT as those of the BIGINT.
    values = numbers(arguments[0]).astype(np.int64).view(np.uint64)
    return from_numpy(np.bitwise_count(values).astype(np.int32), kind, arguments)


def _together(operate: Callable[..., Any]) -> Function:
    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        return from_numpy(operate(*map(numbers, arguments)), kind, arguments)

    return over_arrays(apply)


BITS: dict[str, Function] = {
    "bit_count": _count,
    "bit_get": _bit,
    "shiftleft": _shift(np.left_shift),
    "shiftright": _shift(np.right_shift),
    "shiftrightunsigned": _shift(_unsigned),
    "&": _together(np.bitwise_and),
    "|": _together(np.bitwise_or),
    "^": _together(np.bitwise_xor),
    "~": _together(np.invert),
}
