"""A query of NEXMark through Windrow on Spark: files in, changes of its result out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pipeline_paths import cpu_seconds
from pyspark.sql import SparkSession

import windrow
from nexmark.anew import Recomputation, as_counts
from nexmark.events import BEGIN_US
from nexmark.live import count_char, last_us
from nexmark.query import Query
from nexmark.side_table import SIDE_TABLE
from nexmark.spark_files import SparkRun, read_stream
from windrow.spark.driver.session import SparkWindrowSession

__all__ = ["windrow_is_right", "windrow_run"]

INSTANTS = 3


def windrow_run(
    spark: SparkSession, query: Query, work: Path, buckets: int, *, is_windowed: bool
) -> SparkRun:
    """All changes over the files of the folder, and what they took."""
    run = SparkRun()
    session = windrow.connect(
        spark, memory="6 GB", checkpoint=str(work / "checkpoint"), buckets=buckets
    )
    try:
        _declare(spark, session, query, work / "in")

        def keep(changes: pa.Table, _batch: int) -> None:
            run.tables.append(changes)
            run.cpu_at_batch.append(sum(cpu_seconds().values()))

        with warnings.catch_warnings():
            # That a window without an end grows is what the published text asks for.
            warnings.simplefilter("ignore")
            live = session.query(query.wql(is_windowed=is_windowed), name="q")
        run.runs_in = _where(live.explain())
        began = sum(cpu_seconds().values())
        live.start(windrow.sinks.foreach(keep, feed="changes"), trigger="available")
        live.await_end()
        run.cpu_s = sum(cpu_seconds().values()) - began
        files = len(run.cpu_at_batch)
        session.finish()
        del run.cpu_at_batch[files:]  # what comes at the end of the streams is compared only
    finally:
        session.stop()
    return run


def _declare(spark: SparkSession, session: SparkWindrowSession, query: Query, folder: Path) -> None:
    for name in query.streams:
        session.stream(name, read_stream(spark, folder, name), time="dateTime")
    session.function("count_char", count_char, returns="bigint")
    if query.has_side_table:
        session.table("side_input", spark.createDataFrame(SIDE_TABLE), key="key")
    if query.view is not None:
        session.view(*query.view)


def _where(explained: str) -> str:
    """In a word: in how many stages and buckets it runs."""
    stages = explained.count("  stage ")
    if stages:
        return f"{stages} stages"
    return "one bucket" if "in one bucket" in explained else "all buckets"


def windrow_is_right(
    query: Query, tables: Mapping[str, pa.Table], run: SparkRun, *, is_windowed: bool
) -> bool:
    """Whether the sum of its changes is DuckDB's answer at each of some instants."""
    told = pa.concat_tables(run.tables)
    times = told["at"].cast(pa.int64())
    names = [name for name in told.column_names if name not in ("at", "change")]
    span_us = last_us(tables) - BEGIN_US
    anew = Recomputation()
    had_rows = False
    for number in range(1, INSTANTS + 1):
        at_us = BEGIN_US + span_us * number // INSTANTS
        expected = as_counts(anew.answer(query, tables, at_us, is_windowed=is_windowed))
        held = _summed(told.filter(pc.less_equal(times, at_us)), names)
        if held != expected:
            return False
        had_rows = had_rows or bool(expected)
    return had_rows


def _summed(changes: pa.Table, names: list[str]) -> Counter[tuple[Any, ...]]:
    held: Counter[tuple[Any, ...]] = Counter()
    for sign in (1, -1):
        rows = changes.filter(pc.equal(changes["change"], sign)).select(names)
        for row, count in as_counts(rows).items():
            held[row] += sign * count
    return Counter({row: count for row, count in held.items() if count})
