"""A driver on a host of a cluster: runs a join over files that are there, and tells how it went.

It is a program of its own, as only a process on the host reaches the others there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import windrow
from support.spark.stream_files import Files
from windrow.spark.cluster import cluster_settings
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.processes.java import ensure_java

__all__ = ["JOIN"]

JOIN = """SELECT h.room, COUNT(*) AS n, SUM(c.value) AS total
    FROM h [30 SECONDS], c [20 SECONDS] WHERE h.room = c.room GROUP BY h.room"""
PATIENCE_S = 600

# A host that is cut off is given up after seconds, not after minutes.
SOON = {
    "spark.network.timeout": "12s",
    "spark.network.timeoutInterval": "2s",
    "spark.executor.heartbeatInterval": "2s",
}


def main() -> None:
    """Runs the job to its end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path)
    parser.add_argument("--master")
    parser.add_argument("--address")
    parser.add_argument("--buckets", type=int)
    given = parser.parse_args()
    own = {"SPARK_LOCAL_IP": given.address, "PYSPARK_PYTHON": sys.executable}
    os.environ.update({**ensure_java(), **own, "PYSPARK_DRIVER_PYTHON": sys.executable})
    builder = SparkSession.builder.master(given.master).appName("windrow")
    for name, value in _settings(given.address).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        progress = _run(spark, given.root, given.buckets)
    finally:
        spark.stop()
    (given.root / "progress.json").write_text(json.dumps(progress), encoding="utf-8")


def _run(spark: SparkSession, root: Path, buckets: int) -> dict[str, object]:
    files = Files(spark, root / "in")
    session = SparkWindrowSession(spark, checkpoint=root / "checkpoint", buckets=buckets)
    try:
        for stream in ("h", "c"):
            session.stream(stream, files.stream(stream), time="ts")
        query = session.query(JOIN, name="pairs")
        query.start(windrow.sinks.parquet(root / "out", feed="changes"), trigger="available")
        assert query.await_end(PATIENCE_S)
        session.finish()
        return query.progress()
    finally:
        session.stop()


def _settings(address: str) -> dict[str, str]:
    return {
        **cluster_settings(),
        **SOON,
        "spark.driver.host": address,
        "spark.driver.bindAddress": address,
        "spark.executor.memory": "600m",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
    }


if __name__ == "__main__":
    main()
