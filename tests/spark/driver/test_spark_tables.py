"""Tables on Spark: static, streaming, changelogs and files; the same as in one process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from support.runners import exactly
from support.spark.stream_files import SECOND, Files, rows
from windrow.errors import DataError
from windrow.jobs.job import job_of
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = [pytest.mark.spark, pytest.mark.long_spark]

START = 1_700_000_000 * SECOND
JOINED = "SELECT c.room, c.value, r.name FROM c [10 SECONDS] LEFT JOIN rooms AS r ON c.room = r.id"
GROUPED = (
    "SELECT r.name, COUNT(*) AS n FROM c [10 SECONDS] JOIN rooms AS r ON c.room = r.id"
    " GROUP BY r.name"
)
AS_OF = (
    "SELECT c.room, r.name FROM c [10 SECONDS] LEFT JOIN rooms FOR SYSTEM_TIME AS OF c.ts AS r"
    " ON c.room = r.id"
)
ROOMS = [("a", "lab"), ("b", "hall"), ("a", "office")]


def stream_rows(begin: int = 0, count: int = 12) -> pa.Table:
    """A row each second, of three rooms."""
    return rows(
        *(("abc"[i % 3], START + i * SECOND, float(i)) for i in range(begin, begin + count))
    )


def twin(text: str, *steps: Any) -> windrow.embedded.EmbeddedSession:
    """A session in process: each step changes the table, or pushes rows."""
    session = windrow.connect()
    session.stream("c", "room string, ts timestamp, value double", time="ts")
    session.table("rooms", "id string, name string", key="id")
    query = session.query(text, name="q")
    for step in steps:
        if isinstance(step, pa.Table):
            session.push("c", step)
        else:
            session.changelog("rooms", step)
    session.finish()
    return query


def upserts(*pairs: tuple[str, str | None]) -> list[dict[str, Any]]:
    return [{"op": "-D" if name is None else "+U", "id": key, "name": name} for key, name in pairs]


def assert_same(query: Any, other: Any) -> None:
    assert sorted(exactly(query.answers())) == sorted(exactly(other.answers()))
    assert sorted(exactly(query.changes())) == sorted(exactly(other.changes()))
    assert sorted(exactly(query.result())) == sorted(exactly(other.result()))


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Files:
    return Files(spark, tmp_path / "in")


def opened(spark: SparkSession, files: Files, folder: Path) -> SparkWindrowSession:
    session = windrow.connect(spark, checkpoint=folder / "checkpoint", buckets=2)
    session.stream("c", files.stream("c"), time="ts")
    return session


def test_a_static_dataframe_is_read_once(spark: SparkSession, files: Files, tmp_path: Path) -> None:
    texts = {"joined": JOINED, "grouped": GROUPED, "versions": AS_OF}
    answers: dict[str, list[pa.Table]] = {name: [] for name in texts}
    for number, known in enumerate([ROOMS, [("b", "cellar"), ("c", "cellar")]]):
        files.put("c", stream_rows(12 * number))
        session = opened(spark, files, tmp_path)
        try:
            session.table("rooms", spark.createDataFrame(known, "id string, name string"), key="id")
            queries = {
                name: session.query(text, name=name).start("memory", trigger="available")
                for name, text in texts.items()
            }
            for query in queries.values():
                query.await_end()
            if number:
                session.finish()
            for name, query in queries.items():
                answers[name].append(query.answers())
            held = {row["query"]: row["rows"] for row in session.tables().to_pylist()}
            assert held == dict.fromkeys(texts, 2)
            ledger = [row for row in session.ledger().to_pylist() if row["stream"] == "rooms"]
            assert {(row["rows_in"], row["applied"]) for row in ledger} == {(3, 3)}
            assert "in 2 buckets by c.room, rooms.id" in queries["joined"].explain()
        finally:
            session.stop()
    # What another session gives for the table has come too late.
    for name, text in texts.items():
        told = pa.concat_tables(answers[name])
        other = twin(text, upserts(*ROOMS), stream_rows(0, 24))
        assert sorted(exactly(told)) == sorted(exactly(other.answers())), name


def test_a_changelog_goes_on_after_a_restart(
    spark: SparkSession, files: Files, tmp_path: Path
) -> None:
    steps = [
        (upserts(*ROOMS), stream_rows(0)),
        (upserts(("b", None), ("c", "cellar")), stream_rows(12)),
    ]
    told: list[tuple[pa.Table, pa.Table]] = []
    for number, (changes, arrived) in enumerate(steps):
        files.put("changes", pa.Table.from_pylist(changes))
        files.put("c", arrived)
        session = opened(spark, files, tmp_path)
        columns = "op string, id string, name string"
        session.table("rooms", files.stream("changes", columns=columns), key="id", op="op")
        query = session.query(JOINED, name="q").start("memory", trigger="available")
        query.await_end()
        if number:
            session.finish()
        told.append((query.answers(), query.changes()))
        result = query.result()
        session.stop()
    other = twin(JOINED, *(part for step in steps for part in step))
    answers, changes = (pa.concat_tables(each) for each in zip(*told, strict=True))
    assert sorted(exactly(answers)) == sorted(exactly(other.answers()))
    assert sorted(exactly(changes)) == sorted(exactly(other.changes()))
    assert sorted(exactly(result)) == sorted(exactly(other.result()))


def debezium(before: Any, after: Any, op: str) -> str:
    return json.dumps({"before": before, "after": after, "op": op}) + "\n"


def test_files_of_a_changelog_are_read_in_their_order(
    spark: SparkSession, files: Files, tmp_path: Path
) -> None:
    folder = tmp_path / "changes"
    folder.mkdir()
    # The second file is the larger one, which Spark would read first.
    (folder / "1.jsonl").write_text(debezium(None, {"id": "a", "name": "lab"}, "c"))
    later = [debezium(None, {"id": f"x{i}", "name": "y" * 99}, "c") for i in range(50)]
    later += [
        debezium(None, {"id": "a", "name": "office"}, "u"),
        debezium(None, {"id": "b", "name": "hall"}, "r"),
        debezium({"id": "b"}, None, "d"),
    ]
    (folder / "2.jsonl").write_text("".join(later))
    files.put("c", stream_rows())
    script = f"""
        CREATE STREAM c (room STRING, ts TIMESTAMP, value DOUBLE) TIME ts FROM parquet('x');
        CREATE TABLE rooms (id STRING PRIMARY KEY, name STRING)
          FROM jsonl('{folder}', format = 'debezium-json');
        CREATE QUERY q AS {JOINED};"""
    table = job_of(script).tables["rooms"]
    session = opened(spark, files, tmp_path)
    try:
        session.table("rooms", table.schema.types, key="id", source=table.source)
        query = session.query(JOINED, name="q").start("memory")
        session.finish()
        assert_same(query, twin(JOINED, upserts(("a", "office")), stream_rows()))
    finally:
        session.stop()


def test_a_record_that_cannot_be_read_ends_the_query(
    spark: SparkSession, files: Files, tmp_path: Path
) -> None:
    files.put("c", stream_rows())
    frame = spark.createDataFrame([("?", "a", "lab")], "op string, id string, name string")
    session = opened(spark, files, tmp_path)
    try:
        session.table("rooms", frame, key="id", op="op")
        query = session.query(JOINED, name="q").start("memory", trigger="available")
        with pytest.raises(DataError, match=r"WD717.*'op' is '\?'"):
            query.await_end()
    finally:
        session.stop()
