"""Queries: listed, added, stopped, explained."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from windrow.apps.console.answers import json_answer
from windrow.apps.console.parameters import body_of, query_text, text_of
from windrow.apps.console.refusals import error_of
from windrow.apps.console.standing import Standing
from windrow.errors import WindrowError

__all__ = ["QueryEndpoints"]


class QueryEndpoints:
    """What can be done with queries."""

    def __init__(self, standing: Standing) -> None:
        self._registry, self._pictures = standing.registry, standing.pictures

    def list_all(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """All queries."""
        return json_answer({"queries": self._pictures.current()["queries"]})

    async def add(self, request: Request) -> Response:
        """A new query."""
        values = await body_of(request, ("text", "name", "algorithm", "store"))
        text, name = query_text(values), text_of(values, "name", None)
        algorithm = text_of(values, "algorithm", None) or "auto"
        store = text_of(values, "store", None) or "auto"
        added = await run_in_threadpool(self._registry.add, text, name or None, algorithm, store)
        shown = await run_in_threadpool(self._one, added.name)
        return json_answer(shown, HTTPStatus.CREATED)

    def get(self, request: Request) -> Response:
        """One query, with its plan."""
        name = request.path_params["name"]
        return json_answer({**self._one(name), "explain": self._registry.explained(name)})

    def stop(self, request: Request) -> Response:
        """Stops a query."""
        self._registry.stop(request.path_params["name"])
        return json_answer(self._one(request.path_params["name"]))

    async def explain(self, request: Request) -> Response:
        """The plan of a text, or what is wrong with it: an editor asks this while one types."""
        text = query_text(await body_of(request, ("text",)))
        return json_answer(await run_in_threadpool(self._explained, text))

    def _explained(self, text: str) -> dict[str, Any]:
        try:
            plan, columns = self._registry.explain(text)
        except WindrowError as error:
            return {"ok": False, "error": error_of(error)}
        return {"ok": True, "plan": plan, "columns": columns}

    def _one(self, name: str) -> dict[str, Any]:
        self._registry.query(name)  # refused where there is none
        queries: list[dict[str, Any]] = self._pictures.fresh()["queries"]
        return next(each for each in queries if each["name"] == name)
