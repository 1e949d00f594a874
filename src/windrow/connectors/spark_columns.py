"""The columns of a stream and of a streaming DataFrame."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.errors import BindingError, Place, UnsupportedError
from windrow.schema import STRING, TIMESTAMP, Column, ColumnType, StreamSchema, type_named

__all__ = ["check_text_types", "columns_ddl", "columns_of_frame", "columns_of_rows", "spark_type"]


def columns_of_frame(name: str, source: object) -> tuple[Column, ...]:
    """The columns of a stream; refused when the DataFrame does not stream or has unknown types."""
    if not isinstance(source, DataFrame):
        raise BindingError(
            "WB414",
            f"stream {name!r} on Spark needs a streaming DataFrame, not {type(source).__name__}",
            hint="give what spark.readStream...load() returns, or its columns and "
            "source=windrow.sources....",
        )
    if not source.isStreaming:
        raise BindingError(
            "WB415",
            f"the DataFrame of stream {name!r} is not streaming",
            hint="read it with spark.readStream instead of spark.read",
        )
    return columns_of_rows(name, source)


def columns_of_rows(name: str, frame: DataFrame) -> tuple[Column, ...]:
    """The columns of a DataFrame, streaming or not; refused when it has unknown types."""
    return tuple(_column(name, field.name, field.dataType.simpleString()) for field in frame.schema)


def check_text_types(schema: StreamSchema, format_: str, place: Place | None) -> None:
    """Refuses columns that Spark does not read from text: its maps have texts as keys there."""
    for column in schema.columns:
        if format_ == "csv" and column.type.is_nested:
            what, hint = "CSV has no nested values", "read JSON lines or Parquet"
        elif _has_other_keys(column.type):
            what, hint = "on Spark maps of JSON have keys of STRING", "declare MAP<STRING, ...>"
        else:
            continue
        raise UnsupportedError(
            "WU723",
            f"{what}, but column {column.name!r} of stream {schema.name!r} is {column.type}",
            hint=f"{hint}, or declare the column as STRING",
            place=place,
        )


def _has_other_keys(kind: ColumnType) -> bool:
    is_other = kind.name == "MAP" and kind.key != STRING
    return is_other or any(_has_other_keys(part) for _, part in kind.parts)


def columns_ddl(schema: StreamSchema) -> str:
    """The columns of a stream in Spark's DDL."""
    return ", ".join(f"`{each.name}` {_read_type(schema, each)}" for each in schema.columns)


def _read_type(schema: StreamSchema, column: Column) -> str:
    """Times that are numbers are read as such, and become timestamps behind that."""
    is_counted = schema.options.unit is not None and column.name == schema.time
    return "bigint" if is_counted else spark_type(column.type)


def spark_type(kind: ColumnType) -> str:
    """Spark's name of a type; what it calls a timestamp depends on a setting of the session.

    >>> spark_type(type_named("array<timestamp>"))
    'array<timestamp_ltz>'
    """
    if kind == TIMESTAMP:
        return "timestamp_ltz"
    if kind.name == "STRUCT":
        fields = (f"`{name.replace('`', '``')}`:{spark_type(part)}" for name, part in kind.parts)
        return f"struct<{','.join(fields)}>"
    if kind.is_nested:
        return f"{kind.name.lower()}<{','.join(spark_type(part) for _, part in kind.parts)}>"
    return kind.spark


def _column(stream: str, name: str, kind: str) -> Column:
    try:
        return Column(name, type_named(kind))
    except BindingError as problem:
        raise BindingError(
            "WB416",
            f"column {name!r} of {stream!r} has Spark's type {kind}, which no column can hold",
            hint="drop the column with select(), or cast it; " + (problem.hint or ""),
        ) from problem
