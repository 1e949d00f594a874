"""Columns of times, dates and intervals as integers for NumPy, and back.

A TIMESTAMP is read as what a clock in UTC shows; in another zone the plan has a `to_wall` before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.values import Function, over_arrays
from windrow.schema import ColumnType
from windrow.times.civil import DAY_US, Integers
from windrow.times.zones import UTC_ZONE, Zone, zone_named

__all__ = [
    "checked_sum",
    "column_of",
    "days",
    "integers",
    "micros",
    "of_days",
    "of_times",
    "zone_of",
]


def integers(column: pa.Array) -> Integers:
    """The values as they are stored, 0 where NULL."""
    kind = pa.int32() if column.type.bit_width == 32 else pa.int64()
    if column.type.bit_width < 32:
        column = column.cast(kind)
    plain = column.view(kind) if column.type != kind else column
    if plain.null_count:
        plain = pc.fill_null(plain, 0)
    found: Integers = plain.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return found


def micros(column: pa.Array) -> Integers:
    """Times, or midnights of dates, as microseconds since 1970."""
    stored = integers(column)
    return stored * DAY_US if pa.types.is_date32(column.type) else stored


def days(column: pa.Array) -> Integers:
    """Dates, or the days of times, as days since 1970."""
    stored = integers(column)
    return stored if pa.types.is_date32(column.type) else np.floor_divide(stored, DAY_US)


def column_of(
    values: Any, kind: ColumnType, columns: list[pa.Array], valid: Any = None
) -> pa.Array:
    """A column of the integers: NULL where an argument is, where valid is false, and beyond it."""
    arrow = kind.arrow
    width = np.int32 if arrow.bit_width == 32 else np.int64
    if width is np.int32:
        fits = (values >= -(2**31)) & (values < 2**31)
        if not fits.all():
            valid = fits if valid is None else fits & valid
    absent = None if valid is None else ~valid
    for column in columns:
        if column.null_count:
            missing = column.is_null().to_numpy(zero_copy_only=False)
            absent = missing if absent is None else absent | missing
    stored = pa.array(np.asarray(values).astype(width), mask=absent)
    return stored if stored.type == arrow else stored.view(arrow)


def checked_sum(left: Any, right: Any) -> tuple[Any, Any]:
    """The sum of 64 bits, and where it is right."""
    with np.errstate(over="ignore"):
        total = left + right
    return total, ((left ^ total) & (right ^ total)) >= 0


def of_times(function: Callable[..., Any]) -> Function:
    """A function of microseconds to integers, over columns."""
    return over_arrays(
        lambda columns, kind: column_of(function(*map(micros, columns)), kind, columns)
    )


def of_days(function: Callable[..., Any]) -> Function:
    """A function of days to integers, over columns."""
    return over_arrays(
        lambda columns, kind: column_of(function(*map(days, columns)), kind, columns)
    )


def zone_of(value: Any) -> Zone:
    """The zone of a constant argument, which the binder has checked."""
    return zone_named(value.as_py()) or UTC_ZONE
