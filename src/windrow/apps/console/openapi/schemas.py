"""The forms of all bodies, as JSON Schema."""

from __future__ import annotations

from typing import Any

from windrow.history.questions.series import SERIES_SCHEMA
from windrow.runtime.ledger import LEDGER_COUNTS
from windrow.service_levels import LEVELS

__all__ = ["SCHEMAS", "reference"]

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
INSTANT: Schema = {"type": "integer", "description": "microseconds since the epoch, UTC"}
SPAN: Schema = {"type": "integer", "minimum": 0, "description": "microseconds"}
NAMES: Schema = {"type": "array", "items": TEXT}


def reference(name: str) -> Schema:
    """The schema of that name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _object(properties: Schema, optional: tuple[str, ...] = ()) -> Schema:
    """An object with these names and no others."""
    required = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


_TABLE: Schema = {"columns": _list(reference("Column")), "rows": _list(reference("Row"))}
_NUMBERS = _list(_or_null({"type": ["number", "string"]}))

SCHEMAS: dict[str, Schema] = {
    "Column": _object({"name": TEXT, "type": TEXT}),
    "Row": {
        "type": "array",
        "items": {"type": ["null", "boolean", "number", "string", "array", "object"]},
        "description": "One value for each column. Times and spans are integers of microseconds; "
        "NaN and infinities, decimals, and integers beyond 2^53 are strings.",
    },
    "Error": _object(
        {
            "code": {"type": "string", "pattern": "^W[A-Z][0-9]{3}$"},
            "message": TEXT,
            "hint": _or_null(TEXT),
            "line": _or_null({"type": "integer", "minimum": 1}),
            "column": _or_null({"type": "integer", "minimum": 1}),
            "length": _or_null(COUNT),
        }
    ),
    "Failure": _object({"error": reference("Error")}),
    "Session": _object(
        {
            "runner": {"enum": ["embedded", "spark"]},
            "version": TEXT,
            "title": TEXT,
            "read_only": FLAG,
            "memory_bytes": COUNT,
            "bytes": COUNT,
            "started_us": INSTANT,
            "now_us": INSTANT,
            "error": _or_null(reference("Error")),
            "errors": COUNT,
        }
    ),
    "Ledger": _object(dict.fromkeys(LEDGER_COUNTS, COUNT)),
    "Stream": _object(
        {
            "name": TEXT,
            "columns": _list(reference("Column")),
            "time": TEXT,
            "lateness_us": SPAN,
            "watermark_us": _or_null(INSTANT),
            "rate": NUMBER,
            "ledger": reference("Ledger"),
        }
    ),
    "Streams": _object({"streams": _list(reference("Stream"))}),
    "Query": _object(
        {
            "name": TEXT,
            "text": TEXT,
            "kind": {"enum": ["aggregate", "select", "history"]},
            "streams": NAMES,
            "every_us": _or_null(SPAN),
            "state": {"enum": ["running", "ended", "failed"]},
            "level": {"enum": [*LEVELS, None]},
            "clock_us": _or_null(INSTANT),
            "lag_us": _or_null(SPAN),
            "answers": COUNT,
            "rate": NUMBER,
            "bytes": COUNT,
            "algorithm": TEXT,
            "columns": _list(reference("Column")),
            "group_columns": NAMES,
            "feeds": _object(
                {
                    "answers": _list(reference("Column")),
                    "changes": _list(reference("Column")),
                }
            ),
            "error": _or_null(reference("Error")),
            "explain": TEXT,
        },
        optional=("explain",),
    ),
    "Queries": _object({"queries": _list(reference("Query"))}),
    "NewQuery": _object(
        {"text": TEXT, "name": _or_null(TEXT), "algorithm": TEXT, "store": TEXT},
        optional=("name", "algorithm", "store"),
    ),
    "Text": _object({"text": TEXT}),
    "Nothing": _object({}),
    "Health": _object({"ok": FLAG, "reasons": _list(TEXT)}),
    "Kept": _object({"rows": COUNT, "set_aside": COUNT, "repeated": FLAG}),
    "Explained": {
        "oneOf": [
            _object({"ok": {"const": True}, "plan": TEXT, "columns": _list(reference("Column"))}),
            _object({"ok": {"const": False}, "error": reference("Error")}),
        ]
    },
    "Table": _object(_TABLE),
    "Result": _object({**_TABLE, "at_us": _or_null(INSTANT), "truncated": FLAG}),
    "Asked": _object({**_TABLE, "truncated": FLAG}),
    "Piece": _object({**_TABLE, "next": COUNT, "first": COUNT, "missed": COUNT}),
    "Turn": _object({"from_us": INSTANT, "to_us": INSTANT, "wide": FLAG}),
    "Window": _object(
        {
            "window": TEXT,
            "stream": TEXT,
            "alias": _or_null(TEXT),
            "queries": NAMES,
            "wanted_us": _or_null(SPAN),
            "least_us": _or_null(SPAN),
            "width_us": _or_null(SPAN),
            "narrow_us": _or_null(SPAN),
            "at_us": _or_null(INSTANT),
            "rows": COUNT,
            "bytes": COUNT,
            "rate": _or_null(NUMBER),
            "level": TEXT,
            "turns": _list(reference("Turn")),
        }
    ),
    "Windows": _object(
        {"windows": _list(reference("Window")), "budget_bytes": COUNT, "bytes": COUNT}
    ),
    "View": _object(
        {
            "name": TEXT,
            "text": TEXT,
            "readers": NAMES,
            "rows": COUNT,
            "bytes": COUNT,
        }
    ),
    "Views": _object({"views": _list(reference("View"))}),
    "HistoryLevel": _object({"grain_us": SPAN, "kept_us": _or_null(SPAN)}),
    "History": _object(
        {
            "stream": TEXT,
            "measures": NAMES,
            "by": NAMES,
            "levels": _list(reference("HistoryLevel")),
            "first_us": _or_null(INSTANT),
            "last_us": _or_null(INSTANT),
            "rows": COUNT,
            "bytes": COUNT,
        }
    ),
    "Histories": _object({"histories": _list(reference("History"))}),
    "Series": _object(
        {
            "stream": TEXT,
            "measure": _or_null(TEXT),
            "grain_us": _or_null(SPAN),
            "t_us": _list(INSTANT),
            "to_us": _list(INSTANT),
            "count": _list(COUNT),
            **dict.fromkeys(SERIES_SCHEMA.names[3:9], _NUMBERS),
            "exact": _list(FLAG),
        }
    ),
    "Node": _object({"from_us": INSTANT, "to_us": INSTANT, "count": COUNT, "split": FLAG}),
    "Tree": _object(
        {
            "stream": TEXT,
            "levels": _list(
                _object(
                    {
                        "grain_us": SPAN,
                        "kept_us": _or_null(SPAN),
                        "nodes": _list(reference("Node")),
                    }
                )
            ),
            "truncated": FLAG,
        }
    ),
    "Batch": _object(
        {
            "query": TEXT,
            "id": {"type": "integer"},
            "at_us": INSTANT,
            "rows": COUNT,
            "ms": COUNT,
            "state_bytes": COUNT,
        }
    ),
    "Batches": _object({"batches": _list(reference("Batch"))}),
    "Operation": _object(
        {
            "query": TEXT,
            "batches": COUNT,
            **dict.fromkeys(
                (
                    *("batch_p50_ms", "batch_p95_ms", "event_p50_ms", "event_p95_ms"),
                    *("arrival_p95_ms", "busy", "over_trigger"),
                ),
                _or_null(NUMBER),
            ),
            "behind": _or_null(COUNT),
            "skew": _or_null(NUMBER),
            "state_bytes": COUNT,
            "restarts": COUNT,
        }
    ),
    "Operations": _object({"operations": _list(reference("Operation"))}),
    "Watch": _object(
        {
            "watch": _object(
                {
                    "query": _or_null(TEXT),
                    "histories": FLAG,
                    "answers_after": COUNT,
                    "changes_after": COUNT,
                },
                optional=("query", "histories", "answers_after", "changes_after"),
            )
        }
    ),
    "LivePiece": _object({"query": TEXT, **_TABLE, "next": COUNT, "first": COUNT, "missed": COUNT}),
    "LiveMessage": _object(
        {
            "session": reference("Session"),
            "queries": _list(reference("Query")),
            "windows": reference("Windows"),
            "views": _list(reference("View")),
            "streams": _list(reference("Stream")),
            "batches": _list(reference("Batch")),
            "operations": _list(reference("Operation")),
            "histories": _list(reference("History")),
            "answers": reference("LivePiece"),
            "changes": reference("LivePiece"),
            "error": reference("Error"),
        },
        optional=(
            *("session", "queries", "windows", "views", "streams", "batches", "operations"),
            *("histories", "answers", "changes", "error"),
        ),
    ),
}
