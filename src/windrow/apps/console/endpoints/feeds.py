"""What queries say: the result now, and the two feeds piece by piece."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from windrow.apps.console.answers import arrow, json_answer, table_values, wants_arrow
from windrow.apps.console.limits import ANSWER_ROWS_LIMIT, RESULT_ROWS_LIMIT
from windrow.apps.console.parameters import count_of
from windrow.apps.console.ring import FeedPiece
from windrow.apps.console.standing import Standing

__all__ = ["FeedEndpoints", "piece_values"]

ANSWER_ROWS = 10_000  # where the client gives no limit
_LARGEST_NUMBER = 2**53


class FeedEndpoints:
    """Results, answers and changes, as JSON or as Arrow IPC."""

    def __init__(self, standing: Standing) -> None:
        self._registry = standing.registry

    def result(self, request: Request) -> Response:
        """The answer now."""
        name = request.path_params["name"]
        with self._registry.runner.lock:
            table = self._registry.result(name)
            at_us = self._registry.clock_us(name)
        if wants_arrow(request):
            return arrow(table, {"at-us": at_us})
        shown = table.slice(0, RESULT_ROWS_LIMIT)
        truncated = shown.num_rows < table.num_rows
        return json_answer({**table_values(shown), "at_us": at_us, "truncated": truncated})

    def answers(self, request: Request) -> Response:
        """Answers behind a number."""
        return self._piece(request, "answers")

    def changes(self, request: Request) -> Response:
        """Changes behind a number."""
        return self._piece(request, "changes")

    def _piece(self, request: Request, feed: str) -> Response:
        ring = self._registry.query(request.path_params["name"]).ring(feed)
        limit = count_of(request, "limit", ANSWER_ROWS, ANSWER_ROWS_LIMIT)
        if "last" in request.query_params:
            piece = ring.newest(count_of(request, "last", 0, ANSWER_ROWS_LIMIT))
        else:
            piece = ring.read(count_of(request, "after", 0, _LARGEST_NUMBER), limit)
        if wants_arrow(request):
            facts = {"next": piece.next, "first": piece.first, "missed": piece.missed}
            return arrow(piece.table, facts)
        return json_answer(piece_values(piece))


def piece_values(piece: FeedPiece) -> dict[str, Any]:
    """A piece of a feed for JSON."""
    facts = {"next": piece.next, "first": piece.first, "missed": piece.missed}
    return {**table_values(piece.table), **facts}
