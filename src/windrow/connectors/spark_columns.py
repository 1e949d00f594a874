"""The columns of a stream and of a streaming DataFrame."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.errors import BindingError
from windrow.schema import TIMESTAMP, Column, ColumnType, StreamSchema, type_named

__all__ = ["columns_ddl", "columns_of_frame", "spark_type"]


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
    return tuple(
        _column(name, field.name, field.dataType.simpleString()) for field in source.schema
    )


def columns_ddl(schema: StreamSchema) -> str:
    """The columns of a stream in Spark's DDL."""
    return ", ".join(f"`{each.name}` {_read_type(schema, each)}" for each in schema.columns)


def _read_type(schema: StreamSchema, column: Column) -> str:
    """Times that are numbers are read as such, and become timestamps behind that."""
    is_counted = schema.options.unit is not None and column.name == schema.time
    return "bigint" if is_counted else spark_type(column.type)


def spark_type(kind: ColumnType) -> str:
    """Spark's name of a type; what it calls a timestamp depends on a setting of the session.

    >>> spark_type(type_named("timestamp"))
    'timestamp_ltz'
    """
    return "timestamp_ltz" if kind == TIMESTAMP else kind.spark


def _column(stream: str, name: str, kind: str) -> Column:
    try:
        return Column(name, type_named(kind))
    except BindingError as problem:
        raise BindingError(
            "WB416",
            f"column {name!r} of stream {stream!r} has Spark's type {kind}, which no column can "
            "hold",
            hint="drop the column with select(), or cast it; " + (problem.hint or ""),
        ) from problem
