"""Rows and keys for a table, in all forms in which people have them, as versions of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.errors import DataError, WindrowError
from windrow.rows.conversion import batch_of
from windrow.rows.given_rows import is_columns
from windrow.schema import Column, StreamSchema
from windrow.table_schema import TableSchema

__all__ = [
    "GivenVersions",
    "joined_given",
    "versions_of_batch",
    "versions_of_keys",
    "versions_of_rows",
]


@dataclass(frozen=True)
class GivenVersions:
    """Rows as columns of the table; gone: of which keys there is no row any more.

    times: their own times, of a table with TIME; is_untimed: which have none.
    """

    columns: tuple[pa.Array, ...]
    gone: NDArray[np.bool_]
    times: NDArray[np.int64] | None
    is_untimed: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.gone)

    def taken(self, places: NDArray[np.int64]) -> GivenVersions:
        """Those at these places, in their order."""
        index = pa.array(places)
        columns = tuple(column.take(index) for column in self.columns)
        times = None if self.times is None else self.times[places]
        return GivenVersions(columns, self.gone[places], times, self.is_untimed[places])


def versions_of_rows(schema: TableSchema, rows: Any) -> GivenVersions:
    """Rows to be inserted or updated: Arrow, data frames, dicts, or whole columns."""
    try:
        batch = batch_of(schema, rows).batch
    except WindrowError as error:
        raise _of_table(error, schema) from None
    return versions_of_batch(schema, batch)


def versions_of_batch(schema: TableSchema, batch: pa.RecordBatch) -> GivenVersions:
    """Rows to be inserted or updated, in columns of the table."""
    _check_not_null(schema, batch, [*schema.key, *([schema.time] if schema.has_time else [])])
    size = batch.num_rows
    times = _times(batch.column(schema.time)) if schema.has_time else None
    none = np.zeros(size, np.bool_)
    return GivenVersions(tuple(batch.columns), none, times, none)


def versions_of_keys(schema: TableSchema, keys: Any) -> GivenVersions:
    """Keys to be deleted: values, tuples, dicts, or what has a column for each of the key.

    With the time column they are deleted at that time; otherwise as they come.
    """
    given = _named_keys(schema, keys)
    with_time = schema.has_time and _has_column(given, schema.time)
    names = [*schema.key, *([schema.time] if with_time and schema.time not in schema.key else [])]
    part = _key_schema(schema, names)
    try:
        batch = batch_of(part, given).batch
    except WindrowError as error:
        raise _of_table(error, schema) from None
    _check_not_null(schema, batch, list(schema.key))
    size = batch.num_rows
    columns = tuple(
        batch.column(each.name) if each.name in names else pa.nulls(size, each.type.arrow)
        for each in schema.columns
    )
    untimed = np.ones(size, np.bool_)
    times = np.zeros(size, np.int64) if schema.has_time else None
    if with_time:
        column = batch.column(schema.time)
        untimed = column.is_null().to_numpy(zero_copy_only=False)
        times = _times(pc.fill_null(column, pa.scalar(0, column.type)))
    return GivenVersions(columns, np.ones(size, np.bool_), times, untimed)


def joined_given(schema: TableSchema, parts: Sequence[GivenVersions]) -> GivenVersions:
    """Several, one after the other."""
    columns = tuple(
        pa.concat_arrays([part.columns[i] for part in parts]) for i in range(len(schema.columns))
    )
    times = None
    if schema.has_time:
        times = np.concatenate([part.times for part in parts if part.times is not None])
    gone = np.concatenate([part.gone for part in parts])
    return GivenVersions(columns, gone, times, np.concatenate([part.is_untimed for part in parts]))


def _times(column: pa.Array) -> NDArray[np.int64]:
    times: NDArray[np.int64] = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return times


def _check_not_null(schema: TableSchema, batch: pa.RecordBatch, names: list[str]) -> None:
    for name in names:
        column = batch.column(name)
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0]) + 1
            what = "key" if name in schema.key else "time"
            raise DataError(
                "WD712",
                f"row {row} for table {schema.name!r} has no {name!r}, which is of its {what}",
                hint="nothing was taken: give every row a value there, or leave the row out",
            )


class _KeySchema(StreamSchema):
    """Only the columns of a key: it needs no time."""

    def __post_init__(self) -> None:
        return


def _key_schema(schema: TableSchema, names: list[str]) -> StreamSchema:
    columns: list[Column] = [schema.column(name) for name in names]
    return _KeySchema(schema.name, tuple(columns), schema.time if schema.time in names else "")


def _named_keys(schema: TableSchema, keys: Any) -> Any:
    """The keys as rows or columns with names."""
    if isinstance(keys, Mapping):
        return keys if is_columns(keys) else [keys]
    if not isinstance(keys, (list, tuple, set, frozenset, str, int, float, bytes)):
        return _only_key(schema, keys)
    listed = list(keys) if isinstance(keys, (list, tuple, set, frozenset)) else [keys]
    if isinstance(keys, tuple) and len(schema.key) > 1 and not isinstance(keys[0], tuple | list):
        listed = [keys]
    return [_named_key(schema, key) for key in listed]


def _only_key(schema: TableSchema, keys: Any) -> Any:
    """A table's columns that are of the key; others do not count."""
    if isinstance(keys, pa.Array | pa.ChunkedArray) and len(schema.key) == 1:
        return {schema.key[0]: keys}
    table = keys
    if isinstance(keys, pa.RecordBatch):
        table = pa.Table.from_batches([keys])
    elif not isinstance(keys, pa.Table):
        try:
            table = pa.table(keys)
        except (TypeError, ValueError, pa.ArrowException):
            return [_named_key(schema, keys)]
    wanted = {*schema.key, schema.time}
    return table.select([name for name in table.column_names if name in wanted])


def _named_key(schema: TableSchema, key: Any) -> Mapping[str, Any]:
    if isinstance(key, Mapping):
        wanted = {*schema.key, schema.time}
        return {name: value for name, value in key.items() if name in wanted}
    values = key if isinstance(key, (tuple, list)) else (key,)
    if len(values) != len(schema.key):
        raise DataError(
            "WD712",
            f"{key!r} is not a key of table {schema.name!r}, which has {', '.join(schema.key)}",
            hint="give a value, a tuple in this order, or a dict for each key",
        )
    return dict(zip(schema.key, values, strict=True))


def _has_column(given: Any, name: str) -> bool:
    if isinstance(given, Mapping):
        return name in given
    if isinstance(given, list):
        return any(name in row for row in given)
    return name in given.column_names


def _of_table(error: WindrowError, schema: TableSchema) -> WindrowError:
    """An error of rows for a stream in words of a table."""
    name = repr(schema.name)
    message = error.message.replace(f"stream {name}", f"table {name}")
    hint = "the whole call was refused; convert the column, or declare it with another type"
    if error.code != "WD103":
        hint = (error.hint or "").replace("the stream's columns", "the table's columns")
    return type(error)(error.code, message, hint=hint, place=error.place)
