"""Tables that Spark knows by name, by path and by JDBC; and JDBC as a sink."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow
from support.spark.stream_files import SECOND, Files, Sessions, rows
from windrow.errors import BindingError, DataError

pytestmark = pytest.mark.spark

JOIN = "SELECT h.value, t.name FROM h [1 MINUTE] JOIN t ON h.room = t.id"


@pytest.fixture
def given(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("a", "lab"), ("b", "hall")], "ID string, name string")


def test_a_table_is_read_by_jdbc_and_answers_are_written_by_it(
    given: DataFrame, files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    url = f"jdbc:derby:{tmp_path / 'building'};create=true"
    given.write.jdbc(url, "rooms")
    files.put("h", rows(("a", SECOND, 1.0), ("c", 2 * SECOND, 2.0), ("b", 3 * SECOND, 3.0)))
    session = sessions.open(files, buckets=1)
    source = windrow.sources.spark_table("rooms", "jdbc", {"url": url})
    session.table("t", "id string, name string", key="id", source=source)

    def write(frame: DataFrame, _batch: int) -> None:
        frame.write.jdbc(url, "answers", mode="append")

    session.query(JOIN).start(windrow.sinks.foreach_batch(write, feed="changes"), "available")
    session.finish()
    found = given.sparkSession.read.jdbc(url, "answers").collect()
    assert sorted((row["change"], row["value"], row["name"]) for row in found) == [
        (1, 1.0, "lab"),
        (1, 3.0, "hall"),
    ]


def test_tables_of_the_catalogue_and_of_a_path(
    given: DataFrame, files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    folder = str(tmp_path / "rooms")
    given.write.orc(folder)
    given.createOrReplaceTempView("rooms_by_name")
    files.put("h", rows(("a", SECOND, 1.0), ("c", 2 * SECOND, 2.0), ("b", 3 * SECOND, 3.0)))
    session = sessions.open(files, buckets=1)
    known = windrow.sources.spark_table
    sources = [known("rooms_by_name"), known(folder, "orc")]
    for number, source in enumerate(sources):
        session.table(f"t{number}", "id string, name string", key="id", source=source)
    query = session.query(
        "SELECT h.value, t0.name, t1.id FROM h [1 MINUTE] JOIN t0 ON h.room = t0.id "
        "JOIN t1 ON h.room = t1.id"
    )
    query.start("memory", trigger="available")
    session.finish()
    came = {tuple(row.values())[2:] for row in query.changes().to_pylist() if row["change"] == 1}
    assert came == {(1.0, "lab", "a"), (3.0, "hall", "b")}
    with pytest.raises(BindingError, match=r"WB719.*no column 'floor'"):
        session.table("u", "id string, floor int", key="id", source=sources[0])


def test_what_spark_cannot_read_is_said_without_secrets(files: Files, sessions: Sessions) -> None:
    session = sessions.open(files, buckets=1)
    address = {"url": "jdbc:derby:none?password=secret", "password": "secret"}
    known = windrow.sources.spark_table
    for source in (known("no_such_table"), known("t", "no_format"), known("t", "jdbc", address)):
        with pytest.raises(DataError, match=r"WD882.*Spark cannot read") as refused:
            session.table("t", "id string", key="id", source=source)
        assert "secret" not in str(refused.value) + repr(source)
        assert "\n\tat " not in str(refused.value)
