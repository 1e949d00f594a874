"""`windrow serve` as it really runs: killed, started again, ended by a signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

TOKEN = "a-token-of-24-characters"
SCRIPT = """
CREATE STREAM temp (room STRING, ts TIMESTAMP) TIME ts FROM http();
CREATE QUERY counts AS SELECT COUNT(*) AS n FROM temp [1 HOUR] EVERY (1 SECOND)
  INTO parquet('{out}');
"""


def begun(folder: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "windrow", "serve", *options, "--port", "0"]
    return subprocess.Popen(
        command,
        env={**os.environ, **environment},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    running = begun(folder, "--config", "windrow.toml", WINDROW_TOKEN=TOKEN)
    try:
        assert running.stdout is not None
        said: dict[str, Any] = json.loads(running.stdout.readline())
        assert said["event"] == "serving"
        assert "open" not in said  # who gave the token knows it
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/x-ndjson"}
        with httpx.Client(base_url=said["url"], headers=headers, timeout=60) as client:
            yield running, client
    finally:
        running.kill()
        running.communicate()


def send(client: httpx.Client, sequence: int) -> dict[str, Any]:
    numbered = {"windrow-producer": "me", "windrow-sequence": str(sequence)}
    body = f'{{"room": "a", "ts": "2026-01-01T00:00:{sequence:02}Z"}}\n'
    answer = client.post("/api/v1/streams/temp/rows", content=body, headers=numbered)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_what_was_answered_is_there_after_kill_9(tmp_path: Path) -> None:
    (tmp_path / "job.wql").write_text(SCRIPT.format(out=tmp_path / "out"))
    (tmp_path / "windrow.toml").write_text(
        'script = "job.wql"\nstate = "state"\nmemory = "4 MB"\nlog_format = "json"\n'
    )
    with serving(tmp_path) as (running, client):
        for sequence in (1, 2, 3):
            send(client, sequence)
        running.send_signal(signal.SIGKILL)
        running.wait()
    with serving(tmp_path) as (running, client):
        assert [send(client, sequence)["repeated"] for sequence in (2, 3, 4)] == [True, True, False]
        assert httpx.get(client.base_url.join("/readyz")).json() == {"ok": True, "reasons": []}
        (stream,) = client.get("/api/v1/streams").json()["streams"]
        assert stream["ledger"]["rows_in"] == 4
        assert "windrow_rows_in_total" in client.get("/metrics").text
        running.send_signal(signal.SIGTERM)
        _, log = running.communicate(timeout=60)
    assert running.returncode == 0, log
    assert TOKEN not in log
    entries = [json.loads(text) for text in log.splitlines()]
    assert [each["message"] for each in entries][-1] == "closed"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "WB610"),
        (("missing.wql",), "missing.wql"),
        (("job.wql", "--log-level", "loud"), "WB616"),
        (("job.wql", "--host", "0.0.0.0"), "WB601"),
    ],
)
def test_what_cannot_be_served_is_said(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    (tmp_path / "job.wql").write_text(SCRIPT.format(out=tmp_path / "out"))
    running = begun(tmp_path, *options)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 1
    assert words in errors
