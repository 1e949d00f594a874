"""Connections that have shown no secret yet: few of them, and not for long.

Whoever can reach the port can open connections and say nothing, or one byte a minute. Each takes a
place, so that the owner would find none. A connection must send a whole request soon; of those
without an authenticated one their number is limited, and the oldest is closed for the next.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from windrow.apps.console.limits import REQUEST_TIMEOUT_S, STRANGERS_LIMIT

__all__ = ["Door", "TimedProtocol", "timed_protocol"]

Client = tuple[str, int]


class Door:
    """Strangers by address and port, in the order in which they came."""

    def __init__(self, limit: int = STRANGERS_LIMIT) -> None:
        self._limit = limit
        self._strangers: dict[Client, Callable[[], None]] = {}

    def arrive(self, client: Client, drop: Callable[[], None]) -> None:
        """One more; where there are too many, one goes: of the address with most, the oldest."""
        if len(self._strangers) >= self._limit:
            counts = Counter(host for host, _ in self._strangers)
            (busiest, _), *_ = counts.most_common(1)
            oldest = next(each for each in self._strangers if each[0] == busiest)
            self._strangers.pop(oldest)()
        self._strangers[client] = drop

    def let_in(self, client: Client | None) -> None:
        """It has shown a secret, or has gone: it is no stranger any more."""
        if client is not None:
            self._strangers.pop((client[0], client[1]), None)


class TimedProtocol(H11Protocol):
    """A connection of uvicorn's that passes the door and must come to the point."""

    door: ClassVar[Door]
    timeout_s: ClassVar[float] = REQUEST_TIMEOUT_S
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody has connected."""
        super().connection_made(transport)
        if self.client is not None:
            self.door.arrive(self.client, transport.abort)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever it was has gone."""
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Another class takes the connection over; the guard decides about it at once."""
        self._leave()
        super().handle_websocket_upgrade(event)

    def _watch(self) -> None:
        """A deadline as long as a request is on its way; none while it is answered."""
        request = self.cycle
        is_whole = request is not None and not request.more_body
        if self.transport.is_closing() or (is_whole and not request.response_complete):
            self._stop_watching()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.timeout_s, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _leave(self) -> None:
        self._stop_watching()
        self.door.let_in(self.client)


def timed_protocol(door: Door) -> type[TimedProtocol]:
    """A class for uvicorn, which makes the connections itself."""
    return type("TimedProtocol", (TimedProtocol,), {"door": door})
