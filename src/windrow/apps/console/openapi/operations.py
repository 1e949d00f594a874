"""What can be done at which path: parameters, bodies and answers of every operation."""

from __future__ import annotations

from typing import Any

from windrow.apps.console.answers import ARROW
from windrow.apps.console.limits import (
    ANSWER_ROWS_LIMIT,
    POINTS_LIMIT,
    TREE_NODES_LIMIT,
)
from windrow.apps.console.openapi.schemas import reference

__all__ = ["operations"]

Operation = dict[str, Any]

_API = "/api/v1"
_ONE = f"{_API}/queries/{{name}}"
_HISTORY = f"{_API}/histories/{{stream}}"


def operations() -> dict[str, dict[str, Operation]]:
    """By path and method."""
    return {
        "/": {"get": _page("The page; with ?token= it sets the cookie", [_token()])},
        "/static/{path}": {"get": _page("A file of the page", [_in_path("path")])},
        "/healthz": {"get": _health("Whether it lives")},
        "/readyz": {"get": _health("Whether it takes rows")},
        "/metrics": {"get": _text("Metrics for Prometheus", "text/plain")},
        f"{_API}/openapi.json": {"get": _get("This document", None)},
        f"{_API}/session": {"get": _get("The session", "Session")},
        f"{_API}/streams": {"get": _get("Streams and what happened to their rows", "Streams")},
        f"{_API}/streams/{{stream}}/rows": {"post": _rows()},
        f"{_API}/windows": {"get": _get("Windows and their budget", "Windows")},
        f"{_API}/views": {"get": _get("Views and the queries that read them", "Views")},
        f"{_API}/decisions": {"get": _get("The governor's log", "Table", arrow=True)},
        f"{_API}/batches": {"get": _get("Spark's latest batches", "Batches")},
        f"{_API}/operations": {
            "get": _get("How queries and histories are getting on, on Spark", "Operations")
        },
        f"{_API}/queries": {
            "get": _get("All queries", "Queries"),
            "post": _post("Add a query", "NewQuery", "Query", status="201"),
        },
        _ONE: {
            "get": _get("A query with its plan", "Query", [_in_path("name")]),
            "delete": _get("Stop a query", "Query", [_in_path("name")]),
        },
        f"{_ONE}/result": {"get": _get("The answer now", "Result", [_in_path("name")], arrow=True)},
        f"{_ONE}/answers": {"get": _get("Answers by number", "Piece", _piece(), arrow=True)},
        f"{_ONE}/changes": {"get": _get("Changes by number", "Piece", _piece(), arrow=True)},
        f"{_ONE}/feed": {
            "get": _text(
                "Changes as they happen",
                "text/event-stream",
                [_in_path("name"), _number("after", "changes after this number")],
            )
        },
        f"{_API}/logout": {"post": _get("Invalidate the cookie", "Nothing")},
        f"{_API}/explain": {"post": _post("The plan of a text", "Text", "Explained")},
        f"{_API}/ask": {"post": _post("A query about the past", "Text", "Asked", arrow=True)},
        f"{_API}/histories": {"get": _get("All histories", "Histories")},
        f"{_HISTORY}/series": {"get": _get("A history as a chart", "Series", _series())},
        f"{_HISTORY}/tree": {
            "get": _get(
                "The nodes of a history",
                "Tree",
                [
                    _in_path("stream"),
                    _group(),
                    _number("limit", "nodes, the newest", TREE_NODES_LIMIT),
                ],
            )
        },
        f"{_API}/live": {"get": _websocket()},
    }


def _get(
    summary: str,
    schema: str | None,
    parameters: list[dict[str, Any]] | None = None,
    *,
    arrow: bool = False,
) -> Operation:
    return {
        "summary": summary,
        "parameters": parameters or [],
        "responses": _answers("200", schema, arrow),
    }


def _post(
    summary: str, body: str, schema: str, *, status: str = "200", arrow: bool = False
) -> Operation:
    content = {"application/json": {"schema": reference(body)}}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": content},
        "responses": _answers(status, schema, arrow),
    }


def _health(summary: str) -> Operation:
    """Without the token."""
    content = {"application/json": {"schema": reference("Health")}}
    answers = {
        status: {"description": words, "content": content}
        for status, words in (("200", "it does"), ("503", "it does not, for these reasons"))
    }
    return {"summary": summary, "security": [], "responses": {**answers, **_failures()}}


def _rows() -> Operation:
    lines: dict[str, Any] = {"schema": {"type": "string", "description": "an object in each line"}}
    binary = {"schema": {"type": "string", "format": "binary"}}
    content = {"application/x-ndjson": lines, "application/json": lines, ARROW: binary}
    named = {"in": "header", "required": False}
    return {
        "summary": "Rows for a stream whose source is http(): all are kept, or none",
        "parameters": [
            _in_path("stream"),
            {"name": "Windrow-Producer", **named, "schema": {"type": "string"}},
            {"name": "Windrow-Sequence", **named, "schema": {"type": "integer", "minimum": 0}},
        ],
        "requestBody": {"required": True, "content": content},
        "responses": _answers("200", "Kept", arrow=False),
    }


def _text(
    summary: str, media_type: str, parameters: list[dict[str, Any]] | None = None
) -> Operation:
    content = {media_type: {"schema": {"type": "string"}}}
    return {
        "summary": summary,
        "parameters": parameters or [],
        "responses": {"200": {"description": summary, "content": content}, **_failures()},
    }


def _page(summary: str, parameters: list[dict[str, Any]]) -> Operation:
    return {
        "summary": summary,
        "parameters": parameters,
        "responses": {"200": {"description": summary}, **_failures()},
    }


def _websocket() -> Operation:
    """OpenAPI cannot describe WebSockets: the messages are described separately."""
    return {
        "summary": "A WebSocket: what has changed, at most five times a second",
        "responses": {"101": {"description": "the protocol is changed"}, **_failures()},
        "x-websocket": {"receives": reference("Watch"), "sends": reference("LiveMessage")},
    }


def _answers(status: str, schema: str | None, arrow: bool) -> dict[str, Any]:
    form = {"type": "object"} if schema is None else reference(schema)
    content: dict[str, Any] = {"application/json": {"schema": form}}
    if arrow:
        content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    return {status: {"description": "done", "content": content}, **_failures()}


def _failures() -> dict[str, Any]:
    content = {"application/json": {"schema": reference("Failure")}}
    return {"default": {"description": "refused", "content": content}}


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _number(name: str, description: str, limit: int | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "minimum": 0}
    if limit is not None:
        schema["maximum"] = limit
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _token() -> dict[str, Any]:
    description = "the console's token, or a one-time token"
    return {
        "name": "token",
        "in": "query",
        "description": description,
        "schema": {"type": "string"},
    }


def _group() -> dict[str, Any]:
    schema = {"type": "array", "items": {"type": "string"}}
    description = "the keys of one group, each as a separate parameter; none: all groups"
    return {"name": "group", "in": "query", "description": description, "schema": schema}


def _piece() -> list[dict[str, Any]]:
    return [
        _in_path("name"),
        _number("after", "rows after this number"),
        _number("limit", "at most this many", ANSWER_ROWS_LIMIT),
        _number("last", "instead of after: the newest rows, at most this many", ANSWER_ROWS_LIMIT),
    ]


def _series() -> list[dict[str, Any]]:
    instant = {"type": "integer"}
    return [
        _in_path("stream"),
        {"name": "measure", "in": "query", "schema": {"type": "string"}},
        {"name": "from_us", "in": "query", "schema": instant},
        {"name": "to_us", "in": "query", "schema": instant},
        _number("points", "at most about this many", POINTS_LIMIT),
        _group(),
    ]
