"""The state of the buckets of a query that is not running, read from Spark's state store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.spark.checkpoint.spark_part import checkpoint_trouble
from windrow.spark.driver.failures import SPARK_FAILURES
from windrow.spark.worker.bucket_state import BucketState

__all__ = ["stored_buckets"]


class _StoredBucket:
    """What the store held for one bucket; nothing is written."""

    def __init__(self, header: bytes | None, segments: Mapping[int, bytes]) -> None:
        self._header, self._segments = header, segments

    def read_header(self) -> bytes | None:
        return self._header

    def read_segment(self, sequence: int) -> bytes | None:
        return self._segments.get(sequence)

    def write_header(self, data: bytes) -> None:
        raise AssertionError(f"{len(data)} bytes: a state that is read stays as it is")

    def write_segment(self, sequence: int, data: bytes) -> None:
        raise AssertionError(f"segment {sequence}, {len(data)} bytes: as above")

    def remove_segment(self, sequence: int) -> None:
        raise AssertionError(f"segment {sequence}: as above")


def stored_buckets(
    spark: SparkSession, location: str, query: str, batch_id: int, buckets: Sequence[int]
) -> list[BucketState]:
    """The state after a batch, by the ids of buckets; location: Spark's part of a checkpoint."""
    try:
        headers = {
            row["bucket"]: bytes(row["data"])
            for row in _read(spark, location, batch_id, "header", "value.data")
        }
        segments: dict[int, dict[int, bytes]] = {bucket: {} for bucket in buckets}
        columns = ("user_map_key.sequence", "user_map_value.data")
        for row in _read(spark, location, batch_id, "panes", *columns):
            segments.setdefault(row["bucket"], {})[row["sequence"]] = bytes(row["data"])
    except SPARK_FAILURES as problem:
        cause = str(problem).partition("\n")[0]
        trouble = checkpoint_trouble(f"query {query!r}", cause, str(problem))
        if trouble is None:
            raise
        raise trouble from problem
    return [_StoredBucket(headers.get(bucket), segments[bucket]) for bucket in buckets]


def _read(
    spark: SparkSession, location: str, batch_id: int, variable: str, *columns: str
) -> list[Any]:
    """The rows of a state variable, each with its bucket."""
    reader = spark.read.format("statestore").option("batchId", batch_id)
    found: DataFrame = reader.option("stateVarName", variable).load(location)
    return found.select("key.bucket", *columns).collect()
