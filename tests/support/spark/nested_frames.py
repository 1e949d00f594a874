"""Rows of all types as streaming DataFrames."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from support.nested_forms import COLUMNS, STREAMS, batches
from support.spark.stream_files import Files
from windrow.spark.driver.session import SparkWindrowSession

__all__ = ["declare_nested"]

# Parquet has no intervals: they are numbers in the files.
_IN_FILES = COLUMNS.replace("interval day to second", "bigint").replace(
    "interval year to month", "int"
)


def declare_nested(session: SparkWindrowSession, files: Files) -> None:
    """Writes the rows of both streams, and declares the streams on them.

    A file for each: of rows of one time, those of two files have no order on Spark.
    """
    for name in STREAMS:
        table = pa.Table.from_batches([rows for stream, rows in batches() if stream == name])
        place = table.schema.get_field_index("day")
        files.put(name, table.set_column(place, "day", table.column("day").cast(pa.int64())))
        session.stream(name, _with_intervals(files.stream(name, 1, _IN_FILES)), time="ts")


def _with_intervals(frame: DataFrame) -> DataFrame:
    day = sql.make_dt_interval(sql.lit(0), sql.lit(0), sql.lit(0), frame["day"] / 1_000_000)
    months = sql.make_ym_interval(sql.lit(0), frame["months"])
    return frame.withColumn("day", day).withColumn("months", months)
