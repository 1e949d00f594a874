"""Rows of a batch as records for Kafka: a key, a value, and two headers that name the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import from_arrow_schema

__all__ = ["Records", "records_frame"]

_NUMBER = "windrow_row"
_JSON = {
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",  # the default would cut microseconds
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ignoreNullFields": "false",
}


@dataclass(frozen=True)
class Records:
    """Rows to write, and rows whose keys get a record without a value; key None: without keys."""

    rows: pa.Table
    removed: pa.Table | None
    key: Sequence[str] | None

    @property
    def count(self) -> int:
        """How many records that makes."""
        return int(self.rows.num_rows + (0 if self.removed is None else self.removed.num_rows))


def records_frame(spark: SparkSession, records: Records, batch: str) -> DataFrame:
    """Columns key, value, batch and row, all bytes; batch: what the header says."""
    frame = _numbered(spark, records.rows, 0, records.key, batch, has_value=True)
    if records.removed is not None and records.removed.num_rows:
        first = records.rows.num_rows
        gone = _numbered(spark, records.removed, first, records.key, batch, has_value=False)
        frame = frame.union(gone)
    return frame


def _numbered(
    spark: SparkSession,
    rows: pa.Table,
    first: int,
    key: Sequence[str] | None,
    batch: str,
    *,
    has_value: bool,
) -> DataFrame:
    numbers = np.arange(first, first + rows.num_rows, dtype=np.int64)
    number = _NUMBER
    while number in rows.column_names:
        number += "_"
    table = rows.append_column(number, pa.array(numbers))
    # A time without a zone stays one, whatever the session takes timestamps for.
    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    frame = spark.createDataFrame(table, schema)
    nothing = sql.lit(None).cast("binary")
    return frame.select(
        (nothing if key is None else _json(frame, key)).alias("key"),
        (_json(frame, rows.column_names) if has_value else nothing).alias("value"),
        sql.lit(batch.encode()).alias("batch"),
        frame[number].cast("string").cast("binary").alias("row"),
    )


def _json(frame: DataFrame, names: Sequence[str]) -> Column:
    if not names:
        return sql.lit(b"{}")
    columns = [frame[f"`{name.replace('`', '``')}`"].alias(name) for name in names]
    return sql.to_json(sql.struct(*columns), _JSON).cast("binary")
