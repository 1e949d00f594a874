"""The streams of a NEXMark run as files, and what a run over them took."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from nexmark.events import BEGIN_US, SCHEMAS

__all__ = ["SparkRun", "read_stream", "written"]

FIRST_FILE_AT_S = 1_700_000_000


@dataclass
class SparkRun:
    """One run: all tables that it told, and the CPU time that it took."""

    tables: list[pa.Table] = field(default_factory=list)
    cpu_at_batch: list[float] = field(default_factory=list)
    cpu_s: float = 0.0
    runs_in: str = ""

    @property
    def told(self) -> int:
        """Rows of all tables."""
        return sum(table.num_rows for table in self.tables)


def written(folder: Path, tables: Mapping[str, pa.Table], batches: int) -> None:
    """A file for each stream and batch; the batches are of equal length in event time."""
    last_us = max(pc.max(table["dateTime"]).cast(pa.int64()).as_py() for table in tables.values())
    step_us = (last_us - BEGIN_US) // batches + 1
    for name, table in tables.items():
        times = table["dateTime"].cast(pa.int64()).to_numpy()
        (folder / name).mkdir(parents=True)
        begin = 0
        for number in range(batches):
            end = int(times.searchsorted(BEGIN_US + (number + 1) * step_us))
            path = folder / name / f"{number:03d}.parquet"
            pq.write_table(table.slice(begin, end - begin), path)
            # Spark takes files in the order of their times.
            os.utime(path, (FIRST_FILE_AT_S + number, FIRST_FILE_AT_S + number))
            begin = end


def read_stream(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """A stream, a file of it in each micro-batch."""
    reader = spark.readStream.schema(SCHEMAS[name]).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder / name))
