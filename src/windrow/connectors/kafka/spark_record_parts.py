"""Columns of a stream that are not in the value of a record but beside it: its key, its headers."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sql

from windrow.column_types import BINARY, STRING, ColumnType
from windrow.connectors.kafka.record_columns import header_value

__all__ = ["record_part"]


def record_part(part: str, kind: ColumnType) -> Column:
    """A part of the record as a value of this type; texts are UTF-8."""
    if part == "headers":
        return _headers(header_value(kind) == STRING)
    column = sql.col(part)
    if part == "key" and kind != BINARY:
        return column.cast("string")
    return column


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
