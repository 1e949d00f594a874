"""Health and readiness, for orchestrators: 200, or 503 with the reasons."""

from __future__ import annotations

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from windrow.apps.console.answers import json_answer
from windrow.apps.console.health import Health

__all__ = ["HEALTH_PATHS", "HealthEndpoints"]

# These alone are answered without the token.
HEALTH_PATHS = ("/healthz", "/readyz")


class HealthEndpoints:
    """What is asked again and again, and must be quick."""

    def __init__(self, health: Health) -> None:
        self._health = health

    async def healthz(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """Whether it lives."""
        return _answer(self._health.faults())

    async def readyz(self, request: Request) -> Response:  # noqa: ARG002 - all endpoints take it
        """Whether it takes rows."""
        return _answer([*self._health.faults(), *self._health.waits()])


def _answer(reasons: list[str]) -> Response:
    status = HTTPStatus.SERVICE_UNAVAILABLE if reasons else HTTPStatus.OK
    return json_answer({"ok": not reasons, "reasons": reasons}, status)
