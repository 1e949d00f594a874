"""Alerts of a durable session, and where its queries drain to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from windrow.durable.errors import declared_otherwise
from windrow.durable.journal import Journal
from windrow.durable.outlet import DurableOutlet
from windrow.embedded.alert_run import AlertRun
from windrow.jobs.job import JobQuery

if TYPE_CHECKING:
    from windrow.alerts.bound_alert import BoundAlert
    from windrow.durable.session import DurableSession
    from windrow.embedded.outlet import Outlet, Running
    from windrow.embedded.query import EmbeddedQuery

__all__ = ["NotedAlerts"]


class NotedAlerts:
    """The calls of a durable session that have to do with sinks and alerts."""

    journal: Journal
    alert_runs: dict[str, AlertRun]

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
