"""The sink that gives each batch as a DataFrame of Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from support.streams import plan_of
from windrow import sinks
from windrow.connectors.contract import Writer
from windrow.errors import DataError
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.storage import Storage

pytestmark = pytest.mark.spark

AT = datetime(2026, 1, 1, 9, tzinfo=UTC)
ROWS = pa.table(
    {
        "at": pa.array([AT, AT], pa.timestamp("us", tz="UTC")),
        "change": pa.array([1, -1], pa.int8()),
        "local": pa.array([datetime(2026, 1, 1), None], pa.timestamp("us")),  # noqa: DTZ001 - it has no zone
        "p": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "tags": pa.array([["a"], None], pa.list_(pa.string())),
    }
)


def opened(sink: sinks.ForeachBatch, folder: Path) -> Writer:
    plan = plan_of("SELECT COUNT(*) AS n FROM a [1 SECOND]")
    return sink.open_on_spark(plan, QueryCheckpoint(Storage(folder), "q"))


def test_any_writer_of_spark_takes_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    batches: list[int] = []

    def put(frame: DataFrame, batch_id: int) -> None:
        batches.append(batch_id)
        frame.write.mode("append").parquet(str(tmp_path / "out"))

    writer = opened(sinks.foreach_batch(put, feed="changes"), tmp_path / "checkpoint")
    assert writer.feeds == ("changes",)
    for number in (3, 4):
        writer.write({"changes": ROWS.slice(0, 0) if number == 4 else ROWS}, number)
    assert batches == [3], "a batch without rows is no batch"
    found = spark.read.parquet(str(tmp_path / "out"))
    assert dict(found.dtypes) == {
        "at": "timestamp",
        "change": "tinyint",
        "local": "timestamp_ntz",
        "p": "decimal(10,2)",
        "tags": "array<string>",
    }
    assert sorted(found.toArrow()["change"].to_pylist()) == [-1, 1]


@pytest.mark.usefixtures("spark")
def test_a_function_that_fails_is_named(tmp_path: Path) -> None:
    def refuse(_frame: DataFrame, _batch_id: int) -> None:
        raise ValueError("no room")

    with pytest.raises(DataError, match=r"WD410.*batch 7.*no room"):
        opened(sinks.foreach_batch(refuse), tmp_path).write({"answers": ROWS}, 7)
