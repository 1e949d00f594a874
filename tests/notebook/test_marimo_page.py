"""The chart on a page of marimo, in a browser: what a thread pushes appears while one watches."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.notebook

ROOT = Path(__file__).parents[2]
DEADLINE_S = 120.0
APP = """
import marimo

app = marimo.App()


@app.cell
def _():
    import threading
    import time
    from datetime import UTC, datetime, timedelta

    import windrow

    session = windrow.connect()
    session.stream("temp", "room string, ts timestamp, celsius double", time="ts")
    hot = session.query(
        "SELECT room, COUNT(*) AS n FROM temp [1 DAY] GROUP BY room EVERY (1 SECOND)", name="hot"
    )
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def play():
        for second in range(100_000):
            at = start + timedelta(seconds=second)
            session.push("temp", {"room": ["lab"], "ts": [at], "celsius": [40.0]})
            time.sleep(0.05)

    chart = hot.chart(refresh=0.2)
    threading.Thread(target=play, daemon=True).start()
    chart
    return
"""
DRAWN = """() => {
  const find = (root) => root.querySelector("canvas")
    || [...root.querySelectorAll("*")].map((each) => each.shadowRoot && find(each.shadowRoot))
      .find((each) => each);
  const canvas = find(document);
  if (!canvas || !canvas.width) return null;
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let ink = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === 47 && data[i + 1] === 127 && data[i + 2] === 184 && data[i + 3] > 200) ink++;
  }
  return ink > 20 ? canvas.parentElement.innerText : null;
}"""


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("marimo", reason="marimo is not installed")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    port = free_port()
    command = ["marimo", "run", "app.py", "--headless", "--no-token", "--port", str(port)]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            await_server(f"http://127.0.0.1:{port}/", server)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            server.wait()


def await_server(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while True:
        assert server.poll() is None, "marimo has ended"
        try:
            urllib.request.urlopen(address).close()
        except OSError:
            assert time.monotonic() < deadline, "marimo does not answer"
            time.sleep(0.2)
        else:
            return


def test_a_thread_of_python_draws_on_a_page_of_marimo(browser: Any, address: str) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 600})
    page.goto(address)
    first = page.wait_for_function(DRAWN, timeout=1_000 * DEADLINE_S).json_value()
    assert "lab" in first
    assert "live" in first
    later = f"(seen) => {{ const now = ({DRAWN})(); return now && now !== seen ? now : null; }}"
    page.wait_for_function(later, arg=first, timeout=1_000 * DEADLINE_S)
    page.close()
