"""What a session on Spark tells of itself: streams, windows, queries, rows and batches."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from windrow.errors import BindingError
from windrow.governor.window_table import query_table, window_table
from windrow.plan.catalog import Catalog
from windrow.runtime.ledger import LEDGER_COUNTS
from windrow.runtime.stream_table import StreamRow, stream_table
from windrow.spark.driver.governed_windows import query_rows_of, window_rows_of
from windrow.spark.driver.governing import Governing
from windrow.spark.driver.history_query import SparkHistoryQuery
from windrow.spark.driver.history_registry import HistoryRegistry
from windrow.spark.driver.query import SparkQuery
from windrow.spark.monitoring.history_progress import history_progress
from windrow.spark.monitoring.session_metrics import SessionMetrics

__all__ = ["SparkSessionReports"]

_LEDGER_SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        *((name, pa.int64()) for name in LEDGER_COUNTS),
        ("query", pa.string()),
    ]
)


class SparkSessionReports:
    """The calls of a session on Spark that only read: each gives a table."""

    _catalog: Catalog
    _sources: dict[str, DataFrame]
    _queries: dict[str, SparkQuery]
    _questions: dict[str, SparkHistoryQuery]
    _governing: Governing
    _histories: HistoryRegistry
    _metrics: SessionMetrics

    def streams(self) -> pa.Table:
        """One row per stream: its columns, its time, and through when all its readers have it.

        Example::

            session.streams()["stream"].to_pylist()
        """
        rows = []
        for name in self._sources:
            known = [each.status.complete_us.get(name) for each in self._reading(name)]
            through_us = min((each for each in known if each is not None), default=None)
            rows.append(StreamRow(self._catalog.stream(name), through_us, None))
        return stream_table(rows)

    def windows(self) -> pa.Table:
        """One row for each window of each query, as of its last batch.

        Example::

            session.windows().select(["stream", "rows", "bytes"]).to_pylist()
        """
        return window_table(window_rows_of(self._queries.values()))

    def queries(self) -> pa.Table:
        """One row for each window of each query: what it asks, and how it is served.

        Example::

            session.queries().select(["query", "level"]).to_pylist()
        """
        return query_table(query_rows_of(self._queries.values()))

    def decisions(self) -> pa.Table:
        """What the governor has decided lately: when, why, and the widths before and after.

        Example::

            session.decisions().select(["at", "why", "width_after"]).to_pylist()
        """
        return self._governing.decisions()

    def late(self, stream: str, query: str | None = None) -> pa.Table:
        """Late rows of the stream that were kept, as one query saw them: by default the first.

        Example::

            session.late("temp", query="count").num_rows
        """
        reader = self._reader(stream, query)
        return reader.late(self._catalog.stream(stream).name)

    def bad_rows(self, stream: str, query: str | None = None) -> pa.Table:
        """Rows that one query set aside because of a value, as text; some of them are kept.

        Example::

            session.bad_rows("temp").select(["why", "column", "row"]).to_pylist()
        """
        reader = self._reader(stream, query)
        return reader.bad_rows(self._catalog.stream(stream).name)

    def _reader(self, stream: str, query: str | None) -> SparkQuery:
        """The query of that name, or the first, among those that read the stream."""
        name = self._catalog.stream(stream).name
        readers = [each for each in self._reading(name) if query in (None, each.name)]
        if not readers:
            message = f"no query {query or ''} reads stream {name!r}"
            raise BindingError("WB421", message, hint="register one, or name another")
        return readers[0]

    def ledger(self) -> pa.Table:
        """Per stream and query, or history, where its rows went: counts that add up to rows_in.

        Example::

            session.ledger().select(["stream", "query", "rows_in", "late"]).to_pylist()
        """
        rows: list[dict[str, Any]] = [
            {"stream": stream, "query": query.name, **asdict(ledger)}
            for query in self._queries.values()
            for stream, ledger in query.status.ledgers.items()
        ]
        rows += [
            {"stream": stream, "query": query.name, **asdict(ledger)}
            for query in self._questions.values()
            for stream, ledger in query.ledgers.items()
        ]
        rows += [
            {"stream": stream, "query": f"HISTORY({stream})", **asdict(ledger)}
            for stream, ledger in self._histories.ledgers().items()
        ]
        return pa.Table.from_pylist(rows, schema=_LEDGER_SCHEMA)

    def histories(self) -> pa.Table:
        """One row per history as of its last batch: what it keeps, what it knows, and its bytes.

        Example::

            session.histories().select(["stream", "rows", "bytes"]).to_pylist()
        """
        return self._histories.table()

    def progress(self) -> dict[str, dict[str, Any]]:
        """How queries and histories stand after their last batches, each by its name.

        Example::

            session.progress()["queries"]["alarms"]["latency"]["batch_ms"]
        """
        return {
            "queries": {
                **{name: each.progress() for name, each in self._queries.items()},
                **{name: each.progress() for name, each in self._questions.items()},
            },
            "histories": {
                name: history_progress(name, run.is_running, run, run.latest)
                for name, run in self._histories.runs.items()
            },
        }

    def batches(self) -> pa.Table:
        """Spark's latest batches, of all queries: when each began, its rows, its time.

        Example::

            session.batches().to_pylist()[-1]
        """
        return self._metrics.listener.batches()

    def _reading(self, stream: str) -> list[SparkQuery]:
        return [query for query in self._queries.values() if stream in query.plan.streams]
