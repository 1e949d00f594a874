"""Streams of files for the tests on Spark: each file is one batch of its stream."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.spark.driver.session import SparkWindrowSession

SECOND = 1_000_000
FIRST_FILE_AT_S = 1_700_000_000
COLUMNS = {"room": "string", "ts": "timestamp", "value": "double"}
SPARK_COLUMNS = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
SCHEMA = pa.schema(
    [("room", pa.string()), ("ts", pa.timestamp("us", tz="UTC")), ("value", pa.float64())]
)


@dataclass
class Files:
    """A directory of Parquet files per stream; each file is one batch of the stream.

    Without Spark it can only write them.
    """

    spark: SparkSession | None
    root: Path
    lateness: str = "0 seconds"
    counts: dict[str, int] = field(default_factory=dict)

    def put(self, stream: str, rows: pa.Table) -> None:
        """Adds one file, which is read after all those before it."""
        number = self.counts[stream] = self.counts.get(stream, 0) + 1
        folder = self.root / stream
        folder.mkdir(parents=True, exist_ok=True)
        hidden = folder / f".{number:04d}"
        pq.write_table(rows, hidden)
        # Spark takes files in the order of their times, and of several in a moment in any order.
        os.utime(hidden, (FIRST_FILE_AT_S + number, FIRST_FILE_AT_S + number))
        hidden.rename(folder / f"{number:04d}.parquet")

    def put_all(self, batches: Iterable[Mapping[str, pa.Table]]) -> None:
        """Adds one file per stream and batch."""
        for batch in batches:
            for stream, table in batch.items():
                self.put(stream, table)

    def stream(
        self, stream: str, files_per_batch: int = 1, columns: str = SPARK_COLUMNS
    ) -> DataFrame:
        """The directory as a streaming DataFrame."""
        assert self.spark is not None
        (self.root / stream).mkdir(parents=True, exist_ok=True)
        reader = self.spark.readStream.schema(columns)
        reader = reader.option("maxFilesPerTrigger", files_per_batch)
        return reader.parquet(str(self.root / stream))


@dataclass
class Sessions:
    """Makes sessions on one checkpoint directory and stops them in the end."""

    spark: SparkSession
    checkpoint: Path | None
    opened: list[SparkWindrowSession] = field(default_factory=list)

    def folder(self, query: str) -> Path:
        """Where the checkpoint of a query lies."""
        assert self.checkpoint is not None
        return self.checkpoint / query

    def open(self, files: Files | None = None, **options: Any) -> SparkWindrowSession:
        """A session on the checkpoint; with files, the streams h and c are declared on them."""
        session = SparkWindrowSession(self.spark, checkpoint=self.checkpoint, **options)
        self.opened.append(session)
        for stream in ("h", "c") if files is not None else ():
            session.stream(stream, files.stream(stream), time="ts", lateness=files.lateness)
        return session


def rows(*entries: tuple[str | None, int | None, float | None]) -> pa.Table:
    """Rows of (room, time in microseconds, value)."""
    rooms, times, values = zip(*entries, strict=True) if entries else ((), (), ())
    return pa.table(
        [
            pa.array(rooms, pa.string()),
            pa.array(times, pa.int64()).cast(SCHEMA.field("ts").type),
            pa.array(values, pa.float64()),
        ],
        schema=SCHEMA,
    )


def read_sink(path: Path) -> pa.Table:
    """All files of a Parquet sink, in the order of their batches."""
    return pa.concat_tables([pq.read_table(file) for file in sorted(path.iterdir())])


def random_batches(count: int, seed: int, disorder_us: int = 0) -> list[dict[str, pa.Table]]:
    """Batches of ten seconds of the streams h and c, with ties; rows may trail by the disorder."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(count):
        batch = {}
        for stream in ("h", "c"):
            times = number * 10 * SECOND + random.integers(0, 100, 60) * SECOND // 10
            trail = random.integers(0, disorder_us + 1, times.size)
            batch[stream] = rows(
                *(
                    (f"r{random.integers(4)}", int(time), float(random.integers(9)))
                    for time in np.sort(times + trail) - trail
                )
            )
        made.append(batch)
    return made


def embedded(
    text: str, batches: Iterable[Mapping[str, pa.Table]], lateness: str = "0 seconds"
) -> tuple[EmbeddedQuery, EmbeddedSession]:
    """The query run in this process over the same batches, to the end of its streams."""
    session = EmbeddedSession()
    for stream in ("h", "c"):
        session.stream(stream, COLUMNS, time="ts", lateness=lateness)
    query = session.query(text)
    for batch in batches:
        for stream, table in batch.items():
            session.push(stream, table)
    session.finish()
    return query, session


def in_order(changes: pa.Table) -> list[tuple[object, ...]]:
    """Changes by their instants; those of one instant have no order among themselves."""
    return sorted((tuple(row.values()) for row in changes.to_pylist()), key=repr)
