"""Alerts of sessions and jobs: raised and cleared once, in any batches, and after crashes."""

from __future__ import annotations

import itertools
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import windrow
from support.building_files import write_job
from support.memory_folder import KilledError
from windrow import sinks
from windrow.durable import job as durable_job
from windrow.durable.folder import GrowingFile
from windrow.errors import (
    BindingError,
    CheckpointError,
    DataError,
    QuerySyntaxError,
    UnsupportedError,
    WindrowError,
)
from windrow.jobs.job import job_of

STREAM = "room string, ts timestamp, c double"
HOT = "SELECT room, MAX(c) AS top FROM temp [10 SECONDS] GROUP BY room WHEN top > 40"
START = 1_767_225_600_000_000


def opened(path: Path | None = None, **stream: Any) -> windrow.Session:
    session = windrow.connect() if path is None else windrow.connect(path=path)
    session.stream("temp", STREAM, time="ts", **stream)
    return session


def rows(seed: int, count: int = 60) -> list[dict[str, Any]]:
    numbers, at, made = random.Random(seed), START, []
    for _ in range(count):
        at += numbers.choice([0, 1, 900_000, 4_000_000, 12_000_000])
        room = numbers.choice(["a", "b", None])
        made.append({"room": room, "ts": at, "c": numbers.choice([30.0, 41.0, 50.0, None])})
    return made


def shown(events: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in events.to_pylist()]


@pytest.mark.parametrize("text", [HOT, HOT.replace(" WHEN", " EVERY (3 SECONDS) WHEN")])
def test_any_batches_of_rows_give_the_same_events(text: str) -> None:
    given = rows(3)
    found = []
    for size in (1, 7, len(given)):
        session = opened()
        alert = session.create_alert("hot", f"{text} FOR '2 seconds'")  # type: ignore[attr-defined]
        events = []
        for start in range(0, len(given), size):
            session.push("temp", given[start : start + size])  # type: ignore[attr-defined]
            events += shown(alert.events())
        session.finish()
        events += shown(alert.events())
        found.append(events)
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 5


def test_silence_clears_and_time_raises() -> None:
    session: Any = opened()
    alert = session.create_alert("hot", f"{HOT} FOR '8 seconds'")
    session.push("temp", {"room": "a", "ts": START, "c": 41.0})
    session.push("temp", {"room": "b", "ts": START + 1, "c": 20.0})
    assert session.alerts().to_pylist()[0]["state"] == "pending"
    session.advance("temp", to=START + 9_000_000)
    assert [row["state"] for row in alert.events().to_pylist()] == ["raised"]
    assert alert.states().select(["alert", "state", "room"]).to_pylist() == [
        {"alert": "hot", "state": "raised", "room": "a"}
    ]
    session.advance("temp", to=START + 60_000_000)
    assert [row["state"] for row in alert.events().to_pylist()] == ["cleared"]
    assert session.alerts().num_rows == 0
    alert.stop()
    session.push("temp", {"room": "a", "ts": START + 70_000_000, "c": 41.0})
    assert session.alerts().num_rows == 0
    session.stop()


def test_a_sink_has_each_event_when_the_push_returns(tmp_path: Path) -> None:
    session: Any = opened()
    sink = sinks.sqlite(tmp_path / "x.db", "alerts")
    session.create_alert("hot", HOT, into=sink)
    given = rows(5)
    twin: Any = opened()
    alert = twin.create_alert("hot", HOT)
    for row in given:
        session.push("temp", row)
        twin.push("temp", row)
    wanted = [(row["state"], row["room"]) for row in alert.events().to_pylist()]
    session.stop()
    with sqlite3.connect(tmp_path / "x.db") as database:
        assert database.execute("SELECT state, room FROM alerts").fetchall() == wanted


def test_a_sink_that_fails_is_given_the_same_events_again(tmp_path: Path) -> None:
    session: Any = opened()
    folder = tmp_path / "out"
    session.create_alert("hot", HOT, into=sinks.jsonl(folder))
    (folder / ".windrow.json").unlink()
    folder.rmdir()
    folder.write_text("no folder")
    session.push("temp", {"room": "a", "ts": START, "c": 41.0})
    with pytest.raises(CheckpointError, match="WC206"):
        session.advance("temp", to=START + 1_000_000)
    folder.unlink()
    folder.mkdir()
    session.advance("temp", to=START + 2_000_000)
    assert (folder / "batch-000000000000.jsonl").read_text().count("raised") == 1


def test_a_durable_session_goes_on_with_its_states(tmp_path: Path) -> None:
    given, wanted = rows(8), []
    whole: Any = opened()
    alert = whole.create_alert("hot", f"{HOT} FOR '2 seconds'")
    for row in given:
        whole.push("temp", row)
    wanted = shown(alert.events())
    events = []
    for start in range(0, len(given), 6):
        session: Any = opened(tmp_path / "state")
        alert = session.create_alert("hot", f"{HOT} FOR '2 seconds'")
        for row in given[start : start + 6]:
            session.push("temp", row)
        events += shown(alert.events())
        if start % 4:
            assert session.save()
        session.stop()
    assert events == wanted
    session = opened(tmp_path / "state")
    with pytest.raises(CheckpointError, match=r"WC410.*alert 'hot'"):
        session.create_alert("hot", f"{HOT} FOR '3 seconds'")
    session.stop()


ALERTS = """
SET memory = '64 MB';
CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE)
  TIME ts FROM parquet('temp.parquet');
CREATE ALERT hot AS
  SELECT location, COUNT(*) AS n FROM temp [20 SECONDS] WHERE celsius >= 50 GROUP BY location
  WHEN n > 2 FOR '3 seconds' INTO sqlite('alerts', path = 'x.db');
CREATE ALERT cold AS
  SELECT location FROM temp [5 SECONDS] WHERE celsius < 22 INTO jsonl('cold');
"""


class Silent:
    """Watches a job, and says nothing."""

    def nothing(self, *_: object) -> None: ...

    answered = ended = advanced = stood = operated = counted = nothing


def run(folder: Path, dies_at: int = 0) -> bool:
    """Run the job; whether it came to its end."""
    calls = itertools.count(1)
    append = GrowingFile.append

    def counted(self: GrowingFile, pieces: list[bytes]) -> None:
        if next(calls) == dies_at:
            raise KilledError
        append(self, pieces)

    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setattr(GrowingFile, "append", counted)
        for module in ("reading", "parquet_files"):
            patched.setattr(f"windrow.connectors.files.{module}.BATCH_ROWS", 16)
        watcher: Any = Silent()
        try:
            durable_job.run_durable(job_of((folder / "job.wql").read_text()), watcher, "state")
        except KilledError:
            return False
    return True


def written(folder: Path) -> tuple[list[Any], str]:
    connection = sqlite3.connect(folder / "x.db")
    found = connection.execute("SELECT * FROM alerts").fetchall()
    connection.close()
    files = sorted((folder / "cold").glob("batch-*"))
    return found, "".join(file.read_text() for file in files)


def test_a_job_that_dies_at_any_write_has_each_event_once(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    write_job(tmp_path / "whole", ALERTS)
    assert run(tmp_path / "whole")
    wanted = written(tmp_path / "whole")
    assert len(wanted[0]) > 4
    assert wanted[1].count("raised") > 4
    deaths = 0
    for dies_at in itertools.count(7, 6):
        folder = tmp_path / str(dies_at)
        folder.mkdir()
        write_job(folder, ALERTS)
        if run(folder, dies_at):
            break
        deaths += 1
        assert run(folder)
        assert written(folder) == wanted
    assert deaths > 3


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("SELECT c AS state FROM temp [1 MINUTE]", BindingError, "WB840"),
        ("SELECT c FROM temp [1 MINUTE] WHEN d > 1", BindingError, "WB203"),
        ("SELECT c FROM temp [1 MINUTE] INTO console()", QuerySyntaxError, "WS830"),
        ("SELECT c FROM temp [1 MINUTE] FOR 'ever'", QuerySyntaxError, "WS120"),
    ],
)
def test_what_is_no_alert_is_refused(text: str, kind: type[WindrowError], code: str) -> None:
    session: Any = opened()
    with pytest.raises(kind, match=code):
        session.create_alert("a", text)
    assert session.alerts().num_rows == 0
    assert session.queries().num_rows == 0


def test_questions_about_the_past_are_no_alerts() -> None:
    session: Any = opened()
    session.history("temp", measures=["c"], levels=[("1 second", "forever")])
    text = "SELECT MAX(c) AS top FROM HISTORY(temp) [FROM '2026-01-01' TO NOW] EVERY (1 SECOND)"
    with pytest.raises(UnsupportedError, match="WU832"):
        session.create_alert("a", text)


def test_scripts_say_what_cannot_be() -> None:
    stream = "CREATE STREAM s (ts TIMESTAMP, x INT) TIME ts FROM csv('x.csv');\n"
    alert = "CREATE ALERT a AS SELECT x FROM s [1 MINUTE]"
    for into in ("parquet('out', feed = 'changes')", "sqlite('t', path = 'x', feed = 'upserts')"):
        with pytest.raises(UnsupportedError, match=r"WU831.*alert 'a'"):
            job_of(f"{stream}{alert} INTO {into};")
    with pytest.raises(UnsupportedError, match="WU831"):
        job_of(f"{stream}{alert} INTO memory();")
    with pytest.raises(BindingError, match="WB517"):
        job_of(f"{stream}{alert}; {alert};")
    with pytest.raises(UnsupportedError, match=r"WU833.*alert 'a'"):
        job_of(f"{stream}{alert};").check_on_spark()
    assert job_of(f"{stream}{alert} INTO sqlite('t', path = 'x');").queries["a"].sink.feed == (  # type: ignore[attr-defined]
        "answers"
    )


def test_events_that_nobody_reads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.embedded.alert.UNREAD_EVENTS_LIMIT", 3)
    session: Any = opened()
    alert = session.create_alert("hot", HOT)
    for row in rows(3):
        session.push("temp", row)
    with pytest.warns(RuntimeWarning, match="events were dropped"):
        assert alert.events().num_rows <= 4
    assert alert.events().num_rows == 0


def test_a_webhook_that_is_not_there_is_an_error_at_the_latest_at_the_end() -> None:
    session: Any = opened()
    sink = sinks.webhook("http://127.0.0.1:1/hook", retries=0)
    session.create_alert("hot", HOT, into=sink)
    session.push("temp", {"room": "a", "ts": START, "c": 41.0})
    session.advance("temp", to=START + 1)
    with pytest.raises(DataError, match="WD840"):
        session.stop()
