"""A session on Spark, as the console sees it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from windrow.apps.console.json_rows import plain_rows
from windrow.apps.console.runners import QueryHandle
from windrow.errors import WindrowError
from windrow.spark.driver.history_query import SparkHistoryQuery
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.monitoring.operation_rows import operation_rows
from windrow.windows.lifetime import Lifetime

__all__ = ["SparkRunner"]

SINK = "memory"
# In how many seconds a query that has ended must say what it failed with.
ENDED_S = 1.0
# Files that wait are counted in their folders.
OPERATIONS_S = 2.0


class SparkRunner:
    """Queries answer in threads of Spark's; the lock is between threads of the console.

    Starting a query takes seconds, and is done outside of it.
    """

    kind = "spark"

    def __init__(self, session: SparkWindrowSession, trigger: str | None = None) -> None:
        self.session, self._trigger = session, trigger
        self.lock = threading.RLock()
        self._operations: list[dict[str, Any]] = []
        self._looked_at = -OPERATIONS_S

    def add(self, text: str, name: str | None, algorithm: str, store: str) -> QueryHandle:
        """Registers a query, and starts it in an operator that it may share."""
        with self.lock:
            query = self.session.query(text, name, algorithm, store)
        self.session.start({query.name: SINK}, self._trigger)
        return query

    def add_all(self, texts: Mapping[str, str]) -> list[QueryHandle]:
        """Registers queries, and starts them in as few operators as can be."""
        with self.lock:
            queries = [self.session.query(text, name) for name, text in texts.items()]
        if len(queries) == 1:
            return [queries[0].start(SINK, self._trigger)]
        self.session.start({query.name: SINK for query in queries}, self._trigger)
        return [*queries]

    def lifetime(self, query: QueryHandle, position: int) -> Lifetime | None:
        """How long rows of an input stay now."""
        if isinstance(query, SparkHistoryQuery):
            return None
        assert isinstance(query, SparkQuery)
        has_width = query.plan.inputs[position].window.traits.has_width
        return query.ordered_lifetime(position) if has_width else None

    def standing(self, query: QueryHandle) -> Mapping[str, Any]:
        """Its clock, bytes and algorithm after the last batch."""
        if isinstance(query, SparkHistoryQuery):
            held = query.status
            return {"clock_us": held.clock_us, "bytes": held.live_bytes, "algorithm": "history"}
        assert isinstance(query, SparkQuery)
        status = query.status
        return {
            "clock_us": status.clock_us,
            "bytes": status.window_bytes,
            "algorithm": " and ".join(status.algorithms) or query.plan.algorithm,
        }

    def failure(self, query: QueryHandle) -> Exception | None:
        """What a query that has ended failed with, if it did."""
        assert isinstance(query, (SparkQuery, SparkHistoryQuery))
        try:
            query.await_end(ENDED_S)
        except WindrowError as error:
            return error
        return None

    def batches(self) -> list[dict[str, Any]]:
        """The latest batches, of all queries."""
        table = self.session.batches()
        names = ["at_us" if name == "at" else name for name in table.column_names]
        return [dict(zip(names, row, strict=True)) for row in plain_rows(table)]

    def operations(self) -> list[dict[str, Any]]:
        """How queries and histories are getting on; looked at once in OPERATIONS_S."""
        if time.monotonic() - self._looked_at >= OPERATIONS_S:
            self._operations = operation_rows(self.session.progress())
            self._looked_at = time.monotonic()
        return self._operations

    def views(self) -> list[dict[str, Any]]:
        """None: there are no views on Spark."""
        return []

    @property
    def nbytes(self) -> int:
        """Bytes of all windows, after the last batches."""
        return sum(self.session.windows().column("bytes").to_pylist())
