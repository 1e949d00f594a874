"""Histories on Spark: answers as in this process, restarts that do not show, and refusals."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.spark.stream_files import (
    COLUMNS,
    SECOND,
    Files,
    Sessions,
    in_order,
    random_batches,
    read_sink,
    rows,
)
from windrow import sinks
from windrow.embedded.session import EmbeddedSession
from windrow.errors import BindingError, CheckpointError, UnsupportedError
from windrow.spark.checkpoint.history_checkpoint import HISTORIES_FOLDER
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = pytest.mark.spark

LEVELS: list[Any] = [("1 second", "30 seconds"), ("10 seconds", "forever")]
SINCE = "FROM HISTORY(h) [FROM '1970-01-01'"
TOTAL = f"SELECT COUNT(*) AS n, SUM(value) AS s, MAX(value) AS m {SINCE} TO '1970-01-01 00:00:20']"
NOW = f"SELECT COUNT(*) AS n, AVG(value) AS mean, COUNT(DISTINCT room) AS rooms {SINCE} TO NOW]"
BY_ROOM = f"SELECT room, COUNT(*) AS n, SUM(value) AS s {SINCE} TO NOW] GROUP BY room"
SOME = BY_ROOM.replace("GROUP BY", "WHERE room <> 'r1' GROUP BY") + " HAVING COUNT(*) > 5"


def keep(session: SparkWindrowSession | EmbeddedSession, keys: list[str], **more: Any) -> None:
    session.history("h", measures=["value"], by=keys, levels=LEVELS, distincts=["room"], **more)


def embedded(batches: Iterable[dict[str, pa.Table]], keys: list[str]) -> EmbeddedSession:
    session = EmbeddedSession()
    session.stream("h", COLUMNS, time="ts")
    keep(session, keys)
    for batch in batches:
        session.push("h", batch["h"])
    return session


def answer(session: SparkWindrowSession | EmbeddedSession, text: str) -> list[Any]:
    table = session.ask(text)
    assert isinstance(table, pa.Table)
    return sorted(table.to_pylist(), key=repr)


@pytest.mark.long_spark
@pytest.mark.parametrize(("buckets", "keys"), [(3, ["room"]), (1, ["room"]), (3, [])])
def test_answers_are_those_of_a_session_in_this_process(
    files: Files, sessions: Sessions, buckets: int, keys: list[str]
) -> None:
    batches = random_batches(3, seed=buckets)
    files.put_all(batches)
    session, twin = sessions.open(files, buckets=buckets), embedded(batches, keys)
    keep(session, keys)
    assert answer(session, TOTAL) == answer(twin, TOTAL)
    session.finish()
    twin.finish()
    text = SOME if keys else TOTAL.replace("]", " AT 10 SECONDS]")
    assert answer(session, text) == answer(twin, text)
    assert list(session.ask(NOW, progressive=True)) == list(twin.ask(NOW, progressive=True))
    for measure in (None, "value"):
        place = ("h", measure, (None, None), 10, [])
        assert session.past.series(*place) == twin.past.series(*place)
    if keys:  # without them each bucket has a tree of its own, of a part of the rows
        assert session.past.tree("h", []) == twin.past.tree("h", [])
    shown, wanted = session.histories().to_pylist()[0], twin.histories().to_pylist()[0]
    assert shown.pop("bytes") > 0
    assert shown == {name: value for name, value in wanted.items() if name != "bytes"}
    (counts,) = session.ledger().to_pylist()
    assert counts["query"] == "HISTORY(h)"
    assert counts["applied"] == counts["rows_in"] == 180


@pytest.mark.long_spark
def test_a_history_goes_on_where_it_stopped(files: Files, sessions: Sessions) -> None:
    batches = random_batches(4, seed=8)
    files.put_all(batches[:2])
    session = sessions.open(files, buckets=2)
    keep(session, ["room"])
    assert answer(session, BY_ROOM) == answer(embedded(batches[:2], ["room"]), BY_ROOM)
    session.stop()
    with pytest.raises(BindingError, match="WB430"):
        session.ask(BY_ROOM)
    session = sessions.open(files)  # as many buckets as there were
    keep(session, ["room"])
    twin = embedded(batches[:2], ["room"])
    assert session.histories()["rows"].to_pylist() == twin.histories()["rows"].to_pylist()
    files.put_all(batches[2:])
    twin = embedded(batches, ["room"])
    assert answer(session, TOTAL) == answer(twin, TOTAL)
    for each in (session, twin):
        each.advance("h", to=200 * SECOND)
    assert answer(session, BY_ROOM) == answer(twin, BY_ROOM)


@pytest.mark.long_spark
def test_what_left_memory_is_in_the_archive(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(4, seed=3)
    files.put_all(batches)
    short: dict[str, Any] = {"measures": ["value"], "by": ["room"], "levels": [("10 seconds", 0)]}
    session = sessions.open(files, buckets=2)
    session.history("h", **short, archive=tmp_path / "archive")
    first = answer(session, BY_ROOM)
    assert sum(row["n"] for row in first) > 150
    assert all(row["exact"] for row in first)
    assert len(list((tmp_path / "archive").glob("*/*.parquet"))) >= 4
    session.stop()
    session = sessions.open(files, buckets=2)
    session.history("h", **short, archive=tmp_path / "archive")
    assert answer(session, BY_ROOM) == first
    session.stop()
    with pytest.raises(CheckpointError, match=r"WC230.*archive"):
        sessions.open(files, buckets=2).history("h", **short)


@pytest.mark.long_spark
@pytest.mark.parametrize("every", ["", " EVERY (2 SECONDS)"])
def test_continuous_questions_go_on_where_they_stopped(
    files: Files, sessions: Sessions, tmp_path: Path, every: str
) -> None:
    batches = random_batches(4, seed=9)
    text = BY_ROOM + " HAVING COUNT(*) > 3" + every
    sink = sinks.parquet(tmp_path / "out", feed="changes")
    for run in (batches[:2], batches[2:]):
        files.put_all(run)
        session = sessions.open(files, buckets=2)
        keep(session, ["room"])
        query = session.query(text, name="past")
        query.start(sink, trigger="available").await_end()
        session.stop()
    session = sessions.open(files, buckets=2)
    keep(session, ["room"])
    query = session.query(text, name="past").start(sink, trigger="1 second")
    session.finish()
    twin = EmbeddedSession()
    twin.stream("h", COLUMNS, time="ts")
    keep(twin, ["room"])
    wanted = twin.query(text)
    for batch in batches:
        twin.push("h", batch["h"])
    twin.finish()
    assert in_order(read_sink(tmp_path / "out")) == in_order(wanted.changes())
    shown = session.progress()["queries"]["past"]
    assert shown["ledger"]["applied"] == 240
    assert shown["latency"]["batch_ms"]["p50"] > 0
    assert shown["bucket_bytes"][0] > 0
    assert 'windrow_batch_latency_seconds{query="past"' in session.metrics()
    assert [row["query"] for row in session.ledger().to_pylist()] == ["past", "HISTORY(h)"]
    session.stop()
    other = sessions.open(files, buckets=2)
    keep(other, ["room"])
    with pytest.raises(CheckpointError, match=r"WC210.*query"):
        other.query(NOW, name="past").start("memory")
    other.stop()
    other = sessions.open(files, buckets=2)
    with pytest.raises(CheckpointError, match=r"WC210.*that of a continuous question"):
        other.query("SELECT COUNT(*) AS n FROM h [5 SECONDS]", name="past").start("memory")
    other = sessions.open(files, buckets=2)
    keep(other, ["room"])
    past = other.query(text, name="past")
    (sessions.folder("past") / "windrow.json").write_text("[")
    with pytest.raises(CheckpointError, match="WC211"):
        past.start("memory")


@pytest.mark.long_spark
def test_a_continuous_question_is_told_in_memory(files: Files, sessions: Sessions) -> None:
    batches = random_batches(2, seed=10)
    files.put_all(batches)
    session = sessions.open(files, buckets=1)
    keep(session, ["room"])
    session.query(BY_ROOM, name="past")
    session.query("SELECT COUNT(*) AS n FROM h [5 SECONDS]", name="recent")
    found = session.start({"past": "memory", "recent": "memory"})
    session.finish()
    twin = EmbeddedSession()
    twin.stream("h", COLUMNS, time="ts")
    keep(twin, ["room"])
    wanted = twin.query(BY_ROOM)
    for batch in batches:
        twin.push("h", batch["h"])
    twin.finish()
    past = found["past"]
    assert sorted(past.result().to_pylist(), key=repr) == sorted(
        wanted.result().to_pylist(), key=repr
    )
    assert in_order(past.changes()) == in_order(wanted.changes())
    assert in_order(past.answers()) == in_order(wanted.answers())
    assert past.answers().schema == wanted.answers().schema
    assert "at every arrival" in past.explain()
    past.stop()
    assert not past.is_running


def test_what_is_refused(files: Files, sessions: Sessions, tmp_path: Path) -> None:
    files.put("h", rows(("r", 0, 1.0)))
    session = sessions.open(files, buckets=1)
    with pytest.raises(BindingError, match="WB201"):
        session.history("nothing", levels=LEVELS)
    with pytest.raises(BindingError, match="WB325"):
        keep(session, ["room"], archive="")
    with pytest.raises(BindingError, match="WB325"):
        keep(session, ["room"], archive=tmp_path)
    with pytest.raises(UnsupportedError, match="WU421"):
        keep(session, ["room"], archive="s3://bucket/archive")
    with pytest.raises(BindingError, match="WB330"):
        session.ask(BY_ROOM)
    keep(session, ["room"])
    with pytest.raises(BindingError, match="WB320"):
        keep(session, ["room"])
    with pytest.raises(CheckpointError, match=r"WC215.*history of 'h'"):
        keep(sessions.open(files, buckets=1), ["room"])
    past = session.query(BY_ROOM, name="past")
    with pytest.raises(UnsupportedError, match="WU422"):
        past.start(sinks.upserts(print))
    with pytest.raises(UnsupportedError, match="WU461"):
        past.start("memory", split={"h": ["r0"]})
    with pytest.raises(BindingError, match="WB419"):
        session.query(BY_ROOM, name="past")
    with pytest.raises(BindingError, match="WB339"):
        session.query(TOTAL)
    session.stop()
    session = sessions.open(files, buckets=1)
    with pytest.raises(CheckpointError, match=r"WC230.*keys"):
        keep(session, [])
    with pytest.raises(CheckpointError, match=r"WC230.*buckets"):
        keep(sessions.open(files, buckets=2), ["room"])
    assert sessions.checkpoint is not None
    owner = sessions.checkpoint / HISTORIES_FOLDER / "h" / "windrow.json"
    assert json.loads(owner.read_text())["keys"] == ["room"]
    owner.write_text("{}")
    with pytest.raises(CheckpointError, match="WC231"):
        keep(session, ["room"])
