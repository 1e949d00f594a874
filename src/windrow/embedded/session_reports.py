"""What a session in this process tells of itself: streams, windows, queries, rows and counts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.embedded.governing import Governing
from windrow.embedded.held_tables import rows_of_tables, rows_of_views
from windrow.embedded.ingest import Ingest
from windrow.embedded.metrics import alert_samples, session_samples, source_samples
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.query import EmbeddedQuery
from windrow.governor.window_table import query_table, window_table
from windrow.metrics import exposition
from windrow.rows.bad_rows import BadRows
from windrow.runtime.ledger import ledger_table
from windrow.runtime.stream_table import StreamRow, stream_table

if TYPE_CHECKING:
    from windrow.embedded.alert_run import AlertRun
    from windrow.embedded.feeding import Feeding
    from windrow.embedded.history_registry import Histories
    from windrow.embedded.session_views import SessionViews

__all__ = ["SessionReports"]


class SessionReports:
    """The calls of an EmbeddedSession that only read: each gives a table, or a text."""

    _lock: threading.RLock
    _ingest: Ingest
    _governing: Governing
    _histories: Histories
    _flush: Callable[[], None]
    alert_runs: dict[str, AlertRun]
    _running: Callable[[], list[EmbeddedQuery]]
    _feeding: Feeding | None
    _views: SessionViews

    @one_at_a_time
    def streams(self) -> pa.Table:
        """One row per stream: its columns, its time, how late rows may come, what is complete."""
        self._flush()
        return stream_table(
            StreamRow(stream.schema, stream.completeness.through, stream.rate)
            for stream in self._ingest.streams.values()
        )

    @one_at_a_time
    def windows(self) -> pa.Table:
        """One row per window: rows that one query reads, or several share; then tables and views.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> count = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]", name="count")
        >>> session.windows().select(["stream", "queries", "rows"]).to_pylist()
        [{'stream': 's', 'queries': ['count'], 'rows': 0}]
        """
        self._flush()
        rows, running = self._governing.window_rows(), self._running()
        rows += rows_of_tables(self._ingest.tables.stores.values(), running)
        return window_table([*rows, *rows_of_views(self._views.runs(), running)])

    @one_at_a_time
    def queries(self) -> pa.Table:
        """One row per window that each running query reads: what it asks, how it is served.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> count = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]", name="count")
        >>> session.queries().select(["query", "alias", "level"]).to_pylist()
        [{'query': 'count', 'alias': 's', 'level': 'A'}]
        """
        self._flush()
        return query_table(self._governing.query_rows())

    @one_at_a_time
    def decisions(self) -> pa.Table:
        """What the governor has decided lately: when, why, and the widths before and after.

        >>> import windrow
        >>> windrow.connect(memory="1 MB").decisions().column_names[:4]
        ['at', 'why', 'case', 'solver']
        """
        self._flush()
        return self._governing.decisions()

    @one_at_a_time
    def late(self, stream: str) -> pa.Table:
        """Rows that came after the watermark; the newest of them are kept.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> session.push("s", {"ts": "2026-01-02", "x": 1})
        >>> session.push("s", {"ts": "2026-01-01", "x": 2})
        >>> session.late("s")["x"].to_pylist()
        [2]
        """
        self._flush()
        return self._ingest.stream(stream).late_rows()

    @one_at_a_time
    def bad_rows(self, stream: str) -> pa.Table:
        """Rows that were set aside because of a value or a time; the newest are kept, as text.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts", on_bad_row="set aside")
        >>> session.push("s", {"ts": ["2026-01-01", "2026-01-02"], "x": [1, "two"]})
        >>> session.bad_rows("s").select(["column", "line"]).to_pylist()
        [{'column': 'x', 'line': 2}]
        """
        self._flush()
        if self._ingest.tables.get(stream) is not None:
            return BadRows().table()  # what a table cannot hold is refused
        return self._ingest.stream(stream).bad_rows()

    @one_at_a_time
    def ledger(self) -> pa.Table:
        """Per stream what became of its rows: applied, late, bad, rejected or waiting.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> session.push("s", {"ts": "2026-01-02", "x": 1})
        >>> session.push("s", {"ts": "2026-01-01", "x": 2})
        >>> session.ledger().select(["stream", "rows_in", "late"]).to_pylist()
        [{'stream': 's', 'rows_in': 2, 'late': 1}]
        """
        self._flush()
        return ledger_table(self._ingest.ledgers())

    @one_at_a_time
    def metrics(self) -> str:
        """How the session stands, as Prometheus reads it.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> "# TYPE windrow_rows_in_total counter" in session.metrics()
        True
        """
        ingest = self._ingest
        parts = (self._running(), self._governing, self._governing.memory_budget, time.time())
        tables = ingest.tables.stores.values()
        samples = session_samples(ingest.streams, ingest.clock, *parts, tables)
        samples += [*source_samples(self._feeding), *alert_samples([*self.alert_runs.values()])]
        return exposition(samples)

    @one_at_a_time
    def histories(self) -> pa.Table:
        """One row per history: what it keeps, since when, and its bytes.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> session.history("s", measures=["x"], levels=[("1 second", "forever")])
        >>> session.histories().select(["stream", "measures", "rows"]).to_pylist()
        [{'stream': 's', 'measures': ['x'], 'rows': 0}]
        """
        self._flush()
        return self._histories.table()
