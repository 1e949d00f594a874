"""What a history keeps, as JSON that reaches workers and checkpoints, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any

import pyarrow as pa

from windrow.plan.history_schema import HistorySchema
from windrow.schema import Column, ColumnType, StreamSchema

__all__ = [
    "columns_kept",
    "declared",
    "history_fingerprint",
    "history_of_text",
    "history_text",
    "rows_schema",
]

HISTORIES_READ = 64


def declared(schema: HistorySchema) -> dict[str, Any]:
    """The declaration without the stream's name, and of its columns those that the history reads.

    Two histories with equal declarations can resume from one another's state.
    """
    stream = schema.stream
    columns = [stream.column(name) for name in columns_kept(schema)]
    return {
        "measures": [each.name for each in schema.measures],
        "keys": [each.name for each in schema.keys],
        "levels": [list(level) for level in schema.levels],
        "quantiles": list(schema.quantiles),
        "distincts": [each.name for each in schema.distincts],
        "split_above": schema.split_above,
        "time": stream.time,
        "lateness_us": stream.lateness_us,
        "columns": [
            [each.name, each.type.name, each.type.precision, each.type.scale] for each in columns
        ],
    }


def history_fingerprint(schema: HistorySchema) -> str:
    """A short text that is equal for equal declarations."""
    canonical = json.dumps(declared(schema), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def history_text(schema: HistorySchema) -> str:
    """The schema as text, for workers."""
    stream = schema.stream
    taking = {"stream": stream.name, "on_bad_row": stream.on_bad_row, "max_ahead": stream.max_ahead}
    return json.dumps({**taking, **declared(schema)})


@lru_cache(maxsize=HISTORIES_READ)
def history_of_text(text: str) -> HistorySchema:
    """The schema that the text describes; its stream has the columns that the history reads."""
    parts = json.loads(text)
    columns = {
        name: Column(name, ColumnType(kind, precision, scale))
        for name, kind, precision, scale in parts["columns"]
    }
    stream = StreamSchema(
        parts["stream"],
        tuple(columns.values()),
        parts["time"],
        parts["lateness_us"],
        parts["on_bad_row"],
        parts["max_ahead"],
    )
    return HistorySchema(
        stream,
        tuple(columns[name] for name in parts["measures"]),
        tuple(columns[name] for name in parts["keys"]),
        tuple((granularity_us, retention_us) for granularity_us, retention_us in parts["levels"]),
        tuple(parts["quantiles"]),
        tuple(columns[name] for name in parts["distincts"]),
        parts["split_above"],
    )


def columns_kept(schema: HistorySchema) -> tuple[str, ...]:
    """The columns of the stream that the history reads, its time first."""
    kept = (*schema.keys, *schema.measures, *schema.distincts)
    return tuple(dict.fromkeys([schema.stream.time, *(column.name for column in kept)]))


def rows_schema(schema: HistorySchema) -> pa.Schema:
    """The Arrow schema of rows that have these columns only."""
    names = columns_kept(schema)
    return pa.schema([(name, schema.stream.column(name).type.arrow) for name in names])
