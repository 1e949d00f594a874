"""The Iceberg sink: each batch once, in one commit; a table of another run is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Table
from typer.testing import CliRunner

from spark.worker.test_width_orders import exactly
from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import batch_of, instant, plan_of
from windrow import sinks
from windrow.apps.cli import app
from windrow.connectors.contract import Writer
from windrow.connectors.iceberg import writer as iceberg_writer
from windrow.errors import BindingError, CheckpointError, DataError
from windrow.event_time import END_OF_TIME
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.storage import Storage

QUERY = "SELECT k, COUNT(*) AS n, MAX(d) AS m, SUM(p) AS t FROM a [5 SECONDS] GROUP BY k"


def options(folder: Path) -> dict[str, str]:
    place = {
        "type": "sql",
        "uri": f"sqlite:///{folder}/catalog.db",
        "warehouse": f"file://{folder}",
    }
    return {f"catalog.{name}": value for name, value in place.items()}


def batches() -> list[pa.RecordBatch]:
    return [
        batch_of(
            "a",
            tuple(
                {"ts": instant(number * 3_000_000 + n * 500_000), "k": n % 2, "d": float(n)}
                for n in range(6)
            ),
        )
        for number in range(4)
    ]


def writer(folder: Path, checkpoint: str = "one", feed: str = "changes") -> Writer:
    place = QueryCheckpoint(Storage(folder / checkpoint), "q")
    sink = sinks.iceberg("office.alarms", feed=feed, options=options(folder))
    return sink.open_on_spark(plan_of(QUERY), place)


def table(folder: Path) -> Table:
    place = {name.partition(".")[2]: value for name, value in options(folder).items()}
    return SqlCatalog("default", **place).load_table("office.alarms")


@pytest.mark.parametrize("feed", ["answers", "changes"])
def test_a_batch_that_comes_again_is_there_once(tmp_path: Path, feed: str) -> None:
    job = DrivenJob(plan_of(QUERY), tmp_path / "job")
    expected = []
    for number, batch in enumerate([*batches(), None]):
        orders = [heartbeat("a", END_OF_TIME)] if batch is None else []
        told = job.batch({} if batch is None else {"a": batch}, orders)
        expected += exactly(told[feed])
        for _ in range(2):  # the second time by a driver that was started anew
            writer(tmp_path, feed=feed).write(told, number)
    found = table(tmp_path)
    assert sorted(exactly(found.scan().to_arrow())) == sorted(expected)
    newest = found.metadata.snapshots[-1].summary
    assert newest is not None
    assert newest["windrow-batch"] == "4"
    assert newest["windrow-query"] == "q"


def test_a_batch_that_another_driver_commits_meanwhile_is_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = DrivenJob(plan_of(QUERY), tmp_path / "job").batch({"a": batches()[0]})
    writer(tmp_path).write({"changes": told["changes"].slice(0, 1)}, 0)
    late, commit = writer(tmp_path), iceberg_writer.IcebergWriter._commit
    calls: list[int] = []

    def overtaken(self: Any, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 1:
            writer(tmp_path).write(told, 1)
        commit(self, *arguments)

    monkeypatch.setattr(iceberg_writer.IcebergWriter, "_commit", overtaken)
    late.write(told, 1)
    assert table(tmp_path).scan().to_arrow().num_rows == 1 + told["changes"].num_rows


def test_a_new_checkpoint_does_not_add_to_what_an_earlier_run_added(tmp_path: Path) -> None:
    job = DrivenJob(plan_of(QUERY), tmp_path / "job")
    told = [job.batch({"a": batch}) for batch in batches()]
    writer(tmp_path).write(told[0], 0)
    with pytest.raises(CheckpointError, match="WC261"):
        writer(tmp_path, "two")
    QueryCheckpoint(Storage(tmp_path / "one"), "q").claim("f", 1, 0, plan_of(QUERY))
    Storage(tmp_path / "one" / "q" / "publish").write("000000000000.batch", b"begun")
    writer(tmp_path).write(told[1], 1)
    count = table(tmp_path).scan().to_arrow().num_rows
    assert count == sum(each["changes"].num_rows for each in told[:2])


def test_what_the_table_refuses_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = writer(tmp_path)
    target.write({"changes": pa.table({"x": [1]})}, 0)
    with pytest.raises(DataError, match=r"WD461.*office\.alarms.*batch 1 was not written"):
        target.write({"changes": pa.table({"x": ["a"]})}, 1)

    def refused(*_: object) -> None:
        raise CommitFailedException("another one came between")

    monkeypatch.setattr(iceberg_writer.IcebergWriter, "_commit", refused)
    with pytest.raises(DataError, match=r"WD461.*batch 2.*another one came between"):
        target.write({"changes": pa.table({"x": [1]})}, 2)
    with pytest.raises(DataError, match=r"WD461.*cannot be opened"):
        sinks.iceberg("a.b", options={"catalog.type": "?"}).open("q", None)


@pytest.mark.parametrize(
    ("name", "given"), [("alarms", {}), ("a..b", {}), ("a.b", {"uri": "sqlite://"})]
)
def test_a_wrong_description_is_refused(name: str, given: dict[str, str]) -> None:
    with pytest.raises(BindingError, match="WB497"):
        sinks.iceberg(name, options=given)


def test_a_script_in_process_adds_to_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        "".join(
            json.dumps({"ts": f"2026-01-01T00:00:{second:02}Z", "k": second % 2}) + "\n"
            for second in range(10)
        )
    )
    given = ", ".join(f"{name} = '{value}'" for name, value in options(tmp_path).items())
    script = tmp_path / "job.wql"
    script.write_text(
        f"""CREATE STREAM a (ts TIMESTAMP, k INT) TIME ts FROM jsonl('{tmp_path}/a.jsonl');
        CREATE QUERY q AS SELECT k, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY k EVERY (5 SECONDS)
        INTO iceberg('office.alarms', {given});"""
    )
    for runs in (1, 2):
        done = CliRunner().invoke(app, ["run", str(script), "--embedded"])
        assert done.exit_code == 0, done.output
        rows = table(tmp_path).scan().to_arrow()
        # In this process nothing is known of runs before: their rows stay.
        assert len(rows) == runs * 3
