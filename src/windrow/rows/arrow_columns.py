"""An Arrow column of whatever type as one of a stream's column type; nothing is bent to fit."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import BindingError
from windrow.event_time import instant_of
from windrow.rows.interval_values import interval_column
from windrow.rows.nested_columns import nested_as
from windrow.schema import DATE, DAY_TIME_INTERVAL, TIMESTAMP, TIMESTAMP_NTZ, ColumnType

__all__ = ["column_as", "without_absurd_times"]

# A decimal of this many digits holds every 64-bit integer plus the digits of any scale.
_WIDEST_DECIMAL = 38
# Units coarser than ours can say times that microseconds cannot.
_COARSE_US = {"s": 1_000_000, "ms": 1_000}


def column_as(kind: ColumnType, given: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The column as one array of that type; where it cannot be, an error of Arrow's.

    >>> from windrow.schema import decimal
    >>> column_as(decimal(10, 2), pa.chunked_array([[1], [2]])).to_pylist()
    [Decimal('1.00'), Decimal('2.00')]
    """
    column = _plain(given)
    if kind.is_nested and len(column):
        return nested_as(kind, column, column_as)
    if column.type == kind.arrow:
        return column
    if len(column) == 0:
        # A data frame without rows often knows no types either.
        return pa.array([], kind.arrow)
    _check_can_be_held(column.type, kind)
    if kind in (TIMESTAMP, TIMESTAMP_NTZ) and not pa.types.is_null(column.type):
        return _times(column).cast(kind.arrow)
    if kind.is_interval and pa.types.is_string(column.type):
        return interval_column(kind, column)
    if kind == DAY_TIME_INTERVAL and pa.types.is_duration(column.type):
        # Finer than a microsecond is cut off, as it is of times.
        return pc.cast(column, kind.arrow, safe=column.type.unit != "ns")
    if kind == DATE and pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = column.cast(pa.timestamp(column.type.unit, tz="UTC"))
    if kind.name == "DECIMAL" and pa.types.is_integer(column.type):
        column = column.cast(pa.decimal128(_WIDEST_DECIMAL, kind.scale))
    return column.cast(kind.arrow)


def without_absurd_times(given: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Times that not even microseconds can say as NULL, so that they are set aside as bad.

    >>> far = pa.array([0, 2**62]).cast(pa.timestamp("s"))
    >>> without_absurd_times(far).null_count
    1
    """
    coarse = _COARSE_US.get(given.type.unit) if pa.types.is_timestamp(given.type) else None
    if coarse is None:
        return given
    ticks, most = given.cast(pa.int64()), (2**63 - 1) // coarse
    can_be = pc.and_(pc.less_equal(ticks, most), pc.greater_equal(ticks, -most))
    return pc.if_else(can_be, given, pa.scalar(None, given.type))


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """In one piece, and in none of the encodings that only save room."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if pa.types.is_dictionary(column.type):
        # Arrow takes nothing out of a dictionary of views, which is how Polars has categories.
        words = _without_views(column.dictionary)
        column = pa.DictionaryArray.from_arrays(column.indices, words).dictionary_decode()
    return _without_views(column)


def _without_views(column: pa.Array) -> pa.Array:
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def _check_can_be_held(given: pa.DataType, kind: ColumnType) -> None:
    if pa.types.is_nested(given):
        raise pa.ArrowTypeError(f"it got {given}, which {kind} does not hold")
    if pa.types.is_duration(given) and kind != DAY_TIME_INTERVAL:
        raise pa.ArrowTypeError(f"it got {given}, which only {DAY_TIME_INTERVAL} holds")


def _times(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_timestamp(kind):
        # Finer than a microsecond is cut off; a time without zone counts as UTC.
        is_cut = kind.unit == "ns"
        return pc.cast(column, pa.timestamp("us", tz=kind.tz), safe=not is_cut).cast(
            TIMESTAMP.arrow
        )
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.array(list(map(_instant, column.to_pylist()))).cast(TIMESTAMP.arrow)
    if pa.types.is_date(kind):
        return column.cast(pa.timestamp("us")).cast(TIMESTAMP.arrow)
    raise pa.ArrowTypeError(f"{kind} is not a time")


def _instant(text: Any) -> int | None:
    try:
        return None if text is None else instant_of(text)
    except BindingError as problem:
        raise pa.ArrowInvalid(problem.message) from None
