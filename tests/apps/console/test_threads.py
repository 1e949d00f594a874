"""Many at once: rows come, one thread reads feeds off, clients read, and nobody loses anything."""

from __future__ import annotations

import threading
import time
from typing import Any

import anyio
import pyarrow as pa
import pytest
from starlette.websockets import WebSocketDisconnect

import windrow
from support.small_registry import START_US, small_registry, temp_rows
from windrow.apps.console import event_stream, live
from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.event_stream import EventStream
from windrow.apps.console.guard import STILL_LET_IN
from windrow.apps.console.picture import Pictures
from windrow.apps.console.registry import Registry
from windrow.apps.console.standing import Seats, Standing
from windrow.errors import DataError, WindrowError
from windrow.jobs.player import Piece, Player

ROWS, PIECE_ROWS, CLIENTS = 1_200, 20, 3
LET_IN = {STILL_LET_IN: lambda: True}


def test_clients_read_the_whole_feed_while_rows_come() -> None:
    registry = small_registry(rows=0)
    session = registry.runner.session
    ended = threading.Event()
    pieces = [Piece(None, {"temp": temp_rows(n, PIECE_ROWS)}) for n in range(0, ROWS, PIECE_ROWS)]
    player = Player(pieces, session.push, ended.set, registry.note_problem)
    read: list[list[pa.Table]] = [[] for _ in range(CLIENTS)]
    clients = [
        threading.Thread(target=follow, args=(registry, read[number], ended, 7 * (number + 1)))
        for number in range(CLIENTS)
    ]
    registry.start()
    for thread in (*clients, player):
        thread.start()
    assert ended.wait(60)
    player.stop()
    registry.close()
    registry.collect()
    for thread in clients:
        thread.join(60)
    alone = small_registry(rows=0)
    alone.runner.session.push("temp", temp_rows(0, ROWS))
    whole = alone.query("rooms").handle.changes()
    last = registry.query("rooms").ring("changes").last
    assert last == whole.num_rows
    for tables in read:
        got = pa.concat_tables(tables)
        place = got.num_rows
        rest = registry.query("rooms").ring("changes").read(place, last).table
        assert pa.concat_tables([got, rest]).equals(whole)
    assert registry.problem is None


def follow(registry: Registry, read: list[pa.Table], ended: threading.Event, limit: int) -> None:
    """One client, with pictures in between as a page has them."""
    ring, pictures, place = registry.query("rooms").ring("changes"), Pictures(registry), 0
    while not ended.is_set():
        piece = ring.read(place, limit)
        assert piece.missed == 0
        read.append(piece.table)
        place = piece.next
        assert pictures.current()["session"]["bytes"] >= 0


def test_a_pace_is_kept() -> None:
    given: list[tuple[float, str]] = []
    ended = threading.Event()
    pieces = [Piece(START_US + n * 1_000_000, {"s": temp_rows(n, 1)}) for n in range(4)]
    start = time.monotonic()
    player = Player(
        pieces,
        lambda stream, _: given.append((time.monotonic() - start, stream)),
        ended.set,
        lambda _: None,
        pace=20.0,
    )
    player.start()
    assert ended.wait(30)
    assert [stream for _, stream in given] == ["s"] * 4
    assert all(at >= 0.05 * number - 0.005 for number, (at, _) in enumerate(given))


def test_what_goes_wrong_with_a_piece_is_told_and_the_next_is_played() -> None:
    told: list[WindrowError] = []
    taken: list[int] = []
    ended = threading.Event()

    def take(_: str, rows: pa.Table) -> None:
        if rows.num_rows == 2:
            raise DataError("WD101", "no room")
        taken.append(rows.num_rows)

    player = Player(
        [Piece(None, {"s": temp_rows(0, n)}) for n in (1, 2, 3)], take, ended.set, told.append
    )
    player.start()
    assert ended.wait(30)
    player.stop()
    assert (taken, [error.code for error in told]) == ([1, 3], ["WD101"])


def test_a_listener_that_takes_no_event_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "SEND_TIMEOUT_S", 0.05)
    ring, seats = small_registry().query("hot").ring("changes"), Seats()
    sent: list[str] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])
        if message["type"] == "http.response.body":
            await anyio.sleep(60)  # its buffers are full, and nobody reads

    async def receive() -> Any:
        await anyio.sleep(60)

    async def served() -> None:
        with anyio.fail_after(10):
            await EventStream(ring, 0, seats)(LET_IN, receive, send)

    anyio.run(served)
    assert sent == ["http.response.start", "http.response.body"]
    assert seats.taken == 0


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_page_that_takes_no_message_is_dropped(
    monkeypatch: pytest.MonkeyPatch, is_gone: bool
) -> None:
    monkeypatch.setattr(live, "SEND_TIMEOUT_S", 0.05)
    registry = small_registry()
    standing = Standing(registry, Pictures(registry))

    class Socket:
        """A client whose buffers are full."""

        scope = LET_IN

        async def accept(self) -> None:
            return

        async def send_text(self, _: str) -> None:
            if is_gone:
                raise WebSocketDisconnect(1006)
            await anyio.sleep(60)

        async def receive_text(self) -> str:
            await anyio.sleep(60)
            return ""

    async def served() -> None:
        with anyio.fail_after(10):
            await live.Live(standing)(Socket())  # type: ignore[arg-type]

    anyio.run(served)
    assert standing.seats.taken == 0


def test_a_query_that_fails_is_shown_as_failed() -> None:
    registry = small_registry(rows=0)
    query = registry.query("hot")
    error = DataError("WD201", "a division by zero")

    class Broken:
        name, plan, is_running = query.name, query.handle.plan, True

        def answers(self) -> pa.Table:
            raise error

    query.handle = Broken()  # type: ignore[assignment]
    registry.collect()
    assert query.state == "failed"
    registry.collect()  # and is left alone from then on
    assert query.error is error


def test_a_query_that_stops_for_lack_of_a_value_says_why() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x bigint", time="ts")
    registry = Registry(EmbeddedRunner(session), "sums")
    query = registry.add("SELECT SUM(x) AS x FROM s [1 SECOND]", "sums")
    session.push("s", {"ts": ["2026-01-01"] * 2, "x": [2**62] * 2})
    with pytest.warns(RuntimeWarning, match="has stopped"):
        session.advance("s", to="2026-01-01")
    registry.collect()
    assert query.state == "failed"
    assert query.error is not None
    assert query.error.code == "WD302"


def test_a_fault_of_ours_in_one_query_does_not_end_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = small_registry(rows=0)
    query = registry.query("rooms")  # the first
    plan = query.handle.plan

    class Broken:
        name, is_running = query.name, True

        def answers(self) -> pa.Table:
            raise RuntimeError("a secret path")

    Broken.plan = plan  # type: ignore[attr-defined]
    query.handle = Broken()  # type: ignore[assignment]
    registry.runner.session.push("temp", temp_rows(0, 100))
    registry.collect()
    assert registry.query("load").answers > 0
    assert query.state == "failed"
    assert query.error is not None
    assert query.error.code == "WH500"
    assert "secret" not in str(query.error)
    assert "secret" in caplog.text  # where the console runs it is told
