"""Rows that pass through Spark: where a sink takes changes only, nothing of them is kept."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import windrow
from support.spark.stream_files import Files, Sessions, embedded, in_order, random_batches
from windrow.errors import CheckpointError

pytestmark = pytest.mark.spark

TEXT = "SELECT room, value * 2 AS twice FROM h WHERE value > 2"


def test_rows_pass_and_a_checkpoint_goes_on(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(4, seed=5)
    told: list[pa.Table] = []
    sink = windrow.sinks.foreach(lambda rows, _: told.append(rows), feed="changes")
    files.put_all(batches[:2])
    session = sessions.open(files, buckets=2)
    query = session.start({session.query(TEXT, name="rows").name: sink}, "available")["rows"]
    query.await_end()
    assert "rows are passed on and not kept" in query.explain()
    held = query.progress()
    assert held["state_bytes"] < 10_000
    assert session.windows().to_pylist()[0]["rows"] == 0
    with pytest.raises(CheckpointError, match="WC225"):
        query.start("memory")
    session.stop()

    files.put_all(batches[2:])
    session = sessions.open(files, buckets=2)
    with pytest.raises(CheckpointError, match=r"WC424.*no result is kept"):
        session.export_state("rows", tmp_path / "rows.wstate")
    session.query(TEXT, name="rows").start(sink, trigger="available")
    session.finish()
    expected, _ = embedded(TEXT, batches)
    assert in_order(pa.concat_tables(told)) == in_order(expected.changes())


def test_what_was_kept_before_goes_on_being_kept(files: Files, sessions: Sessions) -> None:
    batches = random_batches(3, seed=6)
    files.put_all(batches[:2])
    session = sessions.open(files, buckets=1)
    session.query(TEXT, name="rows").start("memory", trigger="available").await_end()
    session.stop()
    files.put_all(batches[2:])
    told: list[pa.Table] = []
    session = sessions.open(files, buckets=1)
    sink = windrow.sinks.foreach(lambda rows, _: told.append(rows), feed="changes")
    query = session.query(TEXT, name="rows").start(sink, trigger="available")
    session.finish()
    assert sum(map(len, told)) > 0
    session.stop()
    query = sessions.open(files, buckets=1).query(TEXT, name="rows")
    query.start("memory", trigger="available").await_end()
    expected, _ = embedded(TEXT, batches)
    assert query.result().num_rows == expected.result().num_rows
