"""Posts batches: at once where a state is kept, else from a queue, so that rows need not wait."""

from __future__ import annotations

import queue
import threading
import uuid
from collections.abc import Mapping

import pyarrow as pa

from windrow.connectors.contract import SinkCheckpoint, Writer
from windrow.connectors.process_run import NO_STATE
from windrow.connectors.webhook.connector import Webhook
from windrow.connectors.webhook.messages import bodies_of
from windrow.connectors.webhook.posting import Poster

__all__ = ["QUEUE_BATCHES_LIMIT", "WebhookWriter"]

# So many requests may wait; whoever gives one more waits until one was taken.
QUEUE_BATCHES_LIMIT = 100

_Request = tuple[bytes, str, str]


class WebhookWriter(Writer):
    """The requests of one query. What is not taken in the end is an error of the next batch.

    The key of a request is that of its batch, whichever run posts it.
    """

    def __init__(self, sink: Webhook, checkpoint: SinkCheckpoint) -> None:
        self._sink, self._query = sink, checkpoint.query
        self.feeds: tuple[str, ...] = (sink.feed,)
        state = checkpoint.identity()
        self._state = uuid.uuid4().hex if state == NO_STATE else state
        self._poster = Poster(sink)
        self._queue = None if checkpoint.is_lasting else _Queue(self._poster)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Posts the batch, or puts it into the queue."""
        for part, body in enumerate(
            bodies_of(self._sink.form, self._query, batch_id, tables[self._sink.feed])
        ):
            key = f"{self._state}-{self._query}-{batch_id}-{part}"
            request = (body, key, f"batch {batch_id} of query {self._query!r}")
            if self._queue is None:
                self._poster.post(*request)
            else:
                self._queue.put(request)

    def close(self) -> None:
        """Waits until all is posted."""
        if self._queue is not None:
            self._queue.finish()


class _Queue:
    """A thread that posts what is put, in order; its first failure is raised to whoever puts."""

    def __init__(self, poster: Poster) -> None:
        self._poster = poster
        self._waiting: queue.Queue[_Request | None] = queue.Queue(QUEUE_BATCHES_LIMIT)
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    def put(self, request: _Request) -> None:
        """Waits for room."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="windrow-webhook", daemon=True)
            self._thread.start()
        self._raise_failure()
        self._waiting.put(request)

    def finish(self) -> None:
        """Waits for the last one."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._waiting.put(None)
            try:
                thread.join()
            except BaseException:
                self._poster.stopping.set()  # whoever interrupts does not want to wait
                raise
        self._raise_failure()

    def _run(self) -> None:
        while (request := self._waiting.get()) is not None:
            if self._failure is not None:
                continue  # so that nobody waits for room for ever
            try:
                self._poster.post(*request)
            except BaseException as problem:
                self._failure = problem

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
