"""The past: which histories there are, and questions about them."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from windrow.apps.console.answers import arrow, json_answer, table_values, wants_arrow
from windrow.apps.console.history_values import histories_of, series_values, tree_values
from windrow.apps.console.limits import POINTS_LIMIT, RESULT_ROWS_LIMIT, TREE_NODES_LIMIT
from windrow.apps.console.parameters import body_of, count_of, instant_given, query_text
from windrow.apps.console.standing import Standing

__all__ = ["HistoryEndpoints"]

POINTS = 500  # where the client gives no number


class HistoryEndpoints:
    """What can be asked about the past."""

    def __init__(self, standing: Standing) -> None:
        self._registry = standing.registry

    def list_all(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """All histories."""
        return json_answer({"histories": histories_of(self._registry)})

    async def ask(self, request: Request) -> Response:
        """The answer to a question."""
        text = query_text(await body_of(request, ("text",)))
        table = await run_in_threadpool(self._registry.ask, text)
        if wants_arrow(request):
            return arrow(table, {})
        shown = table.slice(0, RESULT_ROWS_LIMIT)
        truncated = shown.num_rows < table.num_rows
        return json_answer({**table_values(shown), "truncated": truncated})

    def series(self, request: Request) -> Response:
        """Points of a chart."""
        stream, given = request.path_params["stream"], request.query_params
        interval = (instant_given(request, "from_us"), instant_given(request, "to_us"))
        points = count_of(request, "points", POINTS, POINTS_LIMIT)
        measure, group = given.get("measure"), given.getlist("group")
        return json_answer(series_values(self._registry, stream, measure, interval, points, group))

    def tree(self, request: Request) -> Response:
        """The nodes of a history, newest first dropped last."""
        limit = count_of(request, "limit", TREE_NODES_LIMIT, TREE_NODES_LIMIT)
        group = request.query_params.getlist("group")
        return json_answer(tree_values(self._registry, request.path_params["stream"], limit, group))
