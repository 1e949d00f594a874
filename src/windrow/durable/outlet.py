"""Where a query of a durable session drains to: what was read is noted once the sink has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.connectors.contract import Writer
from windrow.connectors.process_run import ProcessRun
from windrow.embedded.outlet import Outlet, Running
from windrow.jobs.job import JobQuery

if TYPE_CHECKING:
    from windrow.durable.session import DurableSession
    from windrow.embedded.alert_run import AlertRun

__all__ = ["DurableOutlet"]


class DurableOutlet(Outlet):
    """The same batch comes again, under the same number, where a run ends before it is noted.

    After a failure it takes nothing more: the session, opened again, goes on where it was.
    """

    def __init__(
        self,
        session: DurableSession,
        query: JobQuery,
        running: Running,
        answered: Callable[[str, pa.Table], None],
        alert: AlertRun | None = None,
    ) -> None:
        self._session = session
        self._failure: Exception | None = None
        super().__init__(query, running, answered, alert)
        self._batches = session.job_progress.written.get(query.name, 0)

    def _opened(self) -> Writer:
        name, written = self.query.name, self._session.job_progress.written
        made = super()._opened()
        self._session.note_written(name, written.get(name, 0))
        return made

    def _run(self) -> ProcessRun:
        written = self._session.job_progress.written.get(self.query.name)
        return replace(super()._run(), batches=written, state=self._session.state_name())

    def _give(self, writer: Writer) -> None:
        # A sink that knows its batches must not be further than what a crash leaves of the log.
        self._session.sync()
        super()._give(writer)

    def drain(self) -> None:
        """Hands on what is new."""
        if self._failure is not None:
            raise self._failure
        try:
            with self._session.reading_later():
                super().drain()
                self._session.note_written(self.query.name, self._batches)
        except Exception as problem:
            self._failure = problem
            raise
