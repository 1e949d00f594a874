"""Arrow tables as JSON, column by column, at the last moment.

Times and spans are integers of microseconds. NULL is null; NaN and infinities are texts, and so are
decimals, and integers that a JavaScript number cannot hold.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.event_time import instant_of, span_of

__all__ = ["column_types", "dumped", "plain_columns", "plain_rows"]

LARGEST_SAFE_INTEGER = 2**53 - 1


def dumped(value: object) -> str:
    """One JSON text, as short as can be; numbers that JSON does not have are refused."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def column_types(schema: pa.Schema) -> list[dict[str, str]]:
    """Names and types of columns, by the names that queries use for them.

    >>> column_types(pa.schema([("n", pa.int64()), ("at", pa.timestamp("us", "UTC"))]))
    [{'name': 'n', 'type': 'BIGINT'}, {'name': 'at', 'type': 'TIMESTAMP'}]
    """
    return [{"name": field.name, "type": _type_name(field.type)} for field in schema]


def plain_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """Rows of values that JSON can hold.

    >>> plain_rows(pa.table({"n": [1, 2**60], "x": [0.5, float("nan")]}))
    [(1, 0.5), ('1152921504606846976', 'NaN')]
    """
    if table.num_columns == 0:
        return [()] * table.num_rows
    return list(zip(*(_plain_column(column) for column in table.columns), strict=True))


def plain_columns(table: pa.Table) -> dict[str, list[Any]]:
    """Columns of values that JSON can hold, by name."""
    return {name: _plain_column(table.column(name)) for name in table.column_names}


def _plain_column(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    if pa.types.is_timestamp(kind):
        column, kind = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64()), pa.int64()
    elif pa.types.is_duration(kind):
        column, kind = column.cast(pa.duration("us")).cast(pa.int64()), pa.int64()
    if pa.types.is_floating(kind):
        values: list[Any] = column.to_pylist()
        # Of a column without any odd value, which is the usual one, no value is looked at.
        is_plain = pc.all(pc.is_finite(column), min_count=0).as_py()
        return values if is_plain is not False else [*map(_number, values)]
    if pa.types.is_int64(kind) or pa.types.is_uint64(kind):
        values = column.to_pylist()
        largest = pc.min_max(column).as_py()
        is_plain = all(abs(each or 0) <= LARGEST_SAFE_INTEGER for each in largest.values())
        return values if is_plain else [*map(_whole, values)]
    if pa.types.is_decimal(kind) or pa.types.is_date(kind):
        return [None if each is None else str(each) for each in column.to_pylist()]
    if pa.types.is_nested(kind):
        return [*map(_plain, column.to_pylist())]
    plain: list[Any] = column.to_pylist()
    return plain


def _number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _whole(value: int | None) -> int | str | None:
    return value if value is None or abs(value) <= LARGEST_SAFE_INTEGER else str(value)


def _plain(value: Any) -> Any:
    """One value, with all that is in it."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _whole(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime):
        return instant_of(value)
    if isinstance(value, timedelta):
        return span_of(value)
    return str(value) if isinstance(value, (date, Decimal)) else value


_TYPE_NAMES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.date32(): "DATE",
}


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
    if pa.types.is_duration(kind):
        return "DURATION"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_list(kind):
        return f"LIST({_type_name(kind.value_type)})"
    return _TYPE_NAMES.get(kind, str(kind).upper())
