"""A job with a state goes on with another script: what has not changed keeps what it had."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import windrow
from support.durable_script import at
from support.memory_folder import MemoryFolder
from windrow.durable.job import run_durable
from windrow.durable.opening import open_folder
from windrow.durable.session import DurableSession
from windrow.durable.settings import Settings
from windrow.interruption import Interruption
from windrow.jobs.job import job_of

STREAM = "CREATE STREAM s (ts TIMESTAMP, k INT) TIME ts FROM csv('s.csv', header = TRUE);\n"
OTHER = "CREATE STREAM o (ts TIMESTAMP, k INT) TIME ts FROM csv('o.csv', header = TRUE);\n"
KEPT = "CREATE QUERY kept AS SELECT COUNT(*) AS n FROM s [10 MINUTES] INTO memory();\n"
SUM = "CREATE QUERY sum AS SELECT SUM(k) AS k FROM s [10 MINUTES] INTO memory();\n"
MORE = "CREATE QUERY sum AS SELECT SUM(k) AS k, COUNT(*) AS n FROM s [10 MINUTES] INTO memory();\n"
LATER = "CREATE QUERY sum AS SELECT SUM(k) AS k FROM s [20 MINUTES] INTO memory();\n"
VIEW = "CREATE VIEW few AS SELECT k FROM s [10 MINUTES] WHERE k < {};\n"
VIEWED = "CREATE QUERY viewed AS SELECT COUNT(*) AS n FROM few INTO memory();\n"
JOINED = "CREATE QUERY joined AS SELECT COUNT(*) AS n FROM s [1 HOUR], o [1 HOUR] INTO memory();\n"


class Watcher:
    """Takes what a run shows, and interrupts it after so many batches."""

    def __init__(self, batches: int) -> None:
        self.left, self.results = batches, {}

    def ended(self, name: str, result: Any) -> None:
        self.results[name] = result.to_pylist()

    def advanced(self, *_: object) -> None:
        self.left -= 1

    answered = stood = counted = lambda *_: None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in "so":
        rows = [f"2026-01-01 00:{i // 60:02}:{i % 60:02},{i % 5}" for i in range(100)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["ts,k", *rows, ""]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("windrow.connectors.files.reading.BATCH_ROWS", 10)
    return tmp_path


def run(script: str, monkeypatch: pytest.MonkeyPatch, batches: int = 1 << 30) -> Watcher:
    watcher = Watcher(batches)
    with monkeypatch.context() as patched:
        patched.setattr(Interruption, "came", property(lambda _: watcher.left <= 0), raising=False)
        run_durable(job_of(script), watcher, "state")  # type: ignore[arg-type]
    return watcher


def begun_anew(told: pytest.WarningsRecorder) -> list[str]:
    return [str(each.message) for each in told if "begins anew" in str(each.message)]


@pytest.mark.usefixtures("folder")
def test_others_keep_their_state(monkeypatch: pytest.MonkeyPatch) -> None:
    run(STREAM + KEPT + SUM, monkeypatch, batches=5)
    run(STREAM + KEPT, monkeypatch, batches=1)
    done = run(STREAM + KEPT + SUM, monkeypatch)
    assert done.results["kept"] == [{"n": 100}]
    assert done.results["sum"] == [{"k": sum(i % 5 for i in range(60, 100))}]


@pytest.mark.usefixtures("folder")
def test_a_changed_query_takes_over_the_rows_held(monkeypatch: pytest.MonkeyPatch) -> None:
    run(STREAM + KEPT + SUM, monkeypatch, batches=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", windrow.WindrowWarning)
        done = run(STREAM + KEPT + MORE, monkeypatch)
    assert done.results == {"kept": [{"n": 100}], "sum": [{"k": 200, "n": 100}]}


@pytest.mark.usefixtures("folder")
def test_one_with_other_windows_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    run(STREAM + KEPT + SUM, monkeypatch, batches=5)
    with pytest.warns(windrow.WindrowWarning, match="'sum' begins anew") as told:
        done = run(STREAM + KEPT + LATER, monkeypatch)
    assert len(begun_anew(told)) == 1
    assert done.results == {"kept": [{"n": 100}], "sum": [{"k": 100}]}


@pytest.mark.usefixtures("folder")
def test_a_changed_view(monkeypatch: pytest.MonkeyPatch) -> None:
    run(STREAM + KEPT + VIEW.format(2) + VIEWED, monkeypatch, batches=5)
    with pytest.warns(windrow.WindrowWarning, match="view 'few', which it reads, has changed"):
        done = run(STREAM + KEPT + VIEW.format(1) + VIEWED, monkeypatch)
    assert done.results == {"kept": [{"n": 100}], "viewed": [{"n": 10}]}


@pytest.mark.usefixtures("folder")
def test_a_stream_that_comes_later_is_read_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(STREAM + KEPT, monkeypatch, batches=5)
    done = run(STREAM + OTHER + KEPT + JOINED, monkeypatch)
    assert done.results["kept"] == [{"n": 100}]
    assert done.results["joined"] == [{"n": 50 * 100}]  # of s those that came with the query


@pytest.mark.parametrize("saves", [False, True])
def test_replace_and_dropped_views_are_replayed(saves: bool) -> None:
    folder = MemoryFolder()

    def opened() -> DurableSession:
        return open_folder(folder, Settings(), "off")

    session = opened()
    session.stream("s", "ts timestamp, k int", time="ts")
    session.query("SELECT SUM(k) AS k FROM s [1 HOUR]", name="q")
    for second in range(5):
        session.push("s", (at(second), second))
    changed = session.replace("q", "SELECT COUNT(*) AS n FROM s [1 HOUR] WHERE k > 0")
    with pytest.raises(windrow.WindrowError):
        session.replace("q", "SELECT COUNT(*) AS n FROM s [2 HOURS]")
    assert session["q"] is changed
    session.view("low", "SELECT k FROM s [1 HOUR] WHERE k < 3")
    session.view("lower", "SELECT k FROM low WHERE k < 2")
    session.drop_view("low")
    session.stream("z", "ts timestamp, k int", time="ts")
    session.view("low", "SELECT k FROM z [1 HOUR]")
    session.push("s", (at(6), 6))
    session.streams()  # rows that wait are written and applied
    assert not saves or session.save()
    folder = folder.after_kill()
    again = opened()
    session.finish()
    again.finish()
    assert again["q"].result().to_pylist() == session["q"].result().to_pylist() == [{"n": 5}]
    assert again.views().sort_by("view") == session.views().sort_by("view")
    assert again.query("SELECT k FROM lower", name="r").is_running
    assert again.query("SELECT COUNT(*) AS n FROM s [1 HOUR] WHERE k > 0", name="q") is again["q"]
