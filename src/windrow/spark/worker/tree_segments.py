"""Which segments a tree keeps: those of its rows, or all since a snapshot if rows do not suffice.

Where the rows in its windows say all, segments go when their rows have left. Otherwise (answers in
windows, sessions, windows that count rows, UNBOUNDED) the tree is run again from the last snapshot
on, so every row since is kept; a snapshot is written when these rows take as much as the last one.
"""

from __future__ import annotations

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.plan.relations.tree_plan import TreePlan
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_segments import SPARE_ROWS, Newest, ShardSegments

__all__ = ["TreeSegments"]


class TreeSegments(ShardSegments):
    """The segments of the tree of one bucket."""

    def __init__(self, plan: TreePlan, header: BucketHeader, state: BucketState) -> None:
        super().__init__(plan, header, state)
        self._follows = plan.follows_from_rows
        self._every_us = plan.every_us or 1

    def replace_all(self, segment: Segment) -> None:
        """Puts what is held in the place of all segments; rows can go again when they have left."""
        if segment.snapshot is not None:
            super().replace_all(segment)
            return
        for entry in self._header.segments:
            self._remove(entry)
        self._header.segments.clear()
        due = segment.instants
        newest = START_OF_TIME if due is None or not due.size else int(due[-1])
        if segment.is_empty and newest > START_OF_TIME:
            self._write(segment, kept_until_us=newest)
        else:
            self.append(segment, newest)

    def is_loose(self, live_rows: int, coming: Segment) -> bool:
        """Whether what is held, written anew, should replace the segments."""
        if self._follows:
            return super().is_loose(live_rows, coming)
        segments = self._header.segments
        rows = sum(entry.rows for entry in segments if not entry.is_snapshot) + coming.row_count
        sizes = [entry.bytes for entry in segments if entry.is_snapshot]
        return rows > SPARE_ROWS and self.stored_bytes + coming.row_bytes > 2 * sum(sizes)

    def _gone_at(self, newest_us: Newest) -> int:
        if not self._follows:
            return END_OF_TIME if newest_us else super()._gone_at(newest_us)
        # What has left between two ticks is in the result until the next one.
        return -(-super()._gone_at(newest_us) // self._every_us) * self._every_us
