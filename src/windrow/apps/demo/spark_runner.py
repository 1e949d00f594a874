"""The demo on Spark: readings appear as Parquet files, which Spark reads as streams."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import pyarrow as pa

from windrow.apps.demo.building import ALARM_QUERY, LATENESS, Slice
from windrow.apps.demo.runners import EmbeddedRunner
from windrow.connectors.parquet.whole_files import write_whole
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import local_session

__all__ = ["SparkRunner"]

MEMORY_BYTES = 256 << 20
_COLUMNS = {
    "temp": "location string, ts timestamp, celsius double",
    "smoke": "location string, ts timestamp, strength double",
}


class SparkRunner:
    """The alarm query on a local Spark session of its own."""

    def __init__(self, rehearsal: Sequence[Slice] = (), *, ui: bool = False) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="windrow-demo-"))
        self._sent = 0
        self._sent_rows = 0
        # Kernels that are compiled while the JVM starts need not be compiled by each worker.
        rehearsing = Thread(target=_rehearse, args=(rehearsal,), daemon=True)
        rehearsing.start()
        self._spark = local_session(ui=ui)
        rehearsing.join()
        self._session = SparkWindrowSession(
            self._spark, MEMORY_BYTES, str(self._folder / "checkpoint")
        )
        for name, columns in _COLUMNS.items():
            folder = self._folder / name
            folder.mkdir()
            frame = self._spark.readStream.schema(columns).parquet(str(folder))
            self._session.stream(name, frame, time="ts", lateness=LATENESS)
        self._alarms = self._session.query(ALARM_QUERY, name="alarms").start("memory")

    def send(self, readings: Slice) -> None:
        """Puts one file per stream where Spark looks; each appears whole or not at all."""
        self._sent += 1
        for stream, rows in readings.rows.items():
            if rows.num_rows:
                target = self._folder / stream / f"{self._sent:06d}.parquet"
                write_whole(rows, target)
                self._sent_rows += rows.num_rows

    def is_busy(self) -> bool:
        """Whether a file that was sent is still to be read; raises what the query failed with."""
        if not self._alarms.is_running:
            self._alarms.await_end()
        rows_in = self._session.ledger()["rows_in"].to_pylist()
        return bool(sum(rows_in) < self._sent_rows)

    def changes(self) -> pa.Table:
        """Changes since the last call."""
        return self._alarms.changes()

    def finish(self) -> None:
        """Ends both streams."""
        self._session.finish()

    def close(self) -> None:
        """Stops the query and Spark, and removes the files."""
        self._session.stop()
        self._spark.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def _rehearse(readings: Sequence[Slice]) -> None:
    runner = EmbeddedRunner()
    for each in readings:
        runner.send(each)
    runner.changes()
    runner.close()
