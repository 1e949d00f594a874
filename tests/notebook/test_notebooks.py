"""Real notebooks: Jupyter's kernel and marimo run them, and what they show is looked at."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.notebook

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "how-to" / "first-look.ipynb"
DEADLINE_S = 120


@pytest.fixture(autouse=True)
def _this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are processes of their own; they import the package that is tested."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


def run(cells: list[str]) -> Any:
    """The notebook with its outputs, and the state of its widgets."""
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return executed(notebook)


def executed(notebook: Any) -> Any:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    client = nbclient.NotebookClient(
        notebook, timeout=DEADLINE_S, kernel_name="python3", store_widget_state=True
    )
    # Each run has a loop of its own, which is closed here: a loop that is left open is a warning.
    with asyncio.Runner() as runner:
        runner.run(client.async_execute())
    return notebook


def outputs(notebook: Any, cell: int) -> list[dict[str, Any]]:
    return [dict(output.get("data", {})) for output in notebook.cells[cell].outputs]


SETUP = """
from datetime import UTC, datetime, timedelta
import time
import windrow

session = windrow.connect()
session.stream("temp", "room string, ts timestamp, celsius double", time="ts")
hot = session.query(
    "SELECT room, COUNT(*) AS n FROM temp [1 MINUTE] GROUP BY room", name="<b>hot</b>"
)
start = datetime(2026, 1, 1, tzinfo=UTC)

def push(second):
    at = start + timedelta(seconds=second)
    session.push("temp", {"room": ["lab", "hall"], "ts": [at] * 2, "celsius": [40.0, 41.0]})
"""


def test_jupyter_shows_sessions_queries_and_plans() -> None:
    shown = run([SETUP, "push(0); session.finish()", "session", "hot", "hot.explain()"])
    for cell in (2, 3, 4):
        (data,) = outputs(shown, cell)
        html = data["text/html"]
        assert html.startswith("<div")
        assert "<script" not in html
        assert "<b>hot</b>" not in html
    assert "&lt;b&gt;hot&lt;/b&gt;" in outputs(shown, 3)[0]["text/html"]


def test_jupyter_draws_a_chart_that_follows_a_thread() -> None:
    cells = [
        SETUP,
        "chart = hot.chart(refresh=0.05)\nchart",
        "for second in range(40):\n    push(second)\n    time.sleep(0.01)\n",
        "while len(chart.lines) < 2 or chart.lines[0]['count'] < 39:\n    time.sleep(0.05)",
        "session.stop()\nwhile chart.is_live:\n    time.sleep(0.05)\nprint(chart.state)",
    ]
    shown = run(cells)
    (data,) = outputs(shown, 1)
    model_id = data["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert shown.cells[4].outputs[0]["text"] == "the query has ended\n"
    models = shown.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    model = models[model_id]
    assert model["state"]["title"] == "<b>hot</b>"
    # What was sent from the thread has reached the page: every message, with its bytes.
    assert {line["label"] for line in model["state"]["lines"]} == {"lab", "hall"}
    assert {line["count"] for line in model["state"]["lines"]} == {
        39
    }  # the last instant is not over
    (buffer,) = model["buffers"]
    assert buffer["path"] == ["data"]
    assert len(base64.b64decode(buffer["data"])) == 39 * 2 * 32


def test_the_example_runs_and_is_stored_without_outputs() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    stored = nbformat.read(EXAMPLE, as_version=4)
    assert all(not cell.get("outputs") for cell in stored.cells)
    shown = executed(stored)
    charts = [
        data
        for cell in range(len(shown.cells))
        if "outputs" in shown.cells[cell]
        for data in outputs(shown, cell)
        if "application/vnd.jupyter.widget-view+json" in data
    ]
    assert charts


MARIMO = """
import marimo

app = marimo.App()


@app.cell
def _():
{setup}
    return hot, push, session, time


@app.cell
def _(hot):
    chart = hot.chart(refresh=0.05)
    chart
    return (chart,)


@app.cell
def _(chart, push, session, time):
    for second in range(20):
        push(second)
    while len(chart.lines) < 2 or chart.lines[0]["count"] < 19:
        time.sleep(0.05)
    session.stop()
    while chart.is_live:
        time.sleep(0.05)
    drawn = [line["count"] for line in chart.lines]
    return (drawn,)


@app.cell
def _(hot):
    hot
    return


@app.cell
def _(hot):
    hot.explain()
    return


@app.cell
def _(drawn, session):
    print("drawn", drawn)
    session
    return
"""


def test_marimo_shows_them_too(tmp_path: Path) -> None:
    pytest.importorskip("marimo", reason="marimo is not installed")
    app = tmp_path / "app.py"
    setup = "\n".join("    " + line if line else "" for line in SETUP.splitlines())
    app.write_text(MARIMO.replace("{setup}", setup), encoding="utf-8")
    page = tmp_path / "app.html"
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "export", "html", str(app), "-o", str(page)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    html = page.read_text(encoding="utf-8")
    assert "drawn [19, 19]" in html
    assert "marimo-anywidget" in html
    for words in ("windrow query", "windrow session", "aggregate over one window"):
        assert words in html
    assert "Traceback" not in html
