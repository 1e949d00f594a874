"""A small program that uses all a user calls: `make check` reads it as mypy --strict does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, assert_type

import windrow
from windrow.embedded import EmbeddedHistoryQuery, EmbeddedQuery, EmbeddedSession

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    from pyspark.sql import SparkSession

    from windrow.spark.driver.history_query import SparkHistoryQuery
    from windrow.spark.driver.query import SparkQuery
    from windrow.spark.driver.session import SparkWindrowSession


def in_this_process() -> None:
    session = windrow.connect(memory="64 MB")
    assert_type(session, EmbeddedSession)
    session.stream("temp", {"ts": "timestamp", "celsius": "double"}, time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM temp [10 MINUTES]", name="count")
    assert_type(query, EmbeddedQuery | EmbeddedHistoryQuery)
    session.push("temp", {"ts": "2026-01-01", "celsius": 20.5})
    session.push("temp", [{"ts": "2026-01-01", "celsius": 20.5}])
    session.push("temp", {"ts": ["2026-01-01"], "celsius": [20.5]})
    session.advance("temp", to="2026-01-02")
    assert_type(query.result(to="polars"), pl.DataFrame)
    assert_type(query.answers(to="duckdb"), duckdb.DuckDBPyRelation)
    assert_type(query.changes(10, to="polars"), pl.DataFrame)
    session.push("temp", query.result(to="polars"))
    session.push("temp", query.result(to="polars").lazy())
    session.push("temp", query.result(to="duckdb"))
    assert_type(session.ask("SELECT 1", progressive=True), Iterator[Any])
    assert_type(session.ask("SELECT 1", to="polars"), pl.DataFrame)
    assert_type(query.explain(), str)
    drawn = query.chart("n", points=100, refresh=None)
    assert_type(drawn.is_live, bool)
    windrow.notebook.show(session.windows(), rows=5)
    finish(session)
    read(query)


def on_spark(spark: SparkSession) -> None:
    session = windrow.connect(spark, checkpoint="checkpoint", buckets=8)
    assert_type(session, SparkWindrowSession)
    query = session.query("SELECT COUNT(*) AS n FROM temp [10 MINUTES]")
    assert_type(
        query.start(windrow.sinks.parquet("answers"), trigger="1 second"),
        SparkQuery | SparkHistoryQuery,
    )
    assert_type(query.result(to="polars"), pl.DataFrame)
    finish(session)
    read(query)


def finish(session: windrow.Session) -> None:
    session.finish()
    session.stop()


def read(query: windrow.Query) -> int:
    assert_type(query.is_running, bool)
    return query.answers(to="polars").height
