"""Rows in any of the forms that push() takes, as an Arrow batch of the stream's schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from windrow.embedded.arrow_columns import column_as, without_absurd_times
from windrow.embedded.given_rows import is_columns, rows_given
from windrow.embedded.python_values import array_of
from windrow.errors import DataError, WindrowError
from windrow.schema import ColumnType, StreamSchema

__all__ = ["RowChecker", "batch_of"]


def batch_of(stream: StreamSchema, rows: Any) -> pa.RecordBatch:
    """Rows of any form as a batch of the stream's columns."""
    given = rows_given(stream, rows)
    if isinstance(given, pa.Table):
        _check_names(stream, given.schema.names, allow_missing=False)
        return _of_columns(stream, {name: given.column(name) for name in given.schema.names})
    if isinstance(given, Mapping):
        return _of_columns(stream, given)
    return _of_dicts(stream, given)


def _of_columns(stream: StreamSchema, given: Mapping[str, Any]) -> pa.RecordBatch:
    _check_names(stream, list(given), allow_missing=False)
    columns = [_column(stream, each.name, each.type, given[each.name]) for each in stream.columns]
    lengths = {each.name: len(column) for each, column in zip(stream.columns, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DataError(
            "WD105",
            f"columns for stream {stream.name!r} are of different lengths: {shown}",
            hint="give every column as many values, or a list of dicts",
        )
    return pa.RecordBatch.from_arrays(columns, schema=stream.arrow)


def _column(stream: StreamSchema, name: str, kind: ColumnType, given: Any) -> pa.Array:
    if isinstance(given, (list, tuple)):
        return _of_values(stream, name, kind, list(given))
    if not is_columns({name: given}):
        raise DataError(
            "WD105",
            f"column {name!r} of stream {stream.name!r} is one value beside whole columns",
            hint="give a list of as many values as the other columns have",
        )
    try:
        column = _arrow(given)
    except (pa.ArrowException, TypeError, ValueError) as problem:
        raise _bad_column(stream, name, kind, problem) from None
    return _converted(stream, name, column, kind)


def _arrow(given: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(given, (pa.Array, pa.ChunkedArray)):
        return given
    # Series of other libraries come in pieces; those of pandas have their own idea of NULL.
    return pa.chunked_array(given) if hasattr(given, "__arrow_c_stream__") else pa.array(given)


def _check_names(stream: StreamSchema, names: Sequence[str], *, allow_missing: bool) -> None:
    known = [column.name for column in stream.columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(
            "WD102",
            f"rows for stream {stream.name!r}: two columns are named {twice!r}",
            hint="give each column once",
        )
    unknown = [name for name in names if name not in known]
    missing = [] if allow_missing else [name for name in known if name not in names]
    if unknown or missing:
        wrong = "unknown column" if unknown else "no column"
        raise DataError(
            "WD102",
            f"rows for stream {stream.name!r}: {wrong} {(unknown or missing)[0]!r}",
            hint=f"the stream's columns are {', '.join(known)}",
        )


def _converted(stream: StreamSchema, name: str, column: pa.Array, kind: ColumnType) -> pa.Array:
    try:
        return column_as(kind, without_absurd_times(column) if name == stream.time else column)
    except pa.ArrowException as problem:
        raise _bad_column(stream, name, kind, problem) from None


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
    try:
        return array_of(kind, values)
    except (pa.ArrowException, OverflowError, ValueError, TypeError) as problem:
        raise _bad_column(stream, name, kind, problem) from None


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
