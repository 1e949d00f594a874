"""Parquet files that tasks read themselves: the same rows as Spark's, or Spark reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from support.spark.stream_files import Files, Sessions, embedded, in_order, random_batches, rows
from windrow.errors import DataError
from windrow.spark.driver.parquet_scan import files_scanned
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.shuffle.parquet_rows import rows_of_files

pytestmark = pytest.mark.spark

JOIN = """SELECT h.room, COUNT(*) AS n, SUM(c.value) AS s FROM h [8 SECONDS], c [5 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""
TYPES = {
    "ts": "timestamp",
    "b": "boolean",
    "i": "int",
    "l": "bigint",
    "f": "float",
    "d": "double",
    "s": "string",
}
DDL = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())


def rows_of_all_types(seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    size = 200

    def column(values: Any, kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind, mask=random.random(size) < 0.2)

    instants = random.integers(-(2**55), 2**55, size)
    return pa.table(
        {
            "more": column(np.arange(size), pa.int64()),
            "l": column(random.integers(-(2**63), 2**63 - 1, size), pa.int64()),
            "ts": column(instants, pa.int64()).cast(pa.timestamp("us", tz="Europe/Rome")),
            "b": column(random.random(size) < 0.5, pa.bool_()),
            "i": column(random.integers(-(2**31), 2**31 - 1, size), pa.int32()),
            "f": column(random.choice([0.0, -0.0, np.nan, np.inf, 0.1], size), pa.float32()),
            "d": column(random.choice([0.0, -0.0, np.nan, -np.inf, 0.1], size), pa.float64()),
            "s": column(random.choice(["", "ä€😀", "x" * 99], size).astype(object), pa.string()),
        }
    )


def read_both_ways(spark: SparkSession, folder: Path) -> tuple[pa.Table, pa.Table]:
    """Rows by our reader and by Spark's."""
    by_spark = spark.read.schema(DDL).parquet(str(folder)).toArrow()
    paths = [f"file:{file}" for file in sorted(folder.iterdir())]
    read = rows_of_files(str(folder), TYPES)
    ours = pa.Table.from_batches(read(iter([pa.record_batch({"path": paths})])))
    return ours, by_spark


def as_text(table: pa.Table) -> list[str]:
    plain = table.set_column(
        table.schema.get_field_index("ts"), "ts", table.column("ts").cast(pa.int64())
    )
    return sorted(map(repr, plain.select(list(TYPES)).to_pylist()))


@pytest.mark.parametrize("way", ["plain", "int96", "dictionaries", "pages", "pressed", "spark"])
def test_rows_are_those_of_spark(spark: SparkSession, tmp_path: Path, way: str) -> None:
    folder = tmp_path / "in"
    table = rows_of_all_types(seed=11)
    if way == "spark":
        spark.createDataFrame(table).repartition(2).write.parquet(str(folder))
        for hidden in [each for each in folder.iterdir() if each.name[0] in "._"]:
            hidden.unlink()
    else:
        folder.mkdir()
        options: dict[str, Any] = {
            "plain": {"use_dictionary": False},
            "int96": {"use_deprecated_int96_timestamps": True, "store_schema": False},
            "dictionaries": {},
            "pages": {"row_group_size": 7, "data_page_version": "2.0"},
            "pressed": {"compression": "zstd"},
        }[way]
        if way == "dictionaries":
            table = table.set_column(7, "s", table.column("s").dictionary_encode())
        pq.write_table(table, folder / "a b%20.parquet", **options)
    ours, by_spark = read_both_ways(spark, folder)
    assert files_scanned(spark.readStream.schema(DDL).parquet(str(folder)), TYPES) is not None
    assert as_text(ours) == as_text(by_spark)


def odd_files(folder: Path, how: str) -> None:
    table = pa.table({"ts": pa.array([1], pa.timestamp("us", tz="UTC")), "l": pa.array([1])})
    if how == "narrow":
        table = table.set_column(1, "l", pa.array([1], pa.int32()))
    if how == "wall":
        table = table.set_column(0, "ts", pa.array([1], pa.timestamp("us")))
    if how == "ms":
        table = table.set_column(0, "ts", pa.array([1], pa.timestamp("ms", tz="UTC")))
    if how == "missing":
        table = table.drop_columns("l")
    if how == "cases":
        table = table.append_column("L", pa.array([2]))
    if how == "calendar":
        table = table.replace_schema_metadata({"org.apache.spark.legacyDateTime": ""})
    if how == "old":
        table = table.replace_schema_metadata({"org.apache.spark.version": "2.4.8"})
    place = folder / "k=1" if how == "folders" else folder
    place.mkdir(parents=True)
    pq.write_table(table, place / "a.parquet")
    if how == "no parquet":
        (place / "b.parquet").write_bytes(b"PAR1 or not")


def bare(spark: SparkSession, folder: Path, **options: str) -> DataFrame:
    return spark.readStream.schema("ts timestamp, l bigint").options(**options).parquet(str(folder))


@pytest.mark.parametrize(
    "how",
    ["narrow", "wall", "ms", "missing", "cases", "calendar", "old", "folders", "no parquet"],
)
def test_spark_reads_what_is_not_plain(spark: SparkSession, tmp_path: Path, how: str) -> None:
    odd_files(tmp_path / "in", how)
    assert files_scanned(bare(spark, tmp_path / "in"), ["ts", "l"]) is None


def test_spark_reads_what_is_more_than_a_scan(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    odd_files(folder, "plain")
    names = ["ts", "l"]
    scanned = files_scanned(bare(spark, folder, maxFilesPerTrigger="3", timeZone="UTC"), names)
    assert scanned is not None
    assert scanned.columns == {"ts": "timestamp", "l": "bigint"}
    assert files_scanned(bare(spark, folder).where("l > 0"), names) is None
    assert files_scanned(bare(spark, folder, mergeSchema="true"), names) is None
    assert files_scanned(bare(spark, folder, ignoreCorruptFiles="true"), names) is None
    assert files_scanned(bare(spark, tmp_path / "*"), names) is None
    spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    try:
        assert files_scanned(bare(spark, folder), names) is None
    finally:
        spark.conf.unset("spark.sql.files.ignoreMissingFiles")


def declared(session: SparkWindrowSession, files: Files, by_spark: bool) -> None:
    for stream in "hc":
        frame = files.stream(stream)
        session.stream(stream, frame.select("*") if by_spark else frame, time="ts")


def test_a_query_goes_on_when_another_reads_its_files(files: Files, sessions: Sessions) -> None:
    batches = random_batches(6, seed=5)
    twin, _ = embedded(JOIN, batches)
    wanted = in_order(twin.changes())
    found = []
    for number, by_spark in enumerate((True, False, True)):
        files.put_all(batches[2 * number : 2 * number + 2])
        session = sessions.open()
        declared(session, files, by_spark)
        query = session.query(JOIN, name="q").start("memory", trigger="available")
        query.await_end()
        if number == 2:
            session.finish()
            query.start("memory", trigger="available").await_end()
        found += in_order(query.changes())
        session.stop()
    assert sorted(found, key=repr) == wanted


def test_a_file_that_is_not_like_the_others(files: Files, sessions: Sessions) -> None:
    files.put("h", rows(("a", 1_000_000, 1.0)))
    text = "SELECT COUNT(*) AS n, SUM(h.value) AS s FROM h [8 SECONDS]"
    session = sessions.open(files)
    query = session.query(text, name="q").start("memory")
    query.run.catch_up()
    narrow = rows(("a", 2_000_000, 2.0), ("a", 3_000_000, 3.0))
    narrow = narrow.set_column(2, "value", narrow.column("value").cast(pa.float32()))
    files.put("h", narrow)
    with pytest.raises(DataError, match=r"WD432.*'value' is float, not double"):
        query.await_end(60)
    # From now on Spark reads them.
    query.start("memory", trigger="available").await_end()
    assert query.progress()["rows_in"] == {"h": 3}
    files.put("h", rows(("a", 4_000_000, 4.0)))
    query.start("memory", trigger="available").await_end()
    assert query.result().to_pylist() == [{"n": 3, "s": 6.0}]


def test_batches_say_how_many_rows_they_read(files: Files, sessions: Sessions) -> None:
    batches = random_batches(2, seed=3)
    files.put_all(batches)
    (files.root / "h" / "0000.parquet").touch()  # without a byte, and so without rows
    session = sessions.open(files)
    session.query(JOIN, name="q").start("memory", trigger="available").await_end()
    given = sum(table.num_rows for batch in batches for table in batch.values())
    listener = session._metrics.listener

    def is_told(_samples: object) -> bool:
        return sum(session.batches().column("rows").to_pylist()) == given

    assert listener.wait_for(is_told, 60)
