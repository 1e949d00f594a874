"""What a session in this process writes: queries into sinks, and alerts."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.deferred import deferred
from windrow.embedded.ingest import Ingest
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.errors import QuerySyntaxError
from windrow.plan.catalog import Catalog

if TYPE_CHECKING:
    from windrow.alerts.bound_alert import BoundAlert, bind_alert
    from windrow.alerts.machine import no_states
    from windrow.connectors.contract import Sink
    from windrow.embedded.alert import Alert, UnreadEvents
    from windrow.embedded.alert_run import AlertRun
    from windrow.embedded.outlet import Outlet, Running
    from windrow.embedded.query import EmbeddedQuery
    from windrow.embedded.sink_listener import SinkListener
    from windrow.jobs.alerts import alert_sink
    from windrow.jobs.job import JobQuery
    from windrow.sinks import sink_of
    from windrow.sql import parse_statement
else:
    Alert = deferred("windrow.embedded.alert", "Alert")
    AlertRun = deferred("windrow.embedded.alert_run", "AlertRun")
    JobQuery = deferred("windrow.jobs.job", "JobQuery")
    Outlet = deferred("windrow.embedded.outlet", "Outlet")
    SinkListener = deferred("windrow.embedded.sink_listener", "SinkListener")
    UnreadEvents = deferred("windrow.embedded.alert", "UnreadEvents")
    alert_sink = deferred("windrow.jobs.alerts", "alert_sink")
    bind_alert = deferred("windrow.alerts.bound_alert", "bind_alert")
    no_states = deferred("windrow.alerts.machine", "no_states")
    parse_statement = deferred("windrow.sql", "parse_statement")
    sink_of = deferred("windrow.sinks", "sink_of")

__all__ = ["SessionSinks"]


class SessionSinks:
    """The calls of a session that have to do with sinks and alerts."""

    _lock: threading.RLock
    _ingest: Ingest
    _catalog: Catalog
    _flush: Callable[[], None]
    query: Callable[..., Any]
    alert_runs: dict[str, AlertRun]  # by name
    _listeners: list[SinkListener]

    @abstractmethod
    def _knowing_functions(self) -> AbstractContextManager[None]: ...

    @one_at_a_time
    def create_alert(self, name: str, text: str, into: object = None) -> Alert:
        """Watch a condition: text is SELECT ... [WHEN condition] [FOR '5 minutes'].

        A group, one for each value of GROUP BY, is pending while the condition holds, raised when
        it has held for the time of FOR, by event time, and cleared when it holds no more: each
        once. into: a sink of windrow.sinks, which is given events as answers; without one events()
        has them. A push that brings an event returns when the sink has it.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("temp", "ts timestamp, c double", time="ts")
        >>> hot = "SELECT MAX(c) AS c FROM temp [1 MINUTE] WHEN c > 40 FOR '30 seconds'"
        >>> alert = session.create_alert("hot", hot)
        >>> for second in (0, 20, 40):
        ...     session.push("temp", {"ts": f"2026-01-01 00:00:{second:02}", "c": 41.0})
        >>> session.finish()
        >>> alert.events().select(["alert", "state", "c"]).to_pylist()
        [{'alert': 'hot', 'state': 'raised', 'c': 41.0}]
        """
        statement: Any = parse_statement(f"CREATE ALERT `{name.replace('`', '``')}` AS {text}")
        if statement.sink is not None:
            raise QuerySyntaxError(
                "WS830",
                "INTO is of scripts",
                hint="give the sink as into=, such as windrow.sinks.slack(url)",
            )
        with self._knowing_functions():
            bound = bind_alert(statement, self._catalog)
        unread = UnreadEvents() if into is None else None
        sink: Sink = alert_sink(sink_of("console" if into is None else into), name, None)
        query = JobQuery(bound.name, bound.text, bound.plan, sink, alert=bound)
        told = (lambda _name, events: unread.add(events)) if unread else (lambda *_: None)
        outlet = self.outlet_for(query, told)
        listener = SinkListener(outlet, self._ingest, self._lock)
        self._listeners.append(listener)
        listener.look()
        return Alert(self.alert_runs[bound.name], listener, unread)

    def alerts(self) -> pa.Table:
        """One row per group of an alert that is pending or raised: alert, group, state, since.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("temp", "ts timestamp, room string, c double", time="ts")
        >>> text = "SELECT room, MAX(c) AS c FROM temp [1 MINUTE] GROUP BY room WHEN c > 40"
        >>> alert = session.create_alert("hot", text)
        >>> session.push("temp", {"ts": "2026-01-01", "room": "lab", "c": 41.0})
        >>> session.finish()
        >>> session.alerts().select(["alert", "group", "state"]).to_pylist()
        [{'alert': 'hot', 'group': '{"room": "lab"}', 'state': 'raised'}]
        """
        with self._lock:
            self._flush()
            for listener in list(self._listeners):
                listener.look()
            shown = [run.machine.shown() for run in self.alert_runs.values()]
        return pa.concat_tables([no_states(), *shown])

    @one_at_a_time
    def outlet_for(self, query: JobQuery, answered: Callable[[str, pa.Table], None]) -> Outlet:
        """Registers a query of a job, and opens its sink."""
        return self.outlet_on(query, self.query(query.text, query.name), answered)

    @one_at_a_time
    def outlet_on(
        self, query: JobQuery, running: Any, answered: Callable[[str, pa.Table], None]
    ) -> Outlet:
        """Opens the sink of a query of a job that is at work."""
        alert = None if query.alert is None else self._alert_run(query.alert, running)
        return self.outlet_of(query, running, answered, alert)

    def outlet_of(
        self,
        query: JobQuery,
        running: Running,
        answered: Callable[[str, pa.Table], None],
        alert: AlertRun | None = None,
    ) -> Outlet:
        """Where a query drains to."""
        return Outlet(query, running, answered, alert)

    def _alert_run(self, bound: BoundAlert, running: EmbeddedQuery) -> AlertRun:
        self.alert_runs[bound.name] = AlertRun(bound, running)
        return self.alert_runs[bound.name]

    def _close_sinks(self) -> None:
        """Each is closed, whatever another one raises."""
        with ExitStack() as closing:
            while self._listeners:
                closing.callback(self._listeners.pop().close)
