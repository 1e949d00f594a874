"""How the demo runs its query: what both runners do for it, and the one in this process."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from windrow.apps.demo.building import ALARM_QUERY, LATENESS, SCHEMAS, Slice
from windrow.embedded.session import EmbeddedSession

__all__ = ["DemoRunner", "EmbeddedRunner"]

MEMORY = "64 MB"


class DemoRunner(Protocol):
    """Takes readings, gives changes of the alarms."""

    def send(self, readings: Slice) -> None:
        """Delivers readings."""

    def is_busy(self) -> bool:
        """Whether delivered readings are still to be worked through."""

    def changes(self) -> pa.Table:
        """Changes since the last call."""

    def finish(self) -> None:
        """Ends the streams, so that the last changes come out."""

    def close(self) -> None:
        """Lets go of everything."""


class EmbeddedRunner:
    """The alarm query in this process."""

    def __init__(self) -> None:
        self._session = EmbeddedSession(MEMORY)
        for name, schema in SCHEMAS.items():
            self._session.stream(name, schema, time="ts", lateness=LATENESS)
        self._alarms = self._session.query(ALARM_QUERY, name="alarms")

    def send(self, readings: Slice) -> None:
        """Pushes the rows."""
        for stream, rows in readings.rows.items():
            self._session.push(stream, rows)

    def is_busy(self) -> bool:
        """Never: a push returns when its rows are applied."""
        return False

    def changes(self) -> pa.Table:
        """Changes since the last call."""
        return self._alarms.changes()

    def finish(self) -> None:
        """Ends both streams."""
        self._session.finish()

    def close(self) -> None:
        """Ends the query."""
        self._session.stop()
