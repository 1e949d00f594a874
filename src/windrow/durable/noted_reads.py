"""What sinks have of a durable session: noted once it is written, with what was read for it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from windrow.durable.errors import declared_otherwise
from windrow.durable.journal import Journal
from windrow.durable.outlet import DurableOutlet
from windrow.embedded.alert_run import AlertRun
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.jobs.job import JobQuery

if TYPE_CHECKING:
    from windrow.alerts.bound_alert import BoundAlert
    from windrow.durable.ingest import DurableIngest
    from windrow.durable.progress import Progress
    from windrow.durable.session import DurableSession
    from windrow.embedded.outlet import Outlet, Running
    from windrow.embedded.query import EmbeddedQuery

__all__ = ["NotedReads"]


class NotedReads:
    """The calls of a durable session that have to do with its sinks."""

    journal: Journal
    _ingest: DurableIngest
    _lock: threading.RLock
    alert_runs: dict[str, AlertRun]
    _reads: list[tuple[str, int | None]] | None  # not written yet

    @property
    def job_progress(self) -> Progress:
        """How far a job has come."""
        raise NotImplementedError

    def outlet_of(
        self,
        query: JobQuery,
        running: Running,
        answered: Callable[[str, pa.Table], None],
        alert: AlertRun | None = None,
    ) -> Outlet:
        """Where a query drains to."""
        return DurableOutlet(cast("DurableSession", self), query, running, answered, alert)

    def _alert_run(self, bound: BoundAlert, running: EmbeddedQuery) -> AlertRun:
        known = self.alert_runs.get(bound.name)
        if known is None or known.query is not running:
            self.journal.note("alert", name=bound.name, key=list(bound.key), for_us=bound.for_us)
            return self.begin_alert(bound, running)
        if (known.bound.key, known.bound.for_us) != (bound.key, bound.for_us):
            raise declared_otherwise("alert", bound.name)
        return known

    def begin_alert(self, bound: BoundAlert, running: EmbeddedQuery) -> AlertRun:
        """Begin the states of an alert, now or in a replay."""
        self.alert_runs[bound.name] = AlertRun(bound, running)
        return self.alert_runs[bound.name]

    @one_at_a_time
    def state_name(self) -> str:
        """By which sinks know this state: it is on the disk before the first of them does."""
        if not self.job_progress.state_name:
            name = uuid.uuid4().hex
            self.journal.note("state name", name=name)
            self.job_progress.state_name = name
            self.journal.sync()
        return self.job_progress.state_name

    @contextmanager
    def reading_later(self) -> Iterator[None]:
        """What is read within is noted as read when note_written() says that it was written."""
        self._reads = []
        try:
            yield
        finally:
            self._reads = None

    def note_written(self, query: str, batches: int) -> None:
        """The sink of a query has so many batches, and what was read meanwhile."""
        reads = self._reads or []
        if reads or self.job_progress.written.get(query) != batches:
            self.journal.note("written", query=query, batches=batches, reads=reads)
            self.job_progress.written[query] = batches
        if self._reads is not None:
            self._reads = []

    def note_read(self, query: str, what: str, limit: int | None) -> None:
        """Answers or changes of a query were read."""
        if self._reads is None:
            self.journal.note("read", query=query, what=what, limit=limit)
        else:
            self._reads.append((what, limit))
