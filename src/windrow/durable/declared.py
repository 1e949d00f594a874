"""Streams, tables and histories as records have them: JSON, as they were declared."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from windrow.plan.history_schema import HistorySchema
from windrow.schema import StreamSchema, columns_of
from windrow.stream_options import StreamOptions
from windrow.table_schema import TableSchema

__all__ = ["history_of", "history_told", "stream_of", "stream_told", "table_of", "table_told"]


def stream_told(schema: StreamSchema) -> dict[str, Any]:
    """A stream.

    >>> from windrow.schema import columns_of
    >>> schema = StreamSchema("s", columns_of("ts timestamp, x int"), "ts", 5)
    >>> stream_of(stream_told(schema)) == schema
    True
    """
    return {
        "name": schema.name,
        "columns": schema.types,
        "time": schema.time,
        "lateness_us": schema.lateness_us,
        "on_bad_row": schema.on_bad_row,
        "max_ahead": schema.max_ahead,
        "bad_rows_into": schema.bad_rows_into,
        "options": asdict(schema.options),
    }


def stream_of(told: dict[str, Any]) -> StreamSchema:
    """The same, read again."""
    names = ("name", "time", "lateness_us", "on_bad_row", "max_ahead", "bad_rows_into")
    options = StreamOptions(**told["options"])
    said = {name: told[name] for name in names}
    return StreamSchema(columns=columns_of(told["columns"]), options=options, **said)


def table_told(schema: TableSchema) -> dict[str, Any]:
    """A table."""
    columns = {"columns": schema.types, "key": list(schema.key)}
    return {"name": schema.name, "time": schema.time, **columns}


def table_of(told: dict[str, Any]) -> TableSchema:
    """The same, read again."""
    columns = columns_of(told["columns"])
    return TableSchema(told["name"], columns, told["time"], key=tuple(told["key"]))


def history_told(schema: HistorySchema) -> dict[str, Any]:
    """A history."""
    return {
        "stream": schema.stream.name,
        "measures": [each.name for each in schema.measures],
        "keys": [each.name for each in schema.keys],
        "levels": [list(level) for level in schema.levels],
        "quantiles": list(schema.quantiles),
        "distincts": [each.name for each in schema.distincts],
        "split_above": schema.split_above,
    }


def history_of(told: dict[str, Any], stream: StreamSchema) -> HistorySchema:
    """The same, read again."""
    measures, keys, distincts = (
        tuple(stream.column(name) for name in told[part])
        for part in ("measures", "keys", "distincts")
    )
    levels = tuple((granularity, kept) for granularity, kept in told["levels"])
    quantiles = tuple(told["quantiles"])
    return HistorySchema(stream, measures, keys, levels, quantiles, distincts, told["split_above"])
