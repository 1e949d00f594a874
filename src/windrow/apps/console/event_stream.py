"""The change feed as server-sent events: one event for each change, its number as the id."""

from __future__ import annotations

from collections.abc import Mapping

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from windrow.apps.console.guard import is_still_let_in
from windrow.apps.console.json_rows import column_types, dumped, plain_rows
from windrow.apps.console.limits import LIVE_ROWS, SEND_TIMEOUT_S
from windrow.apps.console.parameters import count_of
from windrow.apps.console.ring import FeedPiece, FeedRing
from windrow.apps.console.standing import Seats, Standing

__all__ = ["EventStream", "FeedEvents"]

POLL_S = 0.1
# A comment after so much silence lets both ends find out that the other has gone.
SILENCE_S = 15.0
_LARGEST_NUMBER = 2**53


class FeedEvents:
    """GET .../feed?after=N; a browser that reconnects says the last id in a header."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing

    async def __call__(self, request: Request) -> Response:
        """The stream."""
        query = self._standing.registry.query(request.path_params["name"])
        ring = query.ring("changes")
        after = count_of(request, "after", ring.last, _LARGEST_NUMBER)
        last = request.headers.get("last-event-id", "")
        if last.isascii() and last.isdigit() and len(last) < 17:
            after = int(last)
        return EventStream(ring, after, self._standing.seats)


class EventStream(Response):
    """Sends what comes until the client goes, or takes nothing for SEND_TIMEOUT_S."""

    media_type = "text/event-stream"

    def __init__(self, ring: FeedRing, after: int, seats: Seats) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._ring, self._after, self._seats = ring, after, seats

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """One client; what the request was is known already."""
        with self._seats.taken_by_one():
            start = {"status": 200, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            async with anyio.create_task_group() as both:

                async def telling() -> None:
                    await self._tell(scope, send)
                    both.cancel_scope.cancel()

                both.start_soon(telling)
                await _gone(receive)
                both.cancel_scope.cancel()

    async def _tell(self, scope: Scope, send: Send) -> None:
        """Until the client takes nothing any more, or has logged out."""
        columns = dumped({"columns": column_types(self._ring.schema)})
        text, silent_s = f"event: columns\ndata: {columns}\n\n", 0.0
        while await _is_sent(send, text):
            text = ""
            while not text:
                if not is_still_let_in(scope):
                    return
                piece = self._ring.read(self._after, LIVE_ROWS)
                if piece.table.num_rows:
                    text = await run_in_threadpool(_events, piece)
                    self._after = piece.next
                elif silent_s >= SILENCE_S:
                    text = ": nothing new\n\n"
                else:
                    await anyio.sleep(POLL_S)
                    silent_s += POLL_S
            silent_s = 0.0


def _events(piece: FeedPiece) -> str:
    parts = []
    if piece.missed:
        parts.append(f"event: missed\ndata: {dumped({'missed': piece.missed})}\n\n")
    number = piece.next - piece.table.num_rows
    for row in plain_rows(piece.table):
        number += 1
        parts.append(f"id: {number}\nevent: change\ndata: {dumped(row)}\n\n")
    return "".join(parts)


async def _gone(receive: Receive) -> None:
    message: Mapping[str, object] = {}
    while message.get("type") != "http.disconnect":
        message = await receive()


async def _is_sent(send: Send, text: str) -> bool:
    message: Message = {"type": "http.response.body", "body": text.encode(), "more_body": True}
    with anyio.move_on_after(SEND_TIMEOUT_S) as sending:
        await send(message)
    return not sending.cancelled_caught
