"""The console as it really runs: uvicorn on the loopback address, and the program itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from support.building_files import write_job
from support.small_registry import small_registry, temp_rows
from windrow.apps.cli import app
from windrow.apps.console.answers import ARROW
from windrow.apps.console.server import Address, ConsoleServer
from windrow.errors import BindingError


@pytest.fixture(scope="module")
def client(server: ConsoleServer) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {server.secrets.token}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=30) as client:
        yield client


def test_it_is_opened_by_its_address_once_and_again(server: ConsoleServer) -> None:
    with httpx.Client(follow_redirects=False, timeout=30) as browser:
        opened = browser.get(server.url_with_token)
        assert (opened.status_code, opened.headers["location"]) == (303, "/")
        assert browser.get(f"{server.url}api/v1/session").status_code == 200
    once = server.url_for_once()
    assert httpx.get(once, timeout=30).status_code == 303
    assert httpx.get(once, timeout=30).status_code == 401
    assert httpx.get(f"{server.url}api/v1/session", timeout=30).status_code == 401
    elsewhere = {"host": f"127.0.0.1:{server.port + 1}"}
    assert httpx.get(server.url_with_token, headers=elsewhere, timeout=30).status_code == 421


def test_feeds_come_over_the_wire(client: httpx.Client) -> None:
    answer = client.get("/api/v1/queries/rooms/answers")
    assert answer.headers["content-type"] == "application/json"
    arrow = client.get("/api/v1/queries/rooms/answers", headers={"accept": ARROW})
    assert arrow.headers["content-type"] == ARROW
    assert pa.ipc.open_stream(arrow.content).read_all().num_rows == len(answer.json()["rows"])


def test_changes_come_as_events_while_rows_come(
    server: ConsoleServer, client: httpx.Client
) -> None:
    whole = client.get("/api/v1/queries/hot/changes").json()["rows"]
    pushed = threading.Timer(0.3, push_more, [server])
    pushed.start()
    events: list[tuple[int, Any]] = []
    with client.stream("GET", "/api/v1/queries/hot/feed?after=2") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["cache-control"] == "no-store"
        for event in events_of(stream):
            if event["event"] == "change":
                events.append((int(event["id"]), json.loads(event["data"])))
            if len(events) == len(whole):  # two were left out, two and more are new
                break
    pushed.join()
    assert [number for number, _ in events] == list(range(3, 3 + len(events)))
    now = client.get("/api/v1/queries/hot/changes").json()["rows"]
    assert [row for _, row in events] == now[2 : 2 + len(events)]
    again = {"last-event-id": str(len(now) - 1)}
    with client.stream("GET", "/api/v1/queries/hot/feed", headers=again) as stream:
        event = next(each for each in events_of(stream) if each["event"] == "change")
        assert json.loads(event["data"]) == now[-1]


def push_more(server: ConsoleServer) -> None:
    server._registry.runner.session.push("temp", temp_rows(300, 60))


def events_of(stream: httpx.Response) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for line in stream.iter_lines():
        if not line:
            yield event
            event = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = value


def test_live_messages_come_over_the_wire(server: ConsoleServer) -> None:
    address = server.url.replace("http", "ws") + "api/v1/live"
    with pytest.raises(InvalidStatus, match="403"):
        connect(address)
    headers = {"Authorization": f"Bearer {server.secrets.token}"}
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, additional_headers=headers, origin="http://evil.example")  # type: ignore[arg-type]
    with connect(address, additional_headers=headers) as socket:
        socket.send(json.dumps({"watch": {"query": "rooms"}}))
        seen: set[str] = set()
        while "answers" not in seen:
            seen |= set(json.loads(socket.recv(timeout=20)))


def test_what_is_too_long_for_the_wire_is_refused(
    server: ConsoleServer, client: httpx.Client
) -> None:
    body = json.dumps({"text": "x" * 2_000_000}).encode()
    answer = client.post(
        "/api/v1/queries", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413
    headers = {"Authorization": f"Bearer {server.secrets.token}"}
    address = server.url.replace("http", "ws") + "api/v1/live"
    with connect(address, additional_headers=headers) as socket:
        socket.send("x" * 100_000)
        with pytest.raises(ConnectionClosed, match="1009"):
            _ = list(socket)


def test_addresses_that_cannot_be() -> None:
    registry = small_registry(rows=0)
    with pytest.raises(BindingError, match="WB601"):
        ConsoleServer(registry, Address("0.0.0.0"))
    taken = ConsoleServer(registry, Address())
    with pytest.raises(BindingError, match="WB602"):
        ConsoleServer(registry, Address(port=taken.port))
    other = ConsoleServer(registry, Address(port=None), usual_port=taken.port)
    assert other.port != taken.port
    assert other.url == f"http://127.0.0.1:{other.port}/"
    for server in (taken, other):
        server._socket.close()


@pytest.mark.parametrize(
    "ending", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_the_program_ends_by_a_signal_and_leaves_nothing(
    tmp_path: Path, ending: signal.Signals
) -> None:
    write_job(tmp_path)
    words = ["console", "job.wql", "--embedded", "--pace", "50", "--port", "0", "--json"]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "PYTHONUNBUFFERED": "1"}
    (tmp_path / "tmp").mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "windrow", *words],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        serving = json.loads(process.stdout.readline())
        assert serving["event"] == "serving"
        token = serving["open"].partition("token=")[2]
        url, headers = serving["url"], {"authorization": f"Bearer {token}"}
        assert httpx.get(serving["open"], timeout=30).status_code == 303
        wait_for_rows(url, headers)
        process.send_signal(ending)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + ending  # it has closed what it opened, and says so
    assert token not in errors
    assert token not in out
    assert "Traceback" not in errors
    assert list((tmp_path / "tmp").iterdir()) == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(url, headers=headers, timeout=5)


def wait_for_rows(url: str, headers: dict[str, str]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        streams = httpx.get(f"{url}api/v1/streams", headers=headers, timeout=30).json()["streams"]
        if all(each["ledger"]["rows_in"] for each in streams):
            return
        time.sleep(0.1)
    raise AssertionError("no rows came")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["bad.wql", "--embedded"], "WB"),
        (["empty.wql", "--embedded"], "WB516"),
        (["missing.wql", "--embedded"], "WD501"),
        (["--host", "0.0.0.0"], "WB601"),
    ],
)
def test_what_cannot_be_watched_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: str
) -> None:
    stream = "CREATE STREAM s (ts TIMESTAMP) TIME ts FROM parquet('none.parquet');\n"
    (tmp_path / "bad.wql").write_text(f"{stream}SELECT COUNT(*) FROM t [1 MINUTE];")
    (tmp_path / "empty.wql").write_text(stream)
    (tmp_path / "missing.wql").write_text(f"{stream}SELECT COUNT(*) AS n FROM s [1 MINUTE];")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["console", *words, "--no-open", "--json"])
    assert done.exit_code == 1
    assert f"[{code}" in done.stderr
    assert json.loads(done.stdout)["event"] == "error"
