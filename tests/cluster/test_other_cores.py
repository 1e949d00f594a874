"""A query that goes on from its checkpoint on another number of cores."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import SparkContext

import windrow
from support.spark.stream_files import Files, embedded, in_order, random_batches, read_sink
from windrow.spark.settings import local_session

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

JOIN = """SELECT h.room, COUNT(*) AS n, SUM(c.value) AS total
    FROM h [30 SECONDS], c [20 SECONDS] WHERE h.room = c.room GROUP BY h.room"""
# What each session finds when it begins; windows reach from one into the next.
CORES = (2, 1, 4)
BATCHES_EACH = 2


def test_a_query_goes_on_with_other_numbers_of_cores(tmp_path: Path) -> None:
    batches = random_batches(BATCHES_EACH * len(CORES), seed=11)
    for run, cores in enumerate(CORES):
        come = batches[run * BATCHES_EACH :][:BATCHES_EACH]
        go_on(tmp_path, cores, come, is_last=run == len(CORES) - 1)
        claimed = json.loads((tmp_path / "checkpoint" / "pairs" / "windrow.json").read_text())
        assert claimed["buckets"] == CORES[0]
    undisturbed, _ = embedded(JOIN, batches)
    assert in_order(read_sink(tmp_path / "out")) == in_order(undisturbed.changes())


def go_on(root: Path, cores: int, come: list[dict[str, pa.Table]], is_last: bool) -> None:
    """One session on so many cores, through the batches that came in the meantime."""
    assert SparkContext._active_spark_context is None
    spark = local_session(cores=cores)
    try:
        assert spark.sparkContext.defaultParallelism == cores
        files = Files(spark, root / "in")
        files.counts = {name: len(list((root / "in" / name).glob("*.parquet"))) for name in "hc"}
        files.put_all(come)
        session = windrow.connect(spark, checkpoint=str(root / "checkpoint"))
        for stream in ("h", "c"):
            session.stream(stream, files.stream(stream), time="ts")
        query = session.query(JOIN, name="pairs")
        sink = windrow.sinks.parquet(root / "out", feed="changes")
        query.start(sink, trigger=None if is_last else "available")
        if is_last:
            session.finish()
        else:
            query.await_end()
        session.stop()
    finally:
        spark.stop()
