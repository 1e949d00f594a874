"""The types in which columns of text files are read, and texts of times as what they say."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.arrow_columns import column_as
from windrow.rows.epoch_times import counted_texts, told_unit
from windrow.schema import Column, ColumnType, StreamSchema

__all__ = ["dated", "read_type", "unfit"]

QUOTES = "'\""

# Arrow's readers take either times with a zone or times without one; as text both come through.
_READ_AS_TEXT = ("TIMESTAMP", "TIMESTAMP_NTZ", "DATE")


def read_type(kind: ColumnType) -> pa.DataType:
    """The type in which Arrow's readers are to read a column."""
    if kind.name == "ARRAY":
        return pa.list_(read_type(kind.element))
    if kind.name == "STRUCT":
        return pa.struct([(name, read_type(part)) for name, part in kind.parts])
    return pa.string() if kind.name in _READ_AS_TEXT or kind.is_interval else kind.arrow


def dated(schema: StreamSchema, table: pa.Table) -> pa.Table:
    """Texts of times and dates as what they say."""
    for index, name in enumerate(table.schema.names):
        kind = schema.column(name).type
        if table.schema.field(index).type != pa.string():
            continue
        texts = table.column(index)
        if kind.is_interval:
            table = table.set_column(index, name, column_as(kind, texts))
        elif kind.name in _READ_AS_TEXT:
            is_time, unit = name == schema.time, schema.options.unit
            found = counted_texts(texts, unit) if is_time and unit is not None else None
            found = _dated(kind, texts, is_time=is_time) if found is None else found
            table = table.set_column(index, name, found)
    return table


def unfit(schema: StreamSchema, column: Column, shown: str) -> str:
    """What is wrong with a text, or a number, that is no value of a column; shown: as it stands."""
    is_uncounted = column.name == schema.time and schema.options.unit is None
    return f"{shown} is not {column.type}{told_unit(shown.strip(QUOTES)) if is_uncounted else ''}"


def _dated(kind: ColumnType, texts: pa.ChunkedArray, *, is_time: bool) -> pa.ChunkedArray:
    for target in (kind.arrow, pa.date32() if kind.name == "DATE" else pa.timestamp("us")):
        try:
            return pc.cast(texts, target)
        except pa.ArrowInvalid:
            continue
    numbers = counted_texts(texts, None) if is_time else None
    return pa.chunked_array([column_as(kind, texts)]) if numbers is None else numbers
