"""Columns of a stream that are not in the value of a record but beside it: its key, its headers."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sql

from windrow.column_types import BINARY, STRING, ColumnType
from windrow.connectors.kafka.connector import KafkaSource
from windrow.errors import BindingError
from windrow.schema import StreamSchema

__all__ = ["check_record_columns", "record_part"]


def check_record_columns(schema: StreamSchema, source: KafkaSource) -> None:
    """Refuses columns that the stream does not have, and types that a part cannot have."""
    known = {column.name: column.type for column in schema.columns}
    for name, part in source.from_record.items():
        if name not in known:
            raise BindingError(
                "WB489",
                f"from_record names {name!r}, but stream {schema.name!r} has no such column",
                hint=f"its columns are {', '.join(known)}",
                place=source.place,
            )
        if part == "headers" and _header_value(known[name]) is None:
            raise BindingError(
                "WB489",
                f"column {name!r} is {known[name]}, which headers cannot be",
                hint="declare it as MAP<STRING, STRING> or MAP<STRING, BINARY>",
                place=source.place,
            )


def record_part(part: str, kind: ColumnType) -> Column:
    """A part of the record as a value of this type; texts are UTF-8."""
    if part == "headers":
        return _headers(_header_value(kind) == STRING)
    column = sql.col(part)
    if part == "key" and kind != BINARY:
        return column.cast("string")
    return column


def _header_value(kind: ColumnType) -> ColumnType | None:
    """The type of the values of a map from texts to texts or bytes; None for any other type."""
    parts = [part for _, part in kind.parts]
    if kind.name != "MAP" or len(parts) != 2 or parts[0] != STRING:
        return None
    return parts[1] if parts[1] in (STRING, BINARY) else None


def _headers(are_texts: bool) -> Column:
    """Headers as a map. A name that comes again counts with its last value, as clients read it."""
    given = sql.coalesce(
        sql.col("headers"), sql.array().cast("array<struct<key:string,value:binary>>")
    )

    def is_last(header: Column, number: Column) -> Column:
        later = sql.slice(given, number + 2, sql.size(given))
        return ~sql.exists(later, lambda other: other.getField("key") == header.getField("key"))

    kept = sql.filter(given, is_last)
    if are_texts:
        kept = sql.transform(
            kept,
            lambda header: sql.struct(
                header.getField("key").alias("key"),
                header.getField("value").cast("string").alias("value"),
            ),
        )
    return sql.map_from_entries(kept)
