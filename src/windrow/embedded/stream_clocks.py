"""How far streams, and the queries that read them, have come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.stream_ingest import StreamIngest
from windrow.embedded.tables import Tables
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.rows.last_close import last_close

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["StreamClocks"]


class StreamClocks:
    """The clocks of a session's streams; tables never hold them back."""

    streams: dict[str, StreamIngest]
    tables: Tables
    _running: Callable[[], list[EmbeddedQuery]]

    def clock_of(self, streams: tuple[str, ...], plans: Sequence[RunnablePlan] = ()) -> int:
        """The instant through which all of these streams are complete.

        Where all have ended it is that of the newest row, or when the last window of plans closes.
        """
        clock, newest = END_OF_TIME, START_OF_TIME
        for stream in streams:
            completeness = self.streams[stream].completeness
            clock, newest = min(clock, completeness.through), max(newest, completeness.newest)
        if clock < END_OF_TIME:
            return clock
        times = {stream: self.streams[stream].completeness.newest for stream in streams}
        return max([newest, *(last_close(plan, times) for plan in plans)])

    def clock_for(self, plan: RunnablePlan, views: Sequence[RunnablePlan] = ()) -> int:
        """The clock of a query, which tables never hold back; views: plans of those it reads."""
        clock = self.clock_of(plan.streams, [plan, *views])
        return (
            self.tables.clock_for(plan, clock, self.newest_clock()) if self.tables.stores else clock
        )

    def newest_clock(self) -> int:
        """The instant through which any of the streams is complete."""
        return max((self.clock_of((name,)) for name in self.streams), default=START_OF_TIME)

    def _newest_event(self) -> int:
        """The time of the newest row or heartbeat of any stream."""
        found = (stream.completeness.newest for stream in self.streams.values())
        return max(found, default=START_OF_TIME)

    def clock(self, stream: str) -> int:
        """The instant through which every query that reads the stream has worked."""
        clocks = [query.clock for query in self._running() if stream in query.plan.streams]
        return min(clocks, default=self.streams[stream].completeness.through)
