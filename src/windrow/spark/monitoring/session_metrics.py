"""The metrics of a session on Spark: read from its queries and from Spark's events, and served."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pyspark.sql import SparkSession

from windrow.metrics import exposition
from windrow.metrics_server import MetricsServer
from windrow.spark.monitoring.batch_listener import BatchListener
from windrow.spark.monitoring.metrics import MeasuredQuery, MeasuredRun, session_samples

__all__ = ["SessionMetrics"]


class MeasuredHistory(MeasuredRun, Protocol):
    """What is asked of the run of a history."""

    @property
    def operator(self) -> str:
        """As Spark calls it."""


class SessionMetrics:
    """Follows the queries of one session; `queries` are those that it has at any time.

    members: the queries of an operator that several share, by its name. histories: by the names
    that people read, what keeps them.
    """

    def __init__(
        self,
        spark: SparkSession,
        queries: Mapping[str, MeasuredQuery],
        budget: int,
        mark: str,
        members: Callable[[str], Sequence[str]],
        histories: Callable[[], Mapping[str, MeasuredHistory]],
    ) -> None:
        self._spark, self._queries, self._budget = spark, queries, budget
        self._mark = mark  # how the names of its runs begin
        self._members, self._histories = members, histories
        self._servers: list[MetricsServer] = []
        self._is_following = False
        self.listener = BatchListener(self._names_of, self._rows_read)

    def _names_of(self, name: str, run: str) -> Sequence[str]:
        """What people call those that a run of Spark works for; none where it is another's."""
        if not run.startswith(self._mark):
            return ()
        if name in self._queries:
            return (name,)
        kept = [each for each, run in self._histories().items() if run.operator == name]
        return kept or self._members(name)

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
        samples = session_samples(queries, self._budget, time.time(), self._histories())
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
