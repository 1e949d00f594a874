"""The way out: a browser gives its cookie back."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from windrow.apps.console.answers import json_answer
from windrow.apps.console.guard import cookie_of
from windrow.apps.console.token import Secrets

__all__ = ["Logout"]


class Logout:
    """POST /api/v1/logout: the cookie serves no more, here or wherever it was copied to."""

    def __init__(self, secrets: Secrets, cookie_name: str) -> None:
        self._secrets, self._cookie_name = secrets, cookie_name

    async def __call__(self, request: Request) -> Response:
        """One browser; a program that sends the token has none, and stays let in."""
        self._secrets.forget_cookie(cookie_of(request.headers, self._cookie_name))
        answer = json_answer({})
        answer.delete_cookie(self._cookie_name, path="/", httponly=True, samesite="strict")
        return answer
