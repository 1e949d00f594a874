"""The session and its tables: streams, windows, decisions, batches, metrics."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from windrow.apps.console.answers import arrow, json_answer, table_values, wants_arrow
from windrow.apps.console.standing import Standing
from windrow.metrics import CONTENT_TYPE

__all__ = ["SessionEndpoints"]


class SessionEndpoints:
    """How the session stands; none of these takes anything from the request but its form."""

    def __init__(self, standing: Standing) -> None:
        self._registry, self._pictures = standing.registry, standing.pictures

    def session(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """The session itself."""
        return json_answer(self._pictures.current()["session"])

    def streams(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """Its streams, with their ledgers."""
        return json_answer({"streams": self._pictures.current()["streams"]})

    def windows(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """Its windows, and the budget that they share."""
        return json_answer(self._pictures.current()["windows"])

    def views(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """Its views."""
        return json_answer({"views": self._pictures.current()["views"]})

    def operations(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """How queries and histories are getting on, on Spark."""
        return json_answer({"operations": self._pictures.current()["operations"]})

    def batches(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """Spark's latest batches."""
        return json_answer({"batches": self._pictures.current()["batches"]})

    def decisions(self, request: Request) -> Response:
        """What the governor has decided lately."""
        table = self._registry.table("decisions")
        return arrow(table, {}) if wants_arrow(request) else json_answer(table_values(table))

    def metrics(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """For Prometheus."""
        return PlainTextResponse(self._registry.metrics(), headers={"content-type": CONTENT_TYPE})
