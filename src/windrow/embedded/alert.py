"""An alert as its session gives it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from windrow.embedded.alert_run import AlertRun
    from windrow.embedded.sink_listener import SinkListener

__all__ = ["Alert", "UnreadEvents"]

# So many events are kept for events(); of more the oldest are dropped.
UNREAD_EVENTS_LIMIT = 100_000


class UnreadEvents:
    """Events that nobody has taken yet."""

    def __init__(self) -> None:
        self._tables: list[pa.Table] = []
        self.dropped = 0

    def add(self, events: pa.Table) -> None:
        """Keeps them."""
        self._tables.append(events)
        rows = sum(table.num_rows for table in self._tables)
        if rows > UNREAD_EVENTS_LIMIT:
            kept = pa.concat_tables(self._tables).slice(rows - UNREAD_EVENTS_LIMIT)
            self._tables, self.dropped = [kept], self.dropped + rows - UNREAD_EVENTS_LIMIT

    def taken(self, empty: pa.Table) -> pa.Table:
        """All of them."""
        tables, self._tables = self._tables, []
        if self.dropped:
            warnings.warn(
                f"{self.dropped:,} events were dropped: call events() more often, or give a sink",
                RuntimeWarning,
                stacklevel=3,
            )
            self.dropped = 0
        return pa.concat_tables([empty, *tables])


class Alert:
    """An alert that runs: what session.create_alert() returns.

    >>> import windrow
    >>> session = windrow.connect()
    >>> session.stream("temp", "ts timestamp, room string, c double", time="ts")
    >>> alert = session.create_alert(
    ...     "hot", "SELECT room, MAX(c) AS c FROM temp [1 MINUTE] GROUP BY room WHEN c > 40"
    ... )
    >>> session.push("temp", {"ts": "2026-01-01 00:00:10", "room": "lab", "c": 41.5})
    >>> session.advance("temp", to="2026-01-01 00:05:00")
    >>> [(row["state"], row["room"]) for row in alert.events().to_pylist()]
    [('raised', 'lab'), ('cleared', 'lab')]
    """

    def __init__(self, run: AlertRun, listener: SinkListener, unread: UnreadEvents | None) -> None:
        self.name = run.bound.name
        self._run, self._listener, self._unread = run, listener, unread

    @property
    def text(self) -> str:
        """The query whose rows are what the alert is about."""
        return self._run.bound.text

    def events(self) -> pa.Table:
        """What was raised and cleared since the last call, where it goes to no sink."""
        self._listener.look()
        empty = self._run.machine.no_events()
        return empty if self._unread is None else self._unread.taken(empty)

    def states(self) -> pa.Table:
        """The groups that are pending or raised now, since when, and their newest rows."""
        self._listener.look()
        return self._run.machine.states()

    def stop(self) -> None:
        """End it: nothing is raised or cleared any more."""
        self._listener.close()
        self._run.query.stop()

    def __repr__(self) -> str:
        counts = self._run.machine.counts()
        return f"<Alert {self.name!r}, {counts['raised']} raised, {counts['pending']} pending>"
