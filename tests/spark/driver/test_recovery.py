"""Stopping, failing, restarting: the output is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
import uuid
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.spark.stream_files import (
    Files,
    Sessions,
    embedded,
    in_order,
    random_batches,
    read_sink,
)
from windrow import sinks
from windrow.errors import AdmissionError, BindingError, CheckpointError, DataError
from windrow.plan.fingerprint import fingerprint
from windrow.spark.checkpoint.owner import CheckpointOwner

pytestmark = pytest.mark.spark

JOIN = """SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""
OTHER = "SELECT h.room, COUNT(*) AS n FROM h [9 SECONDS] GROUP BY h.room"


@pytest.mark.long_spark
def test_a_new_session_goes_on_where_the_last_one_stopped(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(5, seed=21)
    for end in (2, 4, 5):
        files.put_all(batches[files.counts.get("h", 0) : end])
        session = sessions.open(files)
        sink = sinks.parquet(tmp_path / "out")
        if end == 5:
            session.query(JOIN, name="q").start(sink)
            break
        query = session.query(JOIN, name="q").start(sink, trigger="available")
        query.await_end()
        assert query.progress()["batch_id"] == end - 1
        # Spark forgets that it had done the last batch, as after a crash between sink and commit.
        (sessions.folder("q") / "spark" / "commits" / str(end - 1)).unlink()
        (sessions.folder("q") / "spark" / "commits" / f".{end - 1}.crc").unlink()
    session.finish()
    expected, _ = embedded(JOIN, batches)
    assert read_sink(tmp_path / "out").to_pylist() == expected.answers().to_pylist()


@pytest.mark.long_spark
def test_ticks_and_changes_survive_a_restart_too(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(4, seed=22)
    texts = {"answers": JOIN + " EVERY (3 SECONDS)", "changes": JOIN}
    for end in (2, 4):
        files.put_all(batches[files.counts.get("h", 0) : end])
        session = sessions.open(files)
        for feed, text in texts.items():
            sink = sinks.parquet(tmp_path / feed, feed=feed)
            query = session.query(text, name=feed)
            query.start(sink, trigger="available" if end < 4 else None)
            if end < 4:
                query.await_end()
    session.finish()
    for feed, text in texts.items():
        expected, _ = embedded(text, batches)
        wanted = expected.answers() if feed == "answers" else expected.changes()
        assert in_order(read_sink(tmp_path / feed)) == in_order(wanted)


@pytest.mark.long_spark
def test_killed_workers_do_not_show(files: Files, sessions: Sessions) -> None:
    batches = random_batches(4, seed=23)
    files.put_all(batches)
    tables: list[pa.Table] = []

    def take_and_kill(table: pa.Table, batch_id: int) -> None:
        tables.append(table)
        if batch_id == 1:
            for worker in python_workers():
                os.kill(worker, signal.SIGKILL)

    session = sessions.open(files)
    query = session.query(JOIN).start(take_and_kill, trigger="available")
    session.finish()
    expected, _ = embedded(JOIN, batches)
    assert pa.concat_tables(tables).to_pylist() == expected.answers().to_pylist()
    assert query.progress()["batch_id"] == 4


def python_workers() -> list[int]:
    """Processes below this one that Spark's daemon has forked: their parent is a Python too."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(entry.name)] = (int(fields[1]), command)
    daemons = {pid for pid, (_, command) in parents.items() if b"pyspark.daemon" in command}
    mine = {os.getpid()}
    while more := {pid for pid, (parent, _) in parents.items() if parent in mine} - mine:
        mine |= more
    return [pid for pid in daemons & mine if parents[pid][0] in daemons]


def test_a_checkpoint_of_another_plan_is_refused(files: Files, sessions: Sessions) -> None:
    files.put_all(random_batches(2, seed=24))
    first = sessions.open(files).query(JOIN, name="q").start("memory", trigger="available")
    first.await_end()
    other = sessions.open(files).query(OTHER, name="q")
    with pytest.raises(CheckpointError, match=r"WC210.*inputs: h, c, now h; window of input h"):
        other.start("memory")


@pytest.mark.long_spark
def test_state_of_another_plan_is_refused_in_the_worker(files: Files, sessions: Sessions) -> None:
    files.put_all(random_batches(1, seed=25))
    first = sessions.open(files).query(JOIN, name="q").start("memory", trigger="available")
    first.await_end()
    owner = sessions.folder("q") / "windrow.json"
    other = sessions.open(files).query(JOIN.replace("8 SECONDS", "7 SECONDS"), name="q")
    found = CheckpointOwner.from_bytes(owner.read_bytes(), "q")
    owner.write_bytes(replace(found, fingerprint=fingerprint(other.plan)).to_bytes())
    files.put_all(random_batches(1, seed=26))
    other.start("memory", trigger="available")
    with pytest.raises(CheckpointError, match="WC212"):
        other.await_end()


@pytest.mark.long_spark
def test_a_damaged_publication_is_refused(files: Files, sessions: Sessions) -> None:
    files.put_all(random_batches(1, seed=27))
    sessions.open(files).query(JOIN, name="q").start("memory", trigger="available").await_end()
    saved = next((sessions.folder("q") / "publish").iterdir())
    saved.write_bytes(saved.read_bytes()[:-1] + b"!")
    with pytest.raises(CheckpointError, match="WC104"):
        sessions.open(files).query(JOIN, name="q").start("memory")
    saved.unlink()
    files.put_all(random_batches(1, seed=28))
    query = sessions.open(files).query(JOIN, name="q").start("memory", trigger="available")
    with pytest.raises(CheckpointError, match="WC220"):
        query.await_end()


@pytest.mark.long_spark
def test_a_batch_in_which_nothing_came_is_no_trouble(
    spark: SparkSession, sessions: Sessions, tmp_path: Path
) -> None:
    for number, text in enumerate(["a,1970-01-01 00:00:01\n", "", "a,1970-01-01 00:00:02\n"]):
        path = tmp_path / f"{number}.csv"
        path.write_text(text)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    reader = spark.readStream.schema("room string, ts timestamp").option("maxFilesPerTrigger", 1)
    session = sessions.open()
    session.stream("s", reader.csv(str(tmp_path), pathGlobFilter="*.csv"), time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s [9 SECONDS]")
    query.start("memory", trigger="available").await_end()
    query.finish()
    assert query.answers()["n"].to_pylist() == [1, 2]


def test_a_driver_that_died_while_it_wrote_its_first_offsets_is_no_trouble(
    files: Files, sessions: Sessions
) -> None:
    query = sessions.open(files).query(OTHER, name="q")
    query.start("memory", trigger="available").await_end()
    query.stop()
    offsets = sessions.folder("q") / "spark" / "offsets"
    assert list(offsets.iterdir()) == []
    for name in (f".0.{uuid.uuid4()}.tmp", f"..0.{uuid.uuid4()}.tmp.crc"):
        (offsets / name).write_text("v1")
    files.put_all(random_batches(1, seed=30))
    query.start("memory", trigger="available").await_end()
    assert query.answers().num_rows > 0


@pytest.mark.long_spark
def test_a_failing_sink_gets_its_batch_again(files: Files, sessions: Sessions) -> None:
    files.put_all(random_batches(2, seed=29))
    seen: list[int] = []

    def failing(_table: pa.Table, batch_id: int) -> None:
        seen.append(batch_id)
        if seen == [0, 1]:
            raise RuntimeError("disk full")

    query = sessions.open(files).query(JOIN).start(failing, trigger="available")
    with pytest.raises(DataError, match=r"WD410.*disk full"):
        query.await_end()
    query.start(failing, trigger="available").await_end()
    assert seen == [0, 1, 1]


class Elsewhere:
    """A table in another system; it loses its connection once, after it did its work."""

    def __init__(self, key: list[str]) -> None:
        self.key = key
        self.rows: dict[str, dict[str, object]] = {}
        self.calls: list[int] = []

    def put(self, upserts: pa.Table, deletes: pa.Table, batch_id: int) -> None:
        for row in deletes.to_pylist():
            self.rows.pop(self.key_of(row), None)  # a batch that is repeated finds it gone
        self.rows.update({self.key_of(row): row for row in upserts.to_pylist()})
        self.calls.append(batch_id)
        if len(self.calls) == 2:
            raise RuntimeError("connection lost")

    def key_of(self, row: dict[str, object]) -> str:
        return str([row[name] for name in self.key])


@pytest.mark.long_spark
def test_a_table_elsewhere_equals_the_result(files: Files, sessions: Sessions) -> None:
    batches = random_batches(2, seed=31)
    files.put_all(batches)
    session = sessions.open(files)
    for text, key in (
        ("SELECT room, COUNT(*) AS n, SUM(value) AS s FROM h [5 SECONDS] GROUP BY room", ["room"]),
        ("SELECT DISTINCT room, value FROM h [4 SECONDS]", ["room", "value"]),
    ):
        table = Elsewhere(key)
        sink = sinks.upserts(table.put)
        query = session.query(text).start(sink, trigger="available")
        with pytest.raises(DataError, match=r"WD410.*connection lost"):
            query.await_end()
        query.start(sink, trigger="available").await_end()
        query.finish()
        assert table.calls[1] == table.calls[2]
        expected, _ = embedded(text, batches)
        rows = [table.rows[key] for key in sorted(table.rows)]
        assert rows == expected.result().to_pylist()


def test_windows_beyond_the_budget_stop_the_query(files: Files, sessions: Sessions) -> None:
    files.put_all(random_batches(3, seed=30))
    query = sessions.open(files, memory="1 KB").query(JOIN).start("memory", trigger="available")
    with pytest.raises(AdmissionError, match="WA411"):
        query.await_end()


def test_a_temporary_checkpoint_goes_with_its_session(files: Files, sessions: Sessions) -> None:
    sessions.checkpoint = None
    session = sessions.open(files)
    assert session._temporary is not None
    assert session._temporary.exists()
    query = session.query(OTHER).start("memory")
    with pytest.raises(BindingError, match="WB412"):
        query.start("memory")
    session.stop()
    assert not session._temporary.exists()
