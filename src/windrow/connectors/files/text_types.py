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
        if kind.is_interval:
            table = table.set_column(index, name, column_as(kind, table.column(index)))
        elif kind.name in _READ_AS_TEXT:
            unit = schema.options.unit if name == schema.time else None
            table = table.set_column(index, name, _dated(kind, table.column(index), unit))
    return table


def unfit(schema: StreamSchema, column: Column, shown: str) -> str:
    """What is wrong with a text, or a number, that is no value of a column; shown: as it stands."""
    is_uncounted = column.name == schema.time and schema.options.unit is None
    return f"{shown} is not {column.type}{told_unit(shown.strip(QUOTES)) if is_uncounted else ''}"


def _dated(kind: ColumnType, texts: pa.ChunkedArray, unit: str | None) -> pa.ChunkedArray:
    numbers = None if unit is None else counted_texts(texts, unit)
    if numbers is not None:
        return numbers
    for target in (kind.arrow, pa.date32() if kind.name == "DATE" else pa.timestamp("us")):
        try:
            return pc.cast(texts, target)
        except pa.ArrowInvalid:
            continue
    return pa.chunked_array([column_as(kind, texts)])
