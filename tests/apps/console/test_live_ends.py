"""A client that goes while it is being told something is let go without a word."""

from __future__ import annotations

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from support.small_registry import small_registry
from windrow.apps.console.guard import STILL_LET_IN
from windrow.apps.console.live import Live
from windrow.apps.console.picture import Pictures
from windrow.apps.console.standing import Standing


async def nothing_comes() -> dict[str, str]:
    await anyio.sleep_forever()
    raise AssertionError


async def refuse(message: dict[str, object]) -> None:
    """As the server does once the client has closed the connection."""
    if message["type"] == "websocket.send":
        raise WebSocketDisconnect(1006)


def test_who_goes_between_two_messages_ends_his_own_seat_only() -> None:
    registry = small_registry(rows=10)
    standing = Standing(registry, Pictures(registry))
    waiting = [{"type": "websocket.connect"}]

    async def receive() -> dict[str, str]:
        return waiting.pop() if waiting else await nothing_comes()

    async def serve() -> None:
        with anyio.fail_after(20):
            scope = {"type": "websocket", STILL_LET_IN: lambda: True}
            await Live(standing)(WebSocket(scope, receive, refuse))  # type: ignore[arg-type]

    anyio.run(serve)
    assert standing.seats.taken == 0
