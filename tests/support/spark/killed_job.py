"""A job that a test kills: joins two folders of files into Parquet, from a checkpoint."""

from __future__ import annotations

import sys
from pathlib import Path

import windrow
from windrow.spark.settings import local_session

QUERY = """SELECT a.room, COUNT(*) AS n, SUM(b.value) AS total
    FROM a [30 SECONDS], b [20 SECONDS] WHERE a.room = b.room GROUP BY a.room"""


def main(root: Path) -> None:
    """Run through all files, and say that it is done."""
    spark = local_session(cores=2)
    session = windrow.connect(spark, checkpoint=str(root / "checkpoint"))
    for name in ("a", "b"):
        reader = spark.readStream.schema("room string, ts timestamp, value double")
        folder = str(root / "in" / name)
        frame = reader.option("maxFilesPerTrigger", 1).parquet(folder)
        session.stream(name, frame, time="ts")
    query = session.query(QUERY, name="pairs")
    query.start(windrow.sinks.parquet(root / "out", feed="changes"), trigger="available")
    query.await_end()
    session.finish()
    session.stop()
    (root / "done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
