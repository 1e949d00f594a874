"""Casts between column types; a value that the target cannot hold is NULL in its row.

With CAST that is a fault (engine.faults), with TRY_CAST it stays NULL.

Arrow's own casts serve where they are exact. They do not for decimals to DOUBLE (the last bit is
wrong in one of seven), nor for anything that fails: there one bad row would end the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.nested_casts import cast_parts
from windrow.rows.scalar.parsing import parser_of
from windrow.rows.scalar.rounding import decimal_to_scale, fit_decimal
from windrow.rows.scalar.timestamps import TIMESTAMPS
from windrow.rows.scalar.values import (
    Checked,
    Function,
    from_numpy,
    map_distinct,
    numbers,
    over_arrays,
)
from windrow.schema import BIGINT, DOUBLE, INT, ColumnType
from windrow.times.civil import MOST_DAYS
from windrow.times.interval_texts import day_time_text
from windrow.times.moments import date_text, wall_text

__all__ = ["CASTS", "floats_to_integers"]

_SECOND_US = 1_000_000
_DAY_US = 86_400_000_000
_EXACT_INTEGER = 2**53  # integers up to here are DOUBLEs
_EXACT_POWER = 22  # 10 to powers up to here are DOUBLEs


def _cast(arguments: list[Any], kind: ColumnType) -> Any:
    (column,) = arguments
    source = column.type
    if source == kind.arrow:
        return column
    if kind.is_nested:
        found, faults = cast_parts(column, kind, _plain)
        return Checked(found, faults if faults.any() else None)
    return _plain(column, kind)


def _try_cast(arguments: list[Any], kind: ColumnType) -> Any:
    found = _cast(arguments, kind)
    return found.value if isinstance(found, Checked) else found


def _plain(column: pa.Array, kind: ColumnType) -> pa.Array:
    source = column.type
    if source == kind.arrow:
        return column
    if kind.name == "BINARY":
        return column.view(kind.arrow)
    if pa.types.is_binary(source):
        # Bytes that are not UTF-8 become the sign of what cannot be read, as in Spark.
        return map_distinct(column, _decoded, kind.arrow)
    if kind.name == "TIMESTAMP" and _is_number(source):
        return _to_timestamp(column, kind)
    if pa.types.is_string(source):
        return map_distinct(column, parser_of(kind), kind.arrow)
    if pa.types.is_decimal(source):
        return _from_decimal(column, kind)
    if pa.types.is_floating(source):
        return _from_float(column, kind)
    if pa.types.is_temporal(source):
        return _from_time(column, kind)
    return _from_integer(column, kind)


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _from_integer(column: pa.Array, kind: ColumnType) -> pa.Array:
    if kind.name == "STRING":
        return column.cast(pa.string())
    if kind.name == "BOOLEAN":
        return pc.not_equal(column, 0)
    if pa.types.is_boolean(column.type):
        return _from_integer(column.cast(pa.int8()), kind)
    if kind.name == "DECIMAL":
        return _integer_to_decimal(column, kind)
    if kind.is_float:
        return column.cast(kind.arrow, safe=False)
    try:
        return column.cast(kind.arrow)
    except pa.ArrowInvalid:
        return _narrowed(numbers(column), column, kind)


def _narrowed(values: Any, column: pa.Array, kind: ColumnType) -> pa.Array:
    limits = np.iinfo(kind.arrow.to_pandas_dtype())
    valid = (values >= limits.min) & (values <= limits.max)
    return from_numpy(np.where(valid, values, 0), kind, [column], valid)


def _integer_to_decimal(column: pa.Array, kind: ColumnType) -> pa.Array:
    """Integers as decimals: Arrow wants room for all of 64 bits, the rest goes value by value."""
    try:
        return column.cast(kind.arrow)
    except pa.ArrowInvalid:
        return map_distinct(column, lambda value: fit_decimal(Decimal(value), kind), kind.arrow)


def _from_float(column: pa.Array, kind: ColumnType) -> pa.Array:
    if kind.is_float:
        return column.cast(kind.arrow, safe=False)
    if kind.name == "BOOLEAN":
        return pc.not_equal(column, pa.scalar(0.0, column.type))
    if kind.name == "DECIMAL":
        # repr has the shortest digits that mean this double, which is what Java's valueOf takes.
        return map_distinct(
            column, lambda value: fit_decimal(Decimal(repr(value)), kind), kind.arrow
        )
    return floats_to_integers(np.trunc(numbers(column).astype(np.float64)), column, kind)


def floats_to_integers(whole: Any, column: pa.Array, kind: ColumnType) -> pa.Array:
    """Whole doubles as integers; NULL where they do not fit, or are not numbers."""
    limits = np.iinfo(kind.arrow.to_pandas_dtype())
    # 2**63 - 1 is no double: the upper limit is the first double that does not fit.
    valid = (whole >= float(limits.min)) & (whole < float(limits.max + 1))
    integers = np.where(valid, whole, 0.0).astype(np.int64)
    return from_numpy(integers.astype(kind.arrow.to_pandas_dtype()), kind, [column], valid)


def _from_decimal(column: pa.Array, kind: ColumnType) -> pa.Array:
    if kind.name == "DECIMAL":
        return decimal_to_scale(column, kind)
    if kind.is_float:
        return _decimal_to_double(column).cast(kind.arrow, safe=False)
    if kind.name == "BOOLEAN":
        return pc.not_equal(column, pa.scalar(Decimal(0), column.type))
    if kind.name == "STRING":
        return map_distinct(column, lambda value: format(value, "f"), pa.string())
    limits = np.iinfo(kind.arrow.to_pandas_dtype())
    return map_distinct(column, lambda value: _within(int(value), limits), kind.arrow)


def _within(value: int, limits: Any) -> int | None:
    return value if limits.min <= value <= limits.max else None


def _decimal_to_double(column: pa.Array) -> pa.Array:
    scale = column.type.scale
    if column.type.precision > 18 or scale > _EXACT_POWER:
        return map_distinct(column, float, pa.float64())
    # Up to 18 digits the low half of the 128 bits is the whole number.
    words = np.frombuffer(column.buffers()[1], np.int64) if len(column) else np.zeros(0, np.int64)
    unscaled = words[2 * column.offset :: 2][: len(column)]
    if len(unscaled) and np.abs(unscaled).max() > _EXACT_INTEGER:
        return map_distinct(column, float, pa.float64())
    return from_numpy(unscaled / 10.0**scale, DOUBLE, [column])


def _from_time(column: pa.Array, kind: ColumnType) -> pa.Array:
    """Times and dates; an instant is what a clock in UTC shows."""
    if pa.types.is_duration(column.type):
        return map_distinct(column.view(pa.int64()), _or_none(day_time_text), pa.string())
    if kind.name == "STRING":
        if pa.types.is_date(column.type):
            return map_distinct(column.view(pa.int32()), _or_none(date_text), pa.string())
        return map_distinct(column.view(pa.int64()), _or_none(wall_text), pa.string())
    if kind.name in ("TIMESTAMP", "TIMESTAMP_NTZ"):
        return _as_moments(column, kind)
    moments = column.view(pa.int64())
    if kind.name == "DATE":
        days = np.floor_divide(numbers(moments), _DAY_US)
        return _narrowed(days, column, INT).cast(pa.date32())
    if kind.is_float:
        seconds = numbers(moments) / float(_SECOND_US)
        return from_numpy(seconds, DOUBLE, [column]).cast(kind.arrow, safe=False)
    if kind.name == "DECIMAL":
        return map_distinct(moments, lambda value: fit_decimal(_seconds(value), kind), kind.arrow)
    return _narrowed(np.floor_divide(numbers(moments), _SECOND_US), column, kind)


def _decoded(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


def _as_moments(column: pa.Array, kind: ColumnType) -> pa.Array:
    if not pa.types.is_date(column.type):
        return column.view(kind.arrow)
    days = numbers(column.cast(pa.int32())).astype(np.int64)
    valid = np.abs(days) < MOST_DAYS
    return from_numpy(np.where(valid, days, 0) * _DAY_US, BIGINT, [column], valid).view(kind.arrow)


def _or_none(show: Callable[[int], str]) -> Callable[[int | None], str | None]:
    return lambda value: None if value is None else show(value)


def _seconds(moment: int) -> Decimal:
    return Decimal(moment).scaleb(-6)


def _to_timestamp(column: pa.Array, kind: ColumnType) -> pa.Array:
    """Numbers as seconds since 1970; a fault beyond 64 bits of microseconds is NULL."""
    if pa.types.is_decimal(column.type):
        micros = map_distinct(column, lambda value: int(value.scaleb(6)), pa.decimal128(38, 0))
        return _from_decimal(micros, BIGINT).view(kind.arrow)
    found = TIMESTAMPS["timestamp_seconds"]([column], kind)
    return found.value if isinstance(found, Checked) else found


CASTS: dict[str, Function] = {"cast": over_arrays(_cast), "try_cast": over_arrays(_try_cast)}
