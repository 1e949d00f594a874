"""The metrics of a session on Spark: read from its queries and from Spark's events, and served."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping

from pyspark.sql import SparkSession

from windrow.metrics import exposition
from windrow.metrics_server import MetricsServer
from windrow.spark.monitoring.batch_listener import BatchListener
from windrow.spark.monitoring.metrics import MeasuredQuery, session_samples

__all__ = ["SessionMetrics"]


class SessionMetrics:
    """Follows the queries of one session; `queries` are those that it has at any time."""

    def __init__(
        self, spark: SparkSession, queries: Mapping[str, MeasuredQuery], budget: int, mark: str
    ) -> None:
        self._spark, self._queries, self._budget = spark, queries, budget
        self._mark = mark  # how the names of its runs begin
        self._servers: list[MetricsServer] = []
        self._is_following = False
        self.listener = BatchListener(self._is_mine, self._rows_read)

    def _is_mine(self, name: str, run: str) -> bool:
        is_known = name in self._queries or name.startswith("bundle-")
        return is_known and run.startswith(self._mark)

    def _rows_read(self, name: str, batch_id: int) -> int | None:
        query = self._queries.get(name)
        return None if query is None else query.rows_read(batch_id)

    def follow(self) -> None:
        """Spark reports batches from now on."""
        if not self._is_following:
            self.listener.attach(self._spark)
            self._is_following = True

    def text(self) -> str:
        """How the session stands, as Prometheus reads it."""
        queries = list(self._queries.values())
        samples = session_samples(queries, self._budget, time.time())
        return exposition([*samples, *self.listener.samples()])

    def serve(self, host: str, port: int) -> MetricsServer:
        """Answers GET /metrics."""
        self._servers.append(MetricsServer(self.text, host, port))
        return self._servers[-1]

    def close(self) -> None:
        """Nothing is followed or served any more."""
        while self._servers:
            self._servers.pop().close()
        if self._is_following:
            self._is_following = False
            # Where Spark has been stopped there is nothing to detach from, and any error may come.
            with contextlib.suppress(Exception):
                self.listener.detach(self._spark)
