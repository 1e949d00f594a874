"""Responses in the two forms that the API has: JSON and Arrow IPC."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import pyarrow as pa
from starlette.requests import Request
from starlette.responses import Response

from windrow.apps.console.json_rows import column_types, dumped, plain_rows
from windrow.apps.console.refusals import error_of, status_of
from windrow.errors import WindrowError

__all__ = ["ARROW", "arrow", "json_answer", "refused", "table_values", "wants_arrow"]

ARROW = "application/vnd.apache.arrow.stream"


def json_answer(values: Any, status: int = HTTPStatus.OK) -> Response:
    """Values as JSON."""
    return Response(dumped(values), status, media_type="application/json")


def refused(error: WindrowError) -> Response:
    """An error of ours, as clients get it."""
    return json_answer({"error": error_of(error)}, status_of(error))


def table_values(table: pa.Table) -> dict[str, Any]:
    """A table with its columns and rows."""
    return {"columns": column_types(table.schema), "rows": plain_rows(table)}


def wants_arrow(request: Request) -> bool:
    """Whether the client has asked for Arrow IPC."""
    return ARROW in request.headers.get("accept", "")


def arrow(table: pa.Table, facts: Mapping[str, object]) -> Response:
    """A table as a stream of Arrow IPC; what JSON says in addition to the rows is in headers."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    headers = {f"windrow-{name}": str(value) for name, value in facts.items()}
    return Response(sink.getvalue().to_pybytes(), media_type=ARROW, headers=headers)
