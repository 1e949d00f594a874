"""The Delta sink: each batch once, in one commit; a table of another run is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from spark.worker.test_width_orders import exactly
from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import batch_of, instant, plan_of
from windrow import sinks
from windrow.connectors.contract import Writer
from windrow.errors import BindingError, CheckpointError, DataError, UnsupportedError
from windrow.event_time import END_OF_TIME
from windrow.jobs.job import job_of
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.storage import Storage

QUERY = "SELECT k, COUNT(*) AS n, MAX(d) AS m, SUM(p) AS t FROM a [5 SECONDS] GROUP BY k"


def batches() -> list[pa.RecordBatch]:
    made = []
    for number in range(4):
        rows = [
            {"ts": instant(number * 3_000_000 + n * 500_000), "k": n % 2, "d": float(n) / 3}
            for n in range(6)
        ]
        made.append(batch_of("a", tuple(rows)))
    return made


def writer(tmp_path: Path, checkpoint: str = "one", feed: str = "changes") -> Writer:
    place = QueryCheckpoint(Storage(tmp_path / checkpoint), "q")
    return sinks.delta(tmp_path / "table", feed).open_on_spark(plan_of(QUERY), place)


def rows_of(tmp_path: Path) -> pa.Table:
    return pa.table(DeltaTable(str(tmp_path / "table")).to_pyarrow_table())


@pytest.mark.parametrize("feed", ["answers", "changes"])
def test_a_batch_that_comes_again_is_there_once(tmp_path: Path, feed: str) -> None:
    job = DrivenJob(plan_of(QUERY), tmp_path / "job")
    expected = []
    for number, batch in enumerate([*batches(), None]):
        orders = [heartbeat("a", END_OF_TIME)] if batch is None else []
        tables = job.batch({} if batch is None else {"a": batch}, orders)
        expected += exactly(tables[feed])
        for _ in range(2):  # the second time by a driver that was started anew
            writer(tmp_path, feed=feed).write(tables, number)
    found = rows_of(tmp_path)
    assert sorted(exactly(found)) == sorted(expected)
    assert found.schema.field("at").type == pa.timestamp("us", tz="UTC")


def test_a_new_checkpoint_does_not_add_to_what_an_earlier_run_added(tmp_path: Path) -> None:
    job = DrivenJob(plan_of(QUERY), tmp_path / "job")
    tables = [job.batch({"a": batch}) for batch in batches()]
    writer(tmp_path).write(tables[0], 0)
    with pytest.raises(CheckpointError, match="WC260"):
        writer(tmp_path, "two")
    QueryCheckpoint(Storage(tmp_path / "one"), "q").claim("f", 1, 0, plan_of(QUERY))
    Storage(tmp_path / "one" / "q" / "publish").write("000000000000.batch", b"begun")
    writer(tmp_path).write(tables[1], 1)
    count = rows_of(tmp_path).num_rows
    assert count == sum(table["changes"].num_rows for table in tables[:2])


def test_what_the_table_refuses_names_it(tmp_path: Path) -> None:
    plan, place = plan_of(QUERY), QueryCheckpoint(Storage(tmp_path / "one"), "q")
    DrivenJob(plan, tmp_path / "job")
    other = pa.table({"x": [1]})
    target = sinks.delta(tmp_path / "table").open_on_spark(plan, place)
    target.write({"answers": other}, 0)
    with pytest.raises(DataError, match=r"WD460.*table.*batch 1 was not written"):
        target.write({"answers": pa.table({"y": ["a"]})}, 1)


def test_without_the_client_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    monkeypatch.delitem(sys.modules, "windrow.connectors.delta.writer", raising=False)
    with pytest.raises(UnsupportedError, match=r"WU414.*Delta"):
        writer(tmp_path)


def test_feeds_and_scripts() -> None:
    with pytest.raises(BindingError, match="WB410"):
        sinks.delta("there", feed="upserts")
    script = """
        CREATE STREAM s (ts TIMESTAMP, k INT) TIME ts FROM parquet('here');
        CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [5 SECONDS]
          INTO delta('there', feed = 'changes');"""
    assert job_of(script).queries["q"].sink == sinks.Delta("there", "changes")
