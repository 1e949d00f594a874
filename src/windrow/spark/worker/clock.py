"""How far streams are complete, and the clock that follows from it.

Every bucket works this out for itself from the same packets, so all come to the same clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.rows.last_close import last_close
from windrow.spark.shuffle.arrivals import StreamArrivals
from windrow.spark.worker.bucket_header import BucketHeader

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["NEVER", "clock_of", "completeness_after", "first_after", "move_clock", "newest_after"]

# The life of a query while nobody knows when it begins: no row is of that time.
NEVER = (END_OF_TIME, START_OF_TIME)


def move_clock(
    header: BucketHeader,
    lateness_us: Mapping[str, int],
    arrivals: Mapping[str, StreamArrivals],
    end_us: int = END_OF_TIME,
    plan: RunnablePlan | None = None,
) -> None:
    """The header's clocks after these rows and orders; that of the query stops at an end.

    plan: that of a query, whose windows close when all streams have ended.
    """
    header.newest_us = newest_after(header.newest_us, arrivals)
    header.complete_us = completeness_after(lateness_us, header.complete_us, arrivals)
    header.reached_us = clock_of(header.complete_us, header.newest_us, header.reached_us)
    if plan is not None and min(header.complete_us.values()) == END_OF_TIME:
        header.reached_us = max(header.reached_us, last_close(plan, header.newest_us))
    header.clock_us = max(header.clock_us, min(header.reached_us, end_us))


def completeness_after(
    lateness_us: Mapping[str, int],
    before_us: Mapping[str, int],
    arrivals: Mapping[str, StreamArrivals],
) -> dict[str, int]:
    """Per stream, the instant through which it is complete once these rows and orders have come."""
    after = dict(before_us)
    for stream, came in arrivals.items():
        if came.newest_us is not None:
            # Rows of equal time may still follow, hence the microsecond.
            after[stream] = max(after[stream], came.newest_us - lateness_us[stream] - 1)
        if came.complete_through_us is not None:
            after[stream] = max(after[stream], came.complete_through_us)
    return after


def newest_after(
    before_us: Mapping[str, int], arrivals: Mapping[str, StreamArrivals]
) -> dict[str, int]:
    """Per stream, its latest event or heartbeat."""
    after = dict(before_us)
    for stream, came in arrivals.items():
        for instant in (came.newest_us, came.complete_through_us):
            if instant is not None and instant < END_OF_TIME:
                after[stream] = max(after[stream], instant)
    return after


def clock_of(complete_us: Mapping[str, int], newest_us: Mapping[str, int], before_us: int) -> int:
    """The instant through which every stream is complete.

    Streams that have all ended take the clock to the last event and no further: time without events
    and without an end would hold answers without end.
    """
    clock = min(complete_us.values())
    if clock == END_OF_TIME:
        clock = max(newest_us.values())
    return max(before_us, clock)


def first_after(
    plan: RunnablePlan, first_us: int | None, complete_us: int, came: StreamArrivals
) -> int | None:
    """From when DURATION counts: the smallest time of the first batch that has rows in time.

    complete_us, came: of the query's first stream. Every bucket knows only the smallest time of
    all; where that row is late, what was complete comes in its place.
    """
    if first_us is not None or plan.duration is None or came.newest_us is None:
        return first_us
    assert came.oldest_us is not None
    return max(came.oldest_us, complete_us + 1) if came.newest_us > complete_us else None
