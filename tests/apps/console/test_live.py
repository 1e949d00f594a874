"""What one client of the WebSocket is told, whatever happens while it is being told."""

from __future__ import annotations

import json
import threading
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from support.small_registry import small_registry, temp_rows
from windrow.apps.console import live
from windrow.apps.console.live import _Client
from windrow.apps.console.picture import Pictures
from windrow.apps.console.registry import Registry
from windrow.apps.console.server import ConsoleServer
from windrow.apps.console.standing import Standing

ROWS = "SELECT celsius FROM temp [1 MINUTE]"


def client_in(registry: Registry) -> _Client:
    return _Client(Standing(registry, Pictures(registry)))


def told(client: _Client) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(client.message() or "{}")
    return found


def test_a_wish_that_comes_while_a_message_is_made_keeps_its_own_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = client_in(small_registry())
    wish = {"query": "rooms", "answers_after": 5, "changes_after": 7}
    real = live.piece_values

    def interrupted(piece: Any) -> dict[str, Any]:
        monkeypatch.setattr(live, "piece_values", real)
        client.watch(wish)
        return real(piece)

    client.watch({"query": "load"})
    monkeypatch.setattr(live, "piece_values", interrupted)
    first = told(client)
    assert {first["answers"]["query"], first["changes"]["query"]} == {"load"}
    second = told(client)
    assert second["answers"]["query"] == "rooms"
    assert second["answers"]["next"] - len(second["answers"]["rows"]) == 5
    assert second["changes"]["next"] - len(second["changes"]["rows"]) == 7


def test_only_the_feeds_that_are_wished_for_are_sent() -> None:
    registry = small_registry()
    client = client_in(registry)
    client.watch({"query": "hot", "feeds": ["changes"], "changes_after": 0})
    message = told(client)
    assert message["changes"]["rows"]
    assert "answers" not in message
    registry.runner.session.push("temp", temp_rows(300, 20))
    registry.collect()
    assert "answers" not in told(client)


@pytest.mark.parametrize("feeds", ["changes", ["answer"], [[]], {"answers": 1}, None])
def test_feeds_that_there_are_not_are_refused(feeds: object) -> None:
    with pytest.raises(live.RequestError, match="WH408"):
        live._watched(json.dumps({"watch": {"query": None, "feeds": feeds}}))


def test_a_query_that_is_forgotten_while_it_is_watched_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = small_registry()
    client = client_in(registry)
    client.watch({"query": "hot"})
    assert "error" not in told(client)
    monkeypatch.setattr("windrow.apps.console.registry.QUERIES_LIMIT", 4)
    registry.stop("hot")
    registry.add(ROWS, "other")
    assert told(client)["error"]["code"] == "WH405"
    assert "error" not in told(client)


def test_a_name_that_is_not_known_holds_nobody_up_while_the_session_is_busy(
    server: ConsoleServer,
) -> None:
    """One thread serves all clients: it must not wait for who works on the session."""
    headers = {"Authorization": f"Bearer {server.secrets.token}"}
    address = server.url.replace("http", "ws") + "api/v1/live"
    let_go, is_held = threading.Event(), threading.Event()

    def work() -> None:
        with server._registry.runner.lock:
            is_held.set()
            let_go.wait(30)

    with connect(address, additional_headers=headers) as socket:
        working = threading.Thread(target=work)
        working.start()
        try:
            assert is_held.wait(10)
            socket.send(json.dumps({"watch": {"query": "nobody"}}))
            for _ in range(3):  # the first may be served before the message is
                page = httpx.get(server.url, headers=headers, timeout=5)
                assert page.status_code == 200
        finally:
            let_go.set()
            working.join()
