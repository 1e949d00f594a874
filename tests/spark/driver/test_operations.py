"""Queries in operation on Spark: metrics, graceful stops, hot keys, batches of bounded size."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from embedded.test_metrics import read, value
from support.spark.stream_files import COLUMNS, Files, Sessions, embedded, random_batches
from windrow import sinks, sources
from windrow.errors import BindingError, DataError, UnsupportedError
from windrow.metrics import Sample
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.monitoring.operation_rows import operation_rows

pytestmark = pytest.mark.spark

JOIN = """SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""


def ends(samples: list[Sample]) -> list[tuple[str, ...]]:
    return [each.labels for each in samples if each.name == "windrow_query_ends_total"]


@pytest.mark.long_spark
def test_metrics_follow_batches_and_failures(files: Files, sessions: Sessions) -> None:
    batches = random_batches(2, seed=31)
    files.put_all(batches)
    session = sessions.open(files, buckets=2)

    def broken(_table: pa.Table, batch_id: int) -> None:
        if batch_id == 1:
            raise ValueError("no room left")

    query = session.query(JOIN, name="q").start(broken, trigger="available")
    with pytest.raises(DataError, match="WD410"):
        query.await_end()
    query.start("memory", trigger="available").await_end()
    listener = session._metrics.listener
    assert listener.wait_for(lambda found: len(ends(found)) == 2, 60)
    text = session.metrics()
    assert value(text, "windrow_query_starts_total", query="q") == 2
    assert value(text, "windrow_query_ends_total", query="q", how="failed") == 1
    assert value(text, "windrow_query_ends_total", query="q", how="stopped") == 1
    assert value(text, "windrow_batch_seconds_count", query="q") >= 2
    assert value(text, "windrow_batch_part_seconds_total", query="q", part="addBatch") > 0
    given = sum(batch["h"].num_rows for batch in batches)
    assert value(text, "windrow_rows_in_total", query="q", stream="h") == given
    assert value(text, "windrow_batch_rows_total", query="q") >= 2 * given
    assert value(text, "windrow_running_queries") == 0
    assert value(text, "windrow_window_width_seconds", window="q.h", stream="h") == 8
    assert value(text, "windrow_service_level", query="q", window="q.c", level="A") == 1
    shown = query.progress()
    held = [value(text, "windrow_bucket_rows", query="q", bucket=str(i)) for i in (0, 1)]
    assert shown["bucket_rows"] == held
    assert shown["spark_ms"]["addBatch"] <= shown["trigger_ms"]
    assert [(each["window"], each["level"]) for each in shown["windows"]] == [
        ("q.h", "A"),
        ("q.c", "A"),
    ]
    assert shown["lag_s"] > 0
    assert shown["bucket_bytes"] == [
        value(text, "windrow_bucket_bytes", query="q", bucket=str(i)) for i in (0, 1)
    ]
    assert sum(shown["bucket_bytes"]) == shown["window_bytes"]
    assert shown["fullest"]["bytes"] == max(shown["bucket_bytes"])
    assert [each["bytes"] for each in shown["operators"]] == [shown["window_bytes"]]
    took = shown["latency"]["batch_ms"]
    assert 0 < took["p50"] <= took["p95"]
    assert value(text, "windrow_batch_latency_seconds", query="q", quantile="0.95") == (
        pytest.approx(took["p95"] / 1_000, abs=1e-3)
    )
    assert shown["latency"]["event_ms"]["p50"] > 0
    assert {(each["stream"], each["unit"], each["behind"]) for each in shown["sources"]} == {
        ("h", "files", 0),
        ("c", "files", 0),
    }
    files.put_all(random_batches(1, seed=1))
    assert (
        value(session.metrics(), "windrow_source_behind", query="q", stream="h", unit="files") == 1
    )
    names = {each.name for each in read(text)}
    server = session.serve_metrics()
    session.stop()
    assert "windrow_state_bytes" in names
    assert server.port > 0


@pytest.mark.long_spark
def test_a_graceful_stop_gives_no_batch_twice(files: Files, sessions: Sessions) -> None:
    batches = random_batches(6, seed=32)
    files.put_all(batches)
    given: list[int] = []
    tables: list[pa.Table] = []
    enters = threading.Event()

    def take(table: pa.Table, batch_id: int) -> None:
        given.append(batch_id)
        tables.append(table)
        enters.set()

    for _ in range(2):
        session = sessions.open(files)
        query = session.query(JOIN, name="q").start(take)
        assert enters.wait(120)
        session.stop()
        commits = sessions.folder("q") / "spark" / "commits"
        assert sorted(int(each.name) for each in commits.glob("[0-9]*")) == given
        enters.clear()
    session = sessions.open(files)
    query = session.query(JOIN, name="q").start(take, trigger="available")
    query.await_end()
    session.finish()
    assert given == list(range(len(given)))
    expected, _ = embedded(JOIN, batches)
    assert pa.concat_tables(tables).to_pylist() == expected.answers().to_pylist()


@pytest.mark.long_spark
def test_hot_keys_are_split_from_the_start_and_while_it_runs(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(6, seed=33)
    splits = ({"h": ["r0"]}, {"c": ["r1"], "h": ["r2"]}, None)
    sink = sinks.parquet(tmp_path / "out")
    for number, split in enumerate(splits):
        files.put_all(batches[2 * number : 2 * number + 2])
        session = sessions.open(files, buckets=3)
        query = session.query(JOIN, name="q").start(sink, trigger="available", split=split)
        query.await_end()
    session.finish()
    assert query.explain().count("split key: ") == 3
    assert "rows per bucket" in query.explain()
    expected, _ = embedded(JOIN, batches)
    found = [
        row
        for file in sorted((tmp_path / "out").glob("*.parquet"))
        for row in pa.parquet.read_table(file).to_pylist()
    ]
    assert found == expected.answers().to_pylist()
    ledger = query.progress()["ledger"]
    assert ledger["h"]["rows_in"] == sum(batch["h"].num_rows for batch in batches)
    with pytest.raises(BindingError, match="WB462"):
        query.start(sink, split={"c": ["r0"]})
    with pytest.raises(BindingError, match="WB460"):
        query.start(sink, split={"x": ["r0"]})


@pytest.mark.long_spark
def test_the_names_are_those_of_queries_and_histories(files: Files, sessions: Sessions) -> None:
    files.put_all(random_batches(3, seed=36))
    session = sessions.open(files, buckets=2)
    session.history("h", measures=["value"], by=["room"], levels=[("1 second", "forever")])
    for name, range_s in (("a", 5), ("b", 8)):
        session.query(f"SELECT room, COUNT(*) AS n FROM h [{range_s} SECONDS] GROUP BY room", name)
    tree = session.query(
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT room FROM h [5 SECONDS]) d", "t"
    )
    session.start(dict.fromkeys(("a", "b", "t"), "memory"), "100 milliseconds")
    session.finish()
    listener = session._metrics.listener
    shared, alone, kept = "a, b", "t", "HISTORY(h)"

    def all_came(_: list[Sample]) -> bool:
        return {shared, alone, kept} <= set(listener.batches()["query"].to_pylist())

    assert listener.wait_for(all_came, 60)
    assert set(listener.batches()["query"].to_pylist()) <= {"a", shared, alone, kept}
    shown, text = session.progress(), session.metrics()
    assert "bundle" not in text
    assert set(shown["queries"]) == {"a", "b", "t"}
    (history,) = shown["histories"].values()
    assert history["history"] == kept
    assert history["ledger"]["applied"] == 180
    assert sum(history["bucket_bytes"]) == history["live_bytes"] > 0
    assert all(0 < each["latency"]["busy"] <= 1 for each in (*shown["queries"].values(), history))
    assert value(text, "windrow_batch_latency_seconds", query=kept, quantile="0.5") > 0
    nodes = {each["operator"]: each["bytes"] for each in tree.progress()["operators"]}
    assert nodes
    assert min(nodes.values()) > 0
    assert all(name[0].isdigit() for name in nodes), nodes
    listed = operation_rows(shown)
    assert [row["query"] for row in listed] == ["a", "b", "t", kept]
    assert all(row["behind"] == 0 for row in listed)


@pytest.mark.long_spark
def test_a_backlog_is_taken_in_bounded_batches(
    spark: SparkSession, files: Files, tmp_path: Path
) -> None:
    batches = random_batches(5, seed=34)
    files.put_all(batches)
    session = SparkWindrowSession(spark, checkpoint=tmp_path / "checkpoint")
    source = sources.parquet(str(files.root / "h"), files_per_batch=2)
    session.stream("h", COLUMNS, time="ts", source=source)
    most: list[int] = []

    def take(_table: pa.Table, _batch_id: int) -> None:
        most.append(query.progress()["rows_in"]["h"])

    query = session.query("SELECT COUNT(*) AS n FROM h [5 SECONDS] EVERY (1 SECOND)", name="q")
    query.start(take, trigger="available").await_end()
    session.stop()
    assert most[-1] == sum(batch["h"].num_rows for batch in batches)
    steps = [after - before for before, after in zip([0, *most], most, strict=False)]
    assert len([each for each in steps if each]) == 3
    assert max(steps) <= 2 * max(batch["h"].num_rows for batch in batches)


def test_rows_of_a_key_that_must_stay_together(files: Files, sessions: Sessions) -> None:
    query = sessions.open(files).query("SELECT COUNT(*) AS n FROM h [ROWS 3]", name="q")
    with pytest.raises(UnsupportedError, match="WU460"):
        query.start("memory", split={"h": ["r0"]})
    assert not query.is_running
