"""Rows for a stream, by POST: JSON lines or Arrow IPC, answered when they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from windrow.apps.console.answers import ARROW, json_answer, refused
from windrow.apps.console.limits import (
    KEPT_TIMEOUT_S,
    NAME_CHARACTERS_LIMIT,
    ROWS_BYTES_LIMIT,
)
from windrow.apps.console.refusals import (
    RequestError,
    no_such_inbox,
    not_rows,
    rows_are_full,
    rows_are_not_taken,
    rows_are_refused,
    rows_left_out,
    too_large,
    wrong_header,
)
from windrow.connectors.http.inbox import FullError, GapError, NotReadyError, RefusedError

__all__ = ["JSON_LINES", "RowsEndpoint", "StreamInbox", "Taken"]

JSON_LINES = "application/x-ndjson"
_FORMS = {JSON_LINES: "jsonl", "application/json": "jsonl", ARROW: "arrow"}
RETRY_S = 1  # what waits is applied within about this time
_LARGEST = 2**62


class Taken(Protocol):
    """What became of the rows of a request: kept is done when they are."""

    @property
    def rows(self) -> int:
        """How many the body had."""

    @property
    def set_aside(self) -> int:
        """How many of them no column could hold."""

    @property
    def is_repeated(self) -> bool:
        """Whether they had come before."""

    @property
    def kept(self) -> Future[None]:
        """Done when they are in the state, and on its disk."""


# Takes a body of a form; producer and number of the batch, if it has any.
StreamInbox = Callable[[bytes, str, str | None, int], Taken]


class RowsEndpoint:
    """Rows by stream: those whose source is http()."""

    def __init__(self, inboxes: Mapping[str, StreamInbox]) -> None:
        self._inboxes = inboxes

    async def take(self, request: Request) -> Response:
        """All rows of the body, or none of them."""
        name = request.path_params["stream"]
        inbox = self._inboxes.get(name)
        if inbox is None:
            raise no_such_inbox(name, [*self._inboxes])
        given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if given not in _FORMS:
            raise not_rows(given, [*_FORMS])
        producer, sequence = _numbered(request)
        body = await _body_of(request)
        try:
            taken = await run_in_threadpool(inbox, body, _FORMS[given], producer, sequence)
            kept = asyncio.wrap_future(taken.kept)
            # A request that is given up must not take the word from others, or from the reader.
            await asyncio.wait_for(asyncio.shield(kept), KEPT_TIMEOUT_S)
        except GapError as gap:
            return refused(rows_left_out(gap.expected))
        except FullError:
            return _later(rows_are_full())
        except (NotReadyError, TimeoutError):
            return _later(rows_are_not_taken())
        except RefusedError as refusal:
            return refused(rows_are_refused(refusal.why))
        facts = {"rows": taken.rows, "set_aside": taken.set_aside, "repeated": taken.is_repeated}
        return json_answer(facts)


def _later(error: RequestError) -> Response:
    answer = refused(error)
    answer.headers["retry-after"] = str(RETRY_S)
    return answer


def _numbered(request: Request) -> tuple[str | None, int]:
    """Who sends, and the number of the batch: both or neither."""
    producer = request.headers.get("windrow-producer")
    given = request.headers.get("windrow-sequence")
    if producer is None and given is None:
        return None, 0
    if not producer or len(producer) > NAME_CHARACTERS_LIMIT:
        raise wrong_header(
            "Windrow-Producer", f"give a name of 1 to {NAME_CHARACTERS_LIMIT} characters"
        )
    if given is None or not (given.isascii() and given.isdigit() and int(given[:20]) <= _LARGEST):
        raise wrong_header("Windrow-Sequence", "give whole numbers that count the batches: 1, 2, 3")
    return producer, int(given)


async def _body_of(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > ROWS_BYTES_LIMIT:
            raise too_large("the body in bytes", ROWS_BYTES_LIMIT)
    return bytes(body)
