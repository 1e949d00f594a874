"""The WebSocket: what has changed since the last message, at most five times a second.

Nothing is queued for a client. It has its place in each feed, and the next message is made when the
last one has been taken; so one that is slow gets fewer and larger messages, one that is too slow
is told what it missed, and one that takes nothing for SEND_TIMEOUT_S is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from windrow.apps.console.endpoints.feeds import piece_values
from windrow.apps.console.guard import POLICY_VIOLATED, is_still_let_in
from windrow.apps.console.history_values import histories_of
from windrow.apps.console.json_rows import dumped
from windrow.apps.console.limits import LIVE_ROWS, NAME_CHARACTERS_LIMIT, SEND_TIMEOUT_S
from windrow.apps.console.refusals import RequestError, body_is_no_json, error_of
from windrow.apps.console.standing import Standing
from windrow.errors import WindrowError

__all__ = ["TICK_S", "Live"]

TICK_S = 0.2
FIRST_ROWS = 1_000  # of a feed, where the client does not say from where on
_TRY_LATER = 1013
_FEEDS = ("answers", "changes")
_SECTIONS = ("session", "queries", "windows", "views", "streams", "batches", "operations")


class Live:
    """Serves one client after the other has connected."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing

    async def __call__(self, socket: WebSocket) -> None:
        """Until the client goes."""
        try:
            with self._standing.seats.taken_by_one():
                await socket.accept()
                await self._serve(socket)
        except RequestError:
            await socket.close(_TRY_LATER)

    async def _serve(self, socket: WebSocket) -> None:
        client = _Client(self._standing)
        async with anyio.create_task_group() as both:

            async def telling() -> None:
                await _tell(socket, client)
                both.cancel_scope.cancel()

            both.start_soon(telling)
            await _listen(socket, client)
            both.cancel_scope.cancel()


async def _listen(socket: WebSocket, client: _Client) -> None:
    """Until the client has gone."""
    while True:
        try:
            text = await socket.receive_text()
        except (WebSocketDisconnect, KeyError):  # a message without text has none to give
            return
        try:
            client.watch(_watched(text))
        except WindrowError as error:
            client.problem = error_of(error)


async def _tell(socket: WebSocket, client: _Client) -> None:
    """Until the client has gone, takes nothing any more, or has logged out."""
    while is_still_let_in(socket.scope):
        text = await run_in_threadpool(client.message)
        if text is not None and not await _is_sent(socket, text):
            return
        await anyio.sleep(TICK_S)
    await socket.close(POLICY_VIOLATED)  # the browser has logged out, or was too long away


async def _is_sent(socket: WebSocket, text: str) -> bool:
    try:
        with anyio.move_on_after(SEND_TIMEOUT_S) as sending:
            await socket.send_text(text)
    except WebSocketDisconnect:
        return False
    return not sending.cancelled_caught


def _watched(text: str) -> Mapping[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise body_is_no_json(str(problem)) from None
    watch = message.get("watch") if isinstance(message, dict) else None
    if not isinstance(watch, dict):
        raise body_is_no_json('it is not {"watch": {...}}')
    name = watch.get("query")
    if name is not None and (not isinstance(name, str) or len(name) > NAME_CHARACTERS_LIMIT):
        raise body_is_no_json("'query' must be a name or null")
    for feed in ("answers_after", "changes_after"):
        number = watch.get(feed)
        if number is not None and (type(number) is not int or number < 0):
            raise body_is_no_json(f"{feed!r} must be a whole number")
    feeds = watch.get("feeds", [])
    if not isinstance(feeds, list) or any(feed not in _FEEDS for feed in feeds):
        raise body_is_no_json(f"'feeds' must be a list of {' and '.join(_FEEDS)}")
    return watch


@dataclass(frozen=True)
class _Watched:
    """What a client watches, and its place in each feed; exchanged as a whole.

    The places are moved by the thread that makes a message while another may already have taken the
    client's next wish: they belong to the wish, not to the client.
    """

    query: str | None = None
    with_histories: bool = False
    after: dict[str, int | None] = field(default_factory=dict)


class _Client:
    """What one client watches, and what it was sent."""

    def __init__(self, standing: Standing) -> None:
        self._registry, self._pictures = standing.registry, standing.pictures
        self._told: dict[str, Any] = {}
        self._watched = _Watched()
        self.problem: dict[str, Any] | None = None

    def watch(self, wanted: Mapping[str, Any]) -> None:
        """Another query, or none."""
        name = wanted.get("query")
        if name is not None:
            self._registry.query(name)  # refused where there is none
        after = {feed: wanted.get(f"{feed}_after") for feed in wanted.get("feeds", _FEEDS)}
        self._watched = _Watched(name, bool(wanted.get("histories")), after)
        self._told.pop("histories", None)

    def message(self) -> str | None:
        """All that has changed since the last one; None where nothing has."""
        picture, watched = self._pictures.current(), self._watched
        message: dict[str, Any] = {
            name: picture[name] for name in _SECTIONS if self._is_news(name, picture[name])
        }
        if watched.with_histories:
            histories = histories_of(self._registry)
            if self._is_news("histories", histories):
                message["histories"] = histories
        if watched.query is not None:
            message |= self._feeds(watched.query, watched.after)
        if self.problem is not None:
            message["error"], self.problem = self.problem, None
        return dumped(message) if message else None

    def _is_news(self, name: str, value: Any) -> bool:
        shown = value
        if name == "session":  # a later time alone is no news
            shown = {**value, "now_us": 0}
        if self._told.get(name) == shown:
            return False
        self._told[name] = shown
        return True

    def _feeds(self, name: str, places: dict[str, int | None]) -> dict[str, Any]:
        try:
            followed, found = self._registry.query(name), {}
        except RequestError as error:  # it has ended, and made room for another
            self._watched = _Watched()
            return {"error": error_of(error)}
        for feed, after in places.items():
            ring = followed.ring(feed)
            is_first = after is None
            piece = ring.newest(FIRST_ROWS) if after is None else ring.read(after, LIVE_ROWS)
            if piece.table.num_rows or is_first:
                places[feed] = piece.next
                found[feed] = {"query": name, **piece_values(piece)}
        return found
