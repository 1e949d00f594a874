"""Follows the batches of a session's queries through Spark's own events: ends and failures too."""

from __future__ import annotations

import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    JStreamingQueryListener,
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

from windrow.event_time import instant_of
from windrow.metrics import Histogram, Sample

__all__ = ["BATCHES_KEPT", "BATCH_SCHEMA", "BatchListener"]

# The latest batches, of all queries together; older ones are only counted.
BATCHES_KEPT = 500

BATCH_SCHEMA = pa.schema(
    [
        ("query", pa.string()),  # or those that share an operator, separated by commas
        ("id", pa.int64()),
        ("at", pa.timestamp("us", tz="UTC")),  # when it began
        ("rows", pa.int64()),
        ("ms", pa.int64()),  # all of it
        ("state_bytes", pa.int64()),  # of Spark's state store, in memory
    ]
)

BATCH_BOUNDS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
WHOLE = "triggerExecution"


@dataclass
class _Running:
    """A run of Spark's, and whom it works for."""

    operator: str
    run: str
    names: tuple[str, ...]


class BatchListener(StreamingQueryListener):
    """Counts what Spark reports about queries; events arrive in a thread of Spark, a little later.

    names_of: the queries and histories that an operator of this name, in a run of that name, works
    for; none where it is no operator of the session's.
    rows_read: how many rows a batch of a query has read, where that is known better than by Spark.
    """

    def __init__(
        self,
        names_of: Callable[[str, str], Sequence[str]],
        rows_read: Callable[[str, int], int | None],
    ) -> None:
        self._names_of, self._rows_read = names_of, rows_read
        self._changed = threading.Condition()
        self._running: dict[str, _Running] = {}  # by run id
        self._starts: Counter[str] = Counter()
        self._ends: Counter[tuple[str, str]] = Counter()
        self._rows: Counter[str] = Counter()
        self._seconds: dict[str, Histogram] = {}
        self._parts: dict[tuple[str, str], float] = {}
        self._batches: deque[dict[str, Any]] = deque(maxlen=BATCHES_KEPT)
        self._bridge: Any = None

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """A query of some session has started."""
        kind, operator, run = _parts_of(event.name)
        names = self._names_of(operator, run) if kind == "windrow" else ()
        if names:
            with self._changed:
                self._running[str(event.runId)] = _Running(operator, run, tuple(names))
                self._starts.update(names)
                self._changed.notify_all()

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """A batch is over."""
        progress = event.progress
        with self._changed:
            running = self._running.get(str(progress.runId))
            if running is not None:
                known = self._rows_read(running.operator, int(progress.batchId))
                rows = int(progress.numInputRows) if known is None else known
                names = self._names_now(running)
                if "addBatch" in progress.durationMs:
                    self._batches.append(_batch(", ".join(names), progress, rows))
                for name in names:
                    self._take(name, dict(progress.durationMs), rows)
                self._changed.notify_all()

    def _names_now(self, running: _Running) -> tuple[str, ...]:
        """Queries come and go while their operator runs; when all have gone, the last ones."""
        names = tuple(self._names_of(running.operator, running.run))
        running.names = names or running.names
        return running.names

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """There was nothing to do."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """A query has ended."""
        with self._changed:
            running = self._running.pop(str(event.runId), None)
            if running is not None:
                how = "failed" if event.exception else "stopped"
                self._ends.update((name, how) for name in running.names)
                self._changed.notify_all()

    def _take(self, name: str, durations_ms: dict[str, int], rows: int) -> None:
        whole = durations_ms.pop(WHOLE, None)
        if whole is not None and "addBatch" in durations_ms:  # else there was no batch
            histogram = self._seconds.setdefault(name, Histogram(BATCH_BOUNDS_S))
            histogram.add(whole / 1_000)
        self._rows[name] += rows
        for part, took_ms in durations_ms.items():
            self._parts[name, part] = self._parts.get((name, part), 0.0) + took_ms / 1_000

    def samples(self) -> list[Sample]:
        """The counts so far."""
        with self._changed:
            return [
                *(Sample("windrow_query_starts_total", n, (q,)) for q, n in self._starts.items()),
                *(Sample("windrow_query_ends_total", n, each) for each, n in self._ends.items()),
                *(
                    Sample("windrow_batch_seconds", each.copy(), (query,))
                    for query, each in self._seconds.items()
                ),
                *(
                    Sample("windrow_batch_part_seconds_total", took_s, each)
                    for each, took_s in self._parts.items()
                ),
                *(Sample("windrow_batch_rows_total", n, (q,)) for q, n in self._rows.items()),
            ]

    def batches(self) -> pa.Table:
        """The latest batches, in the order in which they ended."""
        with self._changed:
            return pa.Table.from_pylist(list(self._batches), schema=BATCH_SCHEMA)

    def wait_for(self, is_so: Callable[[list[Sample]], bool], timeout: float) -> bool:
        """Waits until the samples match, for at most this many seconds; Spark reports late."""
        with self._changed:
            return self._changed.wait_for(lambda: is_so(self.samples()), timeout)

    @property
    def _jlistener(self) -> Any:
        """What Spark calls; it is requested when the listener is added and when it is removed."""
        if self._bridge is None:
            assert SparkContext._jvm is not None
            self._bridge = SparkContext._jvm.PythonStreamingQueryListenerWrapper(_Bridge(self))
        return self._bridge

    def attach(self, spark: SparkSession) -> None:
        """Spark reports events from now on."""
        spark.streams.addListener(self)

    def detach(self, spark: SparkSession) -> None:
        """Spark reports no more."""
        spark.streams.removeListener(self)


def _batch(name: str, progress: Any, rows: int) -> dict[str, Any]:
    return {
        "query": name,
        "id": int(progress.batchId),
        "at": instant_of(str(progress.timestamp)),
        "rows": rows,
        "ms": int(progress.durationMs.get(WHOLE, 0)),
        "state_bytes": sum(int(each.memoryUsedBytes) for each in progress.stateOperators),
    }


class _Bridge(JStreamingQueryListener):
    """Brings the report of a batch over as one text.

    PySpark's own asks the JVM for each of some two hundred figures, and py4j looks through the
    whole class path for some of them: a third of what the JVM spent on a small batch.
    """

    def onQueryProgress(self, jevent: Any) -> None:  # noqa: N802 - Spark's name
        report = json.loads(jevent.progress().json())
        self.pylistener.onQueryProgress(
            QueryProgressEvent(progress=StreamingQueryProgress.fromJson(report))
        )


def _parts_of(name: Any) -> tuple[str, str, str]:
    """The parts of what Spark calls a query of ours: 'windrow <name> <run>'."""
    words = str(name or "").split(" ")
    return (words[0], words[1], words[2]) if len(words) == 3 else ("", "", "")
