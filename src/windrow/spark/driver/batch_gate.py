"""The gate in front of a query's batches: it lets a query stop between two of them.

Spark's own stop() interrupts the batch that is running, which is then run again after a restart. A
closed gate lets the batch in flight end and be committed, and holds the next one before anything of
it has run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["STOP_TIMEOUT_S", "BatchGate"]

# How long stop() waits for the batch in flight by default.
STOP_TIMEOUT_S = 60.0
POLL_S = 0.01
HELD_MS = 1_000
# What Spark says it does while it asks sources what is new, before there is a batch.
ASKING = "Getting offsets from"


class BatchGate:
    """Batches of one query go through it."""

    def __init__(self) -> None:
        self._closed = threading.Event()
        self._held = threading.Event()
        self._busy = threading.Event()

    def open(self) -> None:
        """The query is about to start."""
        self._closed.clear()
        self._held.clear()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Around the work of one batch; before it, the batch is held while the gate is closed."""
        if self._closed.is_set():
            self._hold()
        self._busy.set()
        try:
            yield
        finally:
            self._busy.clear()

    def _hold(self) -> None:
        """Waits in the thread of Spark's that runs the query, which stop() interrupts.

        What is raised then is what Spark takes for its own interruption: the query ends as stopped.
        """
        self._held.set()
        context = SparkContext._active_spark_context
        assert context is not None
        assert context._jvm is not None
        while self._closed.is_set():
            context._jvm.java.lang.Thread.sleep(HELD_MS)
        self._held.clear()

    def stop(self, stream: StreamingQuery, timeout: float = STOP_TIMEOUT_S) -> bool:
        """Stops the query once its batch in flight is committed; False: it took too long.

        timeout: in seconds; a batch that is not done by then is interrupted.
        """
        self._closed.set()
        deadline = time.monotonic() + timeout
        is_between = not stream.isActive
        while not is_between and time.monotonic() < deadline:
            is_between = self._is_between_batches(stream)
            if not is_between:
                time.sleep(POLL_S)
        stream.stop()
        return is_between

    def _is_between_batches(self, stream: StreamingQuery) -> bool:
        if self._held.is_set() or not stream.isActive:
            return True
        # A batch that begins after this question is held at the gate.
        if self._busy.is_set():
            return False
        status = stream.status
        # Sources that do not answer, such as a Kafka that is away, keep Spark asking for minutes.
        return not status["isTriggerActive"] or status["message"].startswith(ASKING)
