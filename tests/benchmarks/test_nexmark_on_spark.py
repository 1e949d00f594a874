"""NEXMark on Spark: the benchmark runs, and knows a wrong answer when it sees one."""

from __future__ import annotations

from pathlib import Path

import pytest
from nexmark.events import streams
from nexmark.live import tables_of
from nexmark.queries import QUERIES
from nexmark.spark_files import SparkRun, written
from nexmark.spark_own import SPARK_QUERIES, own_is_right, own_run
from nexmark.spark_windrow import windrow_is_right, windrow_run
from pyspark.sql import SparkSession

from windrow.spark.settings import local_session

EVENTS, PER_SECOND, BATCHES = 4_800, 200, 2


def test_spark_has_a_text_for_each_query() -> None:
    # What Spark cannot stream it computes anew.
    assert sorted(SPARK_QUERIES) == sorted(QUERIES)


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return local_session(cores=2)


@pytest.mark.spark
@pytest.mark.long_spark
@pytest.mark.parametrize("name", ["q4", "q8", "q13", "q17"])
def test_both_give_what_duckdb_computes(name: str, spark: SparkSession, tmp_path: Path) -> None:
    query, own = QUERIES[name], SPARK_QUERIES[name]
    tables = tables_of(query, streams(EVENTS, per_second=PER_SECOND, seed=11))
    written(tmp_path / "in", tables, BATCHES)
    run = windrow_run(spark, query, tmp_path, 2, is_windowed=False)
    assert windrow_is_right(query, tables, run, is_windowed=False)
    assert len(run.cpu_at_batch) == BATCHES
    lost = SparkRun([run.tables[0].slice(1), *run.tables[1:]])
    assert not windrow_is_right(query, tables, lost, is_windowed=False)
    run = own_run(spark, query, own, tmp_path, 2)
    assert own_is_right(query, own, tables, run)
    last = next(table for table in reversed(run.tables) if table.num_rows)
    lost = SparkRun([table if table is not last else table.slice(1) for table in run.tables])
    assert not own_is_right(query, own, tables, lost)
