"""The application: all routes, behind the guard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from windrow.apps.console.answers import json_answer, refused
from windrow.apps.console.door import Door
from windrow.apps.console.endpoints.feeds import FeedEndpoints
from windrow.apps.console.endpoints.health import HealthEndpoints
from windrow.apps.console.endpoints.histories import HistoryEndpoints
from windrow.apps.console.endpoints.logout import Logout
from windrow.apps.console.endpoints.pages import Files, page
from windrow.apps.console.endpoints.queries import QueryEndpoints
from windrow.apps.console.endpoints.rows import RowsEndpoint, StreamInbox
from windrow.apps.console.endpoints.session import SessionEndpoints
from windrow.apps.console.event_stream import FeedEvents
from windrow.apps.console.guard import Guard
from windrow.apps.console.health import Health, Healthy
from windrow.apps.console.hosts import Hosts
from windrow.apps.console.live import Live
from windrow.apps.console.openapi.document import document
from windrow.apps.console.picture import Pictures
from windrow.apps.console.raw_paths import NamedRoute, RawPaths
from windrow.apps.console.refusals import RequestError, console_failed, no_such_path
from windrow.apps.console.registry import Registry
from windrow.apps.console.standing import Standing
from windrow.apps.console.token import Secrets
from windrow.errors import WindrowError

__all__ = ["API", "Service", "application"]

API = "/api/v1"


@dataclass(frozen=True)
class Service:
    """What a service has and a console that only shows has not."""

    health: Health = field(default_factory=Healthy)
    inboxes: Mapping[str, StreamInbox] = field(default_factory=dict)


def application(
    registry: Registry,
    hosts: Hosts,
    secrets: Secrets,
    door: Door | None = None,
    service: Service | None = None,
) -> Guard:
    """The console of a registry; the guard stands before what the framework itself answers, too."""
    offered = service or Service()
    handlers = {WindrowError: _failed, HTTPException: _http_failed, Exception: _broken}
    guard = Guard(Starlette(), hosts, secrets, door)
    routes = _routes(Standing(registry, Pictures(registry)), document(guard.cookie_name))
    logout = Logout(secrets, guard.cookie_name)
    routes.append(Route(f"{API}/logout", logout.__call__, methods=["POST"]))
    health, rows = HealthEndpoints(offered.health), RowsEndpoint(offered.inboxes)
    routes += [
        Route("/healthz", health.healthz, methods=["GET"]),
        Route("/readyz", health.readyz, methods=["GET"]),
        NamedRoute(f"{API}/streams/{{stream}}/rows", rows.take, methods=["POST"]),
    ]
    before = [Middleware(RawPaths)]
    guard.app = Starlette(routes=routes, middleware=before, exception_handlers=handlers)
    return guard


def _routes(standing: Standing, api: dict[str, Any]) -> list[BaseRoute]:
    session, queries = SessionEndpoints(standing), QueryEndpoints(standing)
    feeds, histories = FeedEndpoints(standing), HistoryEndpoints(standing)
    one = f"{API}/queries/{{name}}"
    return [
        Route("/", page, methods=["GET"]),
        Route("/static/{path:path}", Files(), methods=["GET"]),
        Route("/metrics", session.metrics, methods=["GET"]),
        Route(f"{API}/openapi.json", lambda _: json_answer(api), methods=["GET"]),
        Route(f"{API}/session", session.session, methods=["GET"]),
        Route(f"{API}/streams", session.streams, methods=["GET"]),
        Route(f"{API}/windows", session.windows, methods=["GET"]),
        Route(f"{API}/views", session.views, methods=["GET"]),
        Route(f"{API}/decisions", session.decisions, methods=["GET"]),
        Route(f"{API}/batches", session.batches, methods=["GET"]),
        Route(f"{API}/operations", session.operations, methods=["GET"]),
        Route(f"{API}/queries", queries.list_all, methods=["GET"]),
        Route(f"{API}/queries", queries.add, methods=["POST"]),
        NamedRoute(one, queries.get, methods=["GET"]),
        NamedRoute(one, queries.stop, methods=["DELETE"]),
        NamedRoute(f"{one}/result", feeds.result, methods=["GET"]),
        NamedRoute(f"{one}/answers", feeds.answers, methods=["GET"]),
        NamedRoute(f"{one}/changes", feeds.changes, methods=["GET"]),
        NamedRoute(f"{one}/feed", FeedEvents(standing).__call__, methods=["GET"]),
        Route(f"{API}/explain", queries.explain, methods=["POST"]),
        Route(f"{API}/ask", histories.ask, methods=["POST"]),
        Route(f"{API}/histories", histories.list_all, methods=["GET"]),
        NamedRoute(f"{API}/histories/{{stream}}/series", histories.series, methods=["GET"]),
        NamedRoute(f"{API}/histories/{{stream}}/tree", histories.tree, methods=["GET"]),
        WebSocketRoute(f"{API}/live", Live(standing).__call__),
    ]


def _failed(request: Request, error: Exception) -> Response:  # noqa: ARG001 - Starlette gives it
    assert isinstance(error, WindrowError)
    return refused(error)


def _http_failed(request: Request, error: Exception) -> Response:
    """What the router refuses, in the form that all errors have."""
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return refused(_wrong_method(request))
    return refused(no_such_path(request.url.path))


def _broken(request: Request, error: Exception) -> Response:  # noqa: ARG001 - Starlette gives it
    return refused(console_failed(error))


def _wrong_method(request: Request) -> RequestError:
    message = f"{request.url.path!r} does not support {request.method}"
    hint = "/api/v1/openapi.json lists the methods of each path"
    return RequestError(HTTPStatus.METHOD_NOT_ALLOWED, "WH410", message, hint)
