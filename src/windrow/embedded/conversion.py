"""Rows in any of the forms that push() takes, as an Arrow batch of the stream's schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import DataError, WindrowError
from windrow.event_time import instant_of
from windrow.schema import TIMESTAMP, ColumnType, StreamSchema

__all__ = ["RowChecker", "batch_of"]


def batch_of(stream: StreamSchema, rows: Any) -> pa.RecordBatch:
    """Arrow, pandas, polars, a list of dicts or one dict, as a batch of the stream's columns."""
    if isinstance(rows, Mapping):
        rows = [rows]
    if isinstance(rows, (list, tuple)):
        return _of_dicts(stream, rows)
    table = _as_table(stream, rows)
    _check_names(stream, table.schema.names, allow_missing=False)
    columns = [_converted(stream, column.name, column.type, table) for column in stream.columns]
    return pa.RecordBatch.from_arrays(columns, schema=stream.arrow)


def _as_table(stream: StreamSchema, rows: Any) -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if hasattr(rows, "to_arrow"):  # polars
        return rows.to_arrow()
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if type(rows).__module__.startswith("pandas"):
        return pa.Table.from_pandas(rows, preserve_index=False)
    raise DataError(
        "WD101",
        f"stream {stream.name!r} cannot take rows from {type(rows).__name__}",
        hint="push a pyarrow Table or RecordBatch, a pandas or polars DataFrame, "
        "or a list of dicts",
    )


def _check_names(stream: StreamSchema, names: Sequence[str], *, allow_missing: bool) -> None:
    known = [column.name for column in stream.columns]
    unknown = [name for name in names if name not in known]
    missing = [] if allow_missing else [name for name in known if name not in names]
    if unknown or missing:
        wrong = "unknown column" if unknown else "no column"
        raise DataError(
            "WD102",
            f"rows for stream {stream.name!r}: {wrong} {(unknown or missing)[0]!r}",
            hint=f"the stream's columns are {', '.join(known)}",
        )


def _converted(stream: StreamSchema, name: str, kind: ColumnType, table: pa.Table) -> pa.Array:
    column = table.column(name)
    column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if column.type == kind.arrow:
        return column
    try:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if kind == TIMESTAMP:
            return _timestamps(column)
        return column.cast(kind.arrow)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as problem:
        raise _bad_column(stream, name, kind, problem) from None


def _timestamps(column: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        # Finer than a microsecond is cut off; a time without zone counts as UTC.
        return pc.cast(column, pa.timestamp("us", tz=column.type.tz), safe=False).cast(
            TIMESTAMP.arrow
        )
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pa.array([None if t is None else instant_of(t) for t in column.to_pylist()]).cast(
            TIMESTAMP.arrow
        )
    if pa.types.is_date(column.type):
        return column.cast(pa.timestamp("us")).cast(TIMESTAMP.arrow)
    raise pa.ArrowTypeError(f"{column.type} is not a time")


def _of_dicts(stream: StreamSchema, rows: Sequence[Any]) -> pa.RecordBatch:
    for row in rows:
        if not isinstance(row, Mapping):
            raise DataError(
                "WD101",
                f"stream {stream.name!r} cannot take a row from {type(row).__name__}",
                hint="a row is a dict of column names to values",
            )
        if not row.keys() <= {column.name for column in stream.columns}:
            _check_names(stream, list(row), allow_missing=True)
    columns = [
        _of_values(stream, column.name, column.type, [row.get(column.name) for row in rows])
        for column in stream.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=stream.arrow)


def _of_values(stream: StreamSchema, name: str, kind: ColumnType, values: list[Any]) -> pa.Array:
    if kind == TIMESTAMP:
        values = [_utc(value) for value in values]
    try:
        if kind.is_integer:
            _check_whole(values)
        return pa.array(values, kind.arrow)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError, TypeError) as problem:
        raise _bad_column(stream, name, kind, problem) from None


def _check_whole(values: list[Any]) -> None:
    # Arrow would cut 1.5 down to 1 without a word.
    for value in values:
        if isinstance(value, float) and not value.is_integer():
            raise ValueError(f"{value!r} is not a whole number")


def _utc(value: Any) -> Any:
    if isinstance(value, str):
        return instant_of(value)
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


def _bad_column(
    stream: StreamSchema, name: str, kind: ColumnType, problem: Exception
) -> WindrowError:
    return DataError(
        "WD103",
        f"column {name!r} of stream {stream.name!r} is {kind}: {problem}",
        hint="nothing of this push was taken; convert the column, or declare the stream otherwise",
    )


class RowChecker:
    """Says quickly whether a dict surely fits the stream, so that rows can be gathered first."""

    def __init__(self, stream: StreamSchema) -> None:
        self._allowed = {column.name: _plain_types(column.type) for column in stream.columns}

    def fits(self, row: Any) -> bool:
        """True when every value is of a plain Python type that its column takes without fail."""
        if type(row) is not dict:
            return False
        allowed = self._allowed
        for name, value in row.items():
            kinds = allowed.get(name)
            if kinds is None or type(value) not in kinds:
                return False
            if type(value) is int and not -(2**63) <= value < 2**63:
                return False
            if type(value) is str and not _is_encodable(value):
                return False
        return True


def _is_encodable(text: str) -> bool:
    """Whether a text is without lone surrogates, which no column can hold."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain_types(kind: ColumnType) -> tuple[type, ...]:
    none = type(None)
    if kind.name == "BIGINT":
        return (int, none)
    if kind.is_float:
        return (float, none)
    return {
        "STRING": (str, none),
        "BOOLEAN": (bool, none),
        "TIMESTAMP": (datetime, none),
    }.get(kind.name, (none,))
