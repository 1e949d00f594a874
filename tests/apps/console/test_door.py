"""Connections that say nothing, or little, do not keep the owner out."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing

import httpx
import pytest

from support.small_registry import small_registry
from windrow.apps.console.door import Door, TimedProtocol
from windrow.apps.console.limits import CONNECTIONS_LIMIT
from windrow.apps.console.server import Address, ConsoleServer

HALF = b"GET /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "


def test_the_oldest_stranger_of_the_busiest_address_makes_room() -> None:
    dropped: list[tuple[str, int]] = []
    door = Door(limit=3)
    for client in (("owner", 1), ("evil", 1), ("evil", 2), ("evil", 3), ("evil", 4)):
        door.arrive(client, lambda client=client: dropped.append(client))
    assert dropped == [("evil", 1), ("evil", 2)]
    door.let_in(("owner", 1))
    door.let_in(("nobody", 1))
    door.let_in(None)
    door.arrive(("evil", 5), lambda: dropped.append(("evil", 5)))
    assert len(dropped) == 2


def opened(server: ConsoleServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


def status(server: ConsoleServer) -> int:
    headers = {"authorization": f"Bearer {server.secrets.token}"}
    return httpx.get(f"{server.url}api/v1/session", headers=headers, timeout=30).status_code


@pytest.mark.parametrize("said", [b"", HALF])
def test_many_that_say_nothing_do_not_keep_the_owner_out(
    server: ConsoleServer, said: bytes
) -> None:
    with ExitStack() as open_ones:
        for _ in range(CONNECTIONS_LIMIT + 12):
            silent = open_ones.enter_context(closing(opened(server)))
            if said:
                silent.send(said)
        assert status(server) == 200


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConsoleServer]:
    monkeypatch.setattr(TimedProtocol, "timeout_s", 0.2)
    server = ConsoleServer(small_registry(rows=0), Address())
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(ready.set,))
    thread.start()
    assert ready.wait(30)
    yield server
    server.stop()
    thread.join(30)


def was_closed(connection: socket.socket) -> bool:
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        return True
    return True


def whole(server: ConsoleServer, method: str = "GET", more: str = "") -> bytes:
    return (
        f"{method} /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {server.secrets.token}\r\n{more}\r\n"
    ).encode()


def test_a_connection_that_does_not_come_to_the_point_is_closed(impatient: ConsoleServer) -> None:
    body = "Content-Type: application/json\r\nContent-Length: 1000\r\n"
    beginnings = {
        "nothing": b"",
        "half a request": HALF,
        "no body": whole(impatient, "POST", body),
    }
    for name, sent in beginnings.items():
        with closing(opened(impatient)) as connection:
            connection.sendall(sent)
            assert was_closed(connection), name
    with closing(opened(impatient)) as connection:
        connection.sendall(whole(impatient))
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.sendall(HALF)
        assert was_closed(connection), "half a second request"


def test_what_is_being_answered_is_not_cut_off(impatient: ConsoleServer) -> None:
    """The stream of events lasts longer than a request may take to come."""
    headers = {"authorization": f"Bearer {impatient.secrets.token}"}
    address = f"{impatient.url}api/v1/queries/hot/feed"
    with httpx.stream("GET", address, headers=headers, timeout=30) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: columns"
        threading.Event().wait(0.5)
        impatient._registry.runner.session.push(
            "temp", [{"location": "lab", "ts": "2026-01-01 00:00:00", "celsius": 50.0}]
        )
        impatient._registry.runner.session.finish()
        assert "event: change" in lines
