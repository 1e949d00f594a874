"""NEXMark's queries as Spark's own SQL says them, by Structured Streaming where it can.

Streaming cannot: two aggregates of which one is without a window of time, COUNT(DISTINCT),
functions OVER. There the whole answer is computed anew after each batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pipeline_paths import cpu_seconds
from pyspark.sql import DataFrame, SparkSession

from nexmark.anew import Recomputation, as_counts
from nexmark.events import BEGIN_US, SCHEMAS
from nexmark.live import count_char, last_us
from nexmark.queries import QUERIES
from nexmark.query import Query
from nexmark.side_table import SIDE_TABLE
from nexmark.spark_files import SparkRun, read_stream
from windrow.spark.settings import query_settings

__all__ = ["SPARK_QUERIES", "OwnQuery", "own_is_right", "own_run"]

SECOND_US = 1_000_000


@dataclass(frozen=True)
class OwnQuery:
    """One query for Spark.

    kind: how it runs. keys: of an answer that is updated, how many columns say which row is
    replaced. closes_us: where rows come when a window closes, how often one does. is_compared:
    whether its rows are those that Windrow's changes add up to.
    """

    text: str
    kind: Literal["append", "update", "anew"] = "append"
    keys: int = 0
    closes_us: int = 0
    is_compared: bool = True


def own_run(spark: SparkSession, query: Query, own: OwnQuery, work: Path, buckets: int) -> SparkRun:
    """All that Spark gives over the files of the folder, and what it took."""
    run = SparkRun()
    spark.udf.register("count_char", count_char, "bigint")
    if query.has_side_table:
        spark.createDataFrame(SIDE_TABLE).createOrReplaceTempView("side_input")
    settings = query_settings(buckets, str(work))
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        began = sum(cpu_seconds().values())
        _recomputed(spark, query, own, work, run) if own.kind == "anew" else _streamed(
            spark, query, own, work, run
        )
        run.cpu_s = sum(cpu_seconds().values()) - began
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)
    return run


def _streamed(spark: SparkSession, query: Query, own: OwnQuery, work: Path, run: SparkRun) -> None:
    def keep(frame: DataFrame, _batch: int) -> None:
        run.tables.append(frame.toArrow())
        run.cpu_at_batch.append(sum(cpu_seconds().values()))

    for name in query.streams:
        frame = read_stream(spark, work / "in", name)
        if own.closes_us:
            frame = frame.withWatermark("dateTime", "0 seconds")
        frame.createOrReplaceTempView(name)
    writer = spark.sql(own.text).writeStream.outputMode(own.kind).foreachBatch(keep)
    writer = writer.option("checkpointLocation", str(work / "own-checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


def _recomputed(
    spark: SparkSession, query: Query, own: OwnQuery, work: Path, run: SparkRun
) -> None:
    """The answer over the first file, the first two, and so on."""
    files = {name: sorted((work / "in" / name).glob("*.parquet")) for name in query.streams}
    for count in range(1, len(files[query.streams[0]]) + 1):
        for name in query.streams:
            paths = [str(path) for path in files[name][:count]]
            frame = spark.read.schema(SCHEMAS[name]).parquet(*paths)
            frame.createOrReplaceTempView(name)
        run.tables.append(spark.sql(own.text).toArrow())
        run.cpu_at_batch.append(sum(cpu_seconds().values()))


def own_is_right(
    query: Query, own: OwnQuery, tables: Mapping[str, pa.Table], run: SparkRun
) -> bool | None:
    """Whether what it gave in the end is DuckDB's answer; of windows, those up to some end.

    A window is given when Spark's watermark has passed it, and at the end of the files the
    watermark is where the batch before the last has brought it.
    """
    if not own.is_compared:
        return None
    anew, last, given = Recomputation(), last_us(tables), _final(own, run)
    if not own.closes_us:
        return given == as_counts(anew.answer(query, tables, last, is_windowed=False))
    expected: Counter[tuple[Any, ...]] = Counter()
    for at_us in range(BEGIN_US + own.closes_us, last + 1, own.closes_us):
        expected += as_counts(anew.answer(query, tables, at_us, is_windowed=False))
        if expected and expected == given:
            return True
    return False


def _final(own: OwnQuery, run: SparkRun) -> Counter[tuple[Any, ...]]:
    if own.kind == "anew":
        return as_counts(run.tables[-1])
    if own.kind == "append":
        return sum((as_counts(table) for table in run.tables), Counter())
    newest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for table in run.tables:
        newest |= {row[: own.keys]: row for row in as_counts(table)}
    return Counter(newest.values())


def _published(name: str, kind: Literal["append", "update", "anew"] = "append") -> OwnQuery:
    """The text that Windrow runs, too."""
    query = QUERIES[name]
    text = (query.bounded or query.text).format(w="")
    for order, whole_order in query.ties:
        text = text.replace(order, whole_order)
    return OwnQuery(text, kind)


_HOPS = "window(dateTime, '10 seconds', '2 seconds')"
_TENS = "window(dateTime, '10 seconds')"

SPARK_QUERIES = {
    **{name: _published(name) for name in ("q0", "q1", "q2", "q3", "q10", "q14", "q20", "q21")},
    "q22": _published("q22"),
    **{name: _published(name, "anew") for name in ("q4", "q6", "q9", "q15", "q16", "q18", "q19")},
    "q5": OwnQuery(
        "SELECT A.auction, A.num FROM"
        f" (SELECT auction, {_HOPS} AS w, COUNT(*) AS num FROM bid GROUP BY auction, {_HOPS}) AS A"
        " JOIN (SELECT MAX(num) AS maxn, w FROM"
        f" (SELECT auction, {_HOPS} AS w, COUNT(*) AS num FROM bid GROUP BY auction, {_HOPS})"
        " GROUP BY w) AS M ON A.w = M.w AND A.num >= M.maxn",
        closes_us=2 * SECOND_US,
    ),
    "q7": OwnQuery(
        "SELECT B.auction, B.price, B.bidder, B.dateTime, B.extra FROM bid AS B"
        f" JOIN (SELECT MAX(price) AS maxprice, {_TENS} AS w FROM bid GROUP BY {_TENS}) AS M"
        " ON B.price = M.maxprice AND B.dateTime >= M.w.start AND B.dateTime <= M.w.end",
        closes_us=10 * SECOND_US,
    ),
    "q8": OwnQuery(
        "SELECT P.id, P.name, P.w.start AS starttime FROM"
        f" (SELECT id, name, {_TENS} AS w FROM person GROUP BY id, name, {_TENS}) AS P"
        f" JOIN (SELECT seller, {_TENS} AS w FROM auction GROUP BY seller, {_TENS}) AS A"
        " ON P.id = A.seller AND P.w = A.w",
        closes_us=10 * SECOND_US,
    ),
    "q11": OwnQuery(
        "SELECT bidder, COUNT(*) AS bid_count, session_window.start AS starttime,"
        " session_window.end AS endtime FROM bid"
        " GROUP BY bidder, session_window(dateTime, '10 seconds')",
        closes_us=10 * SECOND_US,
        is_compared=False,  # sessions that have closed, where Windrow's are those that are open
    ),
    "q12": OwnQuery(
        "SELECT bidder, COUNT(*) AS bid_count, window.start AS starttime, window.end AS endtime"
        f" FROM bid GROUP BY bidder, {_TENS}",
        closes_us=10 * SECOND_US,
    ),
    "q13": OwnQuery(
        "SELECT B.auction, B.bidder, B.price, B.dateTime, S.value"
        " FROM bid AS B JOIN side_input AS S ON B.auction % 10000 = S.key"
    ),
    "q17": OwnQuery(_published("q17").text, "update", keys=2),
}
