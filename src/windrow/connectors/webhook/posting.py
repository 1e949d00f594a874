"""One request, again and again until it is taken; waits grow, and differ."""

from __future__ import annotations

import http.client
import random
import ssl
import threading
import urllib.error
import urllib.request
from email.message import Message
from typing import IO, Any

from windrow.connectors.webhook.connector import Webhook
from windrow.errors import DataError

__all__ = ["Poster"]

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
# Of these the request may be taken the next time.
_PASSING = frozenset([408, 425, 429, 500, 502, 503, 504])


class Poster:
    """Posts bodies to one address; stopping: no attempt is made after it is set."""

    def __init__(self, sink: Webhook) -> None:
        self._sink = sink
        self._opener = urllib.request.build_opener(_NoRedirects)
        self.stopping = threading.Event()

    def post(self, body: bytes, key: str, what: str) -> None:
        """Returns when it was taken; key: the same for each attempt, and no other body has it."""
        wait_s, last = FIRST_WAIT_S, ""
        for attempt in range(self._sink.retries + 1):
            asked_s = 0.0
            try:
                self._once(body, key)
                return
            except urllib.error.HTTPError as problem:
                last = f"HTTP {problem.code}"
                asked_s = _retry_after_s(problem)
                problem.close()
                if problem.code not in _PASSING:
                    raise self._failed("WD841", what, last, "the request is wrong") from None
            except (OSError, http.client.HTTPException) as problem:
                last = _told(problem)
            if attempt < self._sink.retries:
                longest_s = max(asked_s, random.uniform(0, wait_s))
                if self.stopping.wait(min(longest_s, LONGEST_WAIT_S)):
                    break
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)
        raise self._failed("WD840", what, last, "check that it answers")

    def _once(self, body: bytes, key: str) -> None:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "windrow",
            "Idempotency-Key": key,
            **self._sink.headers,
        }
        request = urllib.request.Request(self._sink.url, body, headers, method="POST")
        with self._opener.open(request, timeout=self._sink.timeout_s) as answer:
            answer.read(1)

    def _failed(self, code: str, what: str, last: str, hint: str) -> DataError:
        return DataError(
            code,
            f"the webhook at {self._sink.shown} has not taken {what}: {last}",
            hint=f"{hint}; with a state or a checkpoint a restart posts the batch again",
            place=self._sink.place,
        )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirected POST would become a GET, and secrets would go elsewhere."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> Any:
        return None


def _retry_after_s(problem: urllib.error.HTTPError) -> float:
    given = problem.headers.get("Retry-After", "") if problem.headers else ""
    return float(given) if given.isdigit() else 0.0


def _told(problem: Exception) -> str:
    """Its kind and its reason, which names no address."""
    reason = getattr(problem, "reason", problem)
    if isinstance(reason, ssl.SSLError):
        return f"TLS: {reason.reason or 'failed'}"
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return type(reason).__name__ if isinstance(reason, Exception) else str(reason)
