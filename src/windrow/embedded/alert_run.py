"""An alert in this process: its query, and the states of its groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.alerts.machine import AlertMachine

if TYPE_CHECKING:
    from windrow.alerts.bound_alert import BoundAlert
    from windrow.embedded.query import EmbeddedQuery

__all__ = ["AlertRun"]


class AlertRun:
    """Reads the changes of its query; nobody else may."""

    def __init__(self, bound: BoundAlert, query: EmbeddedQuery) -> None:
        self.bound, self.query = bound, query
        self.machine = AlertMachine(bound.name, bound.schema, bound.key, bound.for_us)

    def read(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """The events since the last call, and the answers and changes of its query."""
        answers = self.query.answers()  # what nobody reads would be dropped, with a warning
        changes = self.query.changes()
        return self.machine.step(changes, self.query.clock), answers, changes

    def step_again(self, changes: pa.Table | None) -> None:
        """In a replay, what read() has done."""
        self.machine.step(changes, self.query.clock)
