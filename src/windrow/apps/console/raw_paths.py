"""Paths are taken apart before they are decoded, so that a name may hold a slash."""

from __future__ import annotations

from urllib.parse import unquote

from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["NamedRoute", "RawPaths"]


class RawPaths:
    """Wraps an application: it is given paths as they were sent, `%2F` for a slash in a name."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        raw_path = scope.get("raw_path")
        if raw_path is not None:
            scope["path"] = raw_path.decode("latin-1")
        await self._app(scope, receive, send)


class NamedRoute(Route):
    """A route whose parameters are decoded once it has matched."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the route takes a request, with its parameters."""
        match, child = super().matches(scope)
        names = child.get("path_params", {})
        return match, {**child, "path_params": {key: unquote(str(names[key])) for key in names}}
