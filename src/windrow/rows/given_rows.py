"""Rows as people hold them: Arrow, data frames, dicts, tuples, whole columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from windrow.errors import DataError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["Rows", "is_columns", "rows_given"]


class _ArrowStream(Protocol):
    """A table of any library, by Arrow's PyCapsule interface: Polars, DuckDB, pandas and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class _ArrowArray(Protocol):
    """One batch of any library, by the same interface."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class _DataFrame(Protocol):
    """What pandas and its kin look like to a type checker."""

    @property
    def columns(self) -> Any: ...

    @property
    def shape(self) -> Any: ...


class _LazyFrame(Protocol):
    """What is not a table before it is collected."""

    def collect_schema(self) -> Any: ...

    def collect(self) -> Any: ...


Rows = (
    FileRows
    | _ArrowStream
    | _ArrowArray
    | _DataFrame
    | _LazyFrame
    | Sequence[Mapping[str, Any]]
    | Mapping[str, Any]
    | tuple[Any, ...]
)


def rows_given(stream: StreamSchema, rows: Any) -> pa.Table | Sequence[Any] | Mapping[str, Any]:
    """The rows as a table, as a sequence of dicts, or as a dict of columns.

    >>> from windrow.schema import columns_of
    >>> stream = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    >>> rows_given(stream, {"ts": 0, "x": 1})
    [{'ts': 0, 'x': 1}]
    >>> rows_given(stream, (0, 1))
    [{'ts': 0, 'x': 1}]
    """
    if isinstance(rows, Mapping):
        # A list in an ARRAY column may be one value: the other columns, such as the time, tell.
        nested = {column.name for column in stream.columns if column.type.is_nested}
        plain = {name: value for name, value in rows.items() if name not in nested}
        return rows if is_columns(plain or rows) else [rows]
    if isinstance(rows, tuple) and rows and not any(isinstance(row, Mapping) for row in rows):
        return [_of_values(stream, rows)]
    if isinstance(rows, (list, tuple)):
        return rows
    try:
        table = _table_of(stream, rows)
    except DataError:
        raise
    except Exception as problem:
        # Whatever library the rows come from fails with errors of its own.
        raise DataError(
            "WD104",
            f"rows for stream {stream.name!r} cannot be read from {_kind(rows)}: {_told(problem)}",
            hint=(
                "the whole push was refused; convert what is named, or push a pyarrow.Table or "
                "a list of dicts"
            ),
        ) from problem
    if table is not None:
        return table
    raise DataError(
        "WD101",
        f"stream {stream.name!r} does not accept rows from {_kind(rows)}",
        hint="push a pyarrow Table or RecordBatch, a pandas or Polars DataFrame, a DuckDB "
        "relation, a list of dicts, or a dict of columns",
    )


def _of_values(stream: StreamSchema, values: tuple[Any, ...]) -> dict[str, Any]:
    """A tuple is one row: a value for each column, in their order."""
    names = [column.name for column in stream.columns]
    if len(values) != len(names):
        raise DataError(
            "WD106",
            f"a tuple of {len(values)} values is no row of stream {stream.name!r}, which has "
            f"{len(names)} columns",
            hint=f"give a value for each of them, in this order: {', '.join(names)}",
        )
    return dict(zip(names, values, strict=True))


def is_columns(rows: Mapping[str, Any]) -> bool:
    """Whether a dict holds whole columns rather than the values of one row."""
    return any(map(_is_column, rows.values()))


def _is_column(value: Any) -> bool:
    if isinstance(value, (list, tuple, pa.Array, pa.ChunkedArray)):
        return True
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    is_arrow = hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")
    return is_arrow or _is_of("pandas", "Series", value) or _is_of("pandas", "Index", value)


def _table_of(stream: StreamSchema, rows: Any) -> pa.Table | Mapping[str, Any] | None:
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if isinstance(rows, pa.RecordBatchReader):
        return rows.read_all()
    if _is_of("pandas", "DataFrame", rows):
        return _of_pandas(stream, rows)
    if _is_of("polars", "LazyFrame", rows):
        rows = rows.collect()
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if hasattr(rows, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(rows)])
    return None


def _is_of(library: str, name: str, value: Any) -> bool:
    """Whether a value is of a class of a library, which is loaded in that case."""
    kind = getattr(sys.modules.get(library), name, None)
    return kind is not None and isinstance(value, kind)


def _of_pandas(stream: StreamSchema, frame: Any) -> pa.Table | Mapping[str, Any]:
    """A level of the index that is named like a column is that column; others are left out.

    Objects in a nested column stay those of Python: what pandas makes of dicts is no map.
    """
    known = {column.name for column in stream.columns} - set(frame.columns)
    levels = [name for name in frame.index.names if name in known]
    if levels:
        frame = frame.reset_index(level=levels)
    nested = {column.name for column in stream.columns if column.type.is_nested}
    objects = [name for name in frame.columns if name in nested and frame[name].dtype == object]
    if not objects:
        return pa.Table.from_pandas(frame, preserve_index=False)
    rest = pa.Table.from_pandas(frame.drop(columns=objects), preserve_index=False)
    columns = {name: rest.column(name) for name in rest.column_names}
    return {**columns, **{name: _python_values(frame[name]) for name in objects}}


def _python_values(series: Any) -> list[Any]:
    """The values of a column of objects; pandas has NaN for those that are missing."""
    return [None if isinstance(value, float) else value for value in series]


def _told(problem: Exception) -> str:
    """What a library says; some of them say it in several parts."""
    return "; ".join(map(str, problem.args)) or type(problem).__name__


def _kind(rows: Any) -> str:
    kind = type(rows)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
