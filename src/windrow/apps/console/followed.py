"""A query that the console follows: its handle, its two feeds, and how fast it answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from windrow.apps.console.json_rows import column_types
from windrow.apps.console.limits import DRAINED_ROWS
from windrow.apps.console.meter import Meter
from windrow.apps.console.ring import FeedRing
from windrow.apps.console.runners import QueryHandle
from windrow.errors import WindrowError
from windrow.plan.expressions import GroupRef
from windrow.plan.history_plan import HistoryPlan

__all__ = ["FollowedQuery", "ServedQuery"]


class FollowedQuery:
    """Reads what a query says, once, for all who listen."""

    def __init__(
        self, handle: QueryHandle, text: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.handle, self.name, self.text = handle, handle.name, text
        self.error: WindrowError | None = None
        plan = handle.plan
        self.kind = "history" if isinstance(plan, HistoryPlan) else str(plan.kind)
        self.columns = [{"name": each.name, "type": str(each.type)} for each in plan.select]
        self.group_columns = [
            each.name for each in plan.select if isinstance(each.expression, GroupRef)
        ]
        self.every_us: int | None = plan.every_us
        self.last_level: str | None = None
        # All its streams have ended: it keeps what it knows, and says nothing more.
        self.has_all_rows = False
        self._rings: dict[str, FeedRing] = {}
        self._meter = Meter(clock)

    def drain(self) -> None:
        """Reads off what is new; only one thread may."""
        self.take(self.handle.answers(), self.handle.changes(DRAINED_ROWS))

    def take(self, answers: Any, changes: Any) -> None:
        """What is new, for all who listen."""
        self._add("answers", answers)
        if answers.num_rows and "level" in answers.column_names:
            self.last_level = answers.column("level")[-1].as_py()
        self._add("changes", changes)
        self._meter.add(answers.num_rows if self.kind != "select" else changes.num_rows)

    def _add(self, feed: str, table: Any) -> None:
        if feed not in self._rings:
            self._rings[feed] = FeedRing(table.schema)
        self._rings[feed].add(table)

    def ring(self, feed: str) -> FeedRing:
        """The feed of answers, or that of changes."""
        return self._rings[feed]

    @property
    def feed_columns(self) -> dict[str, list[dict[str, str]]]:
        """Columns of both feeds."""
        return {feed: column_types(ring.schema) for feed, ring in self._rings.items()}

    @property
    def state(self) -> str:
        """'running', 'ended' or 'failed'."""
        if self.error is not None:
            return "failed"
        return "running" if self.handle.is_running and not self.has_all_rows else "ended"

    @property
    def answers(self) -> int:
        """How many answers there were; of a select, changes."""
        return self._rings["changes" if self.kind == "select" else "answers"].last

    @property
    def rate(self) -> float:
        """Answers a second, by the clock on the wall, lately."""
        return self._meter.per_second


class ServedQuery(FollowedQuery):
    """A query whose answers a sink reads off: what the sink was given is shown here, too."""

    def drain(self) -> None:
        """Nothing: take() is called by whoever reads for the sink, from the first time on."""
