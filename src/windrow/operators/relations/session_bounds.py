"""Which rows of sessions a scan gives, and the bounds of their sessions as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from windrow.operators.relations.changes import Vector
from windrow.plan.relations.window_algebra import WindowBound
from windrow.windows.buffer import ColumnWindow
from windrow.windows.scheduled import ClosingSessions, OpenSessions, Schedule

__all__ = ["SessionBounds"]

# The last time in a window, as others count it.
LAST_TIME_US = 1_000

_SCHEDULES: dict[str, Callable[[int], Schedule]] = {
    "rows": OpenSessions,
    "newest": lambda gap_us: OpenSessions(gap_us, only_newest=True),
    "closing": ClosingSessions,
}


@dataclass(frozen=True)
class SessionBounds:
    """mode: as SessionScan has it; gap_us: how long a session may be silent."""

    mode: str
    gap_us: int
    bounds: Sequence[WindowBound]

    @property
    def types(self) -> list[pa.DataType]:
        """Of the columns."""
        return [each.field.type.arrow for each in self.bounds]

    def schedule(self, gap_us: int) -> Schedule:
        """How the rows come and go."""
        return _SCHEDULES[self.mode](gap_us)

    def columns(self, window: ColumnWindow, places: Vector, held_at: Vector) -> list[pa.Array]:
        """The bounds of rows at these places, which are in the relation at these instants."""
        found = []
        for each in self.bounds:
            if each.part == "start":
                bound = window.since[places]
            else:
                # Sessions that close are there when they end; of others the newest row tells.
                is_closing = self.mode == "closing"
                bound = held_at if is_closing else window.times[places] + self.gap_us
                bound = bound - LAST_TIME_US if each.part == "time" else bound
            found.append(pa.array(bound).cast(each.field.type.arrow))
        return found
