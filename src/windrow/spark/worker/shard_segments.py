"""Which segments a shard keeps: one a batch; expired ones go, many and loose ones are merged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.spark.worker.bucket_header import SHARD, BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.segment_merging import merged_entry, merged_segment, pair_to_merge
from windrow.spark.worker.segment_store import VALUE_BYTES_LIMIT, SegmentStore
from windrow.spark.worker.segments import Segment

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["SPARE_ROWS", "Newest", "ShardSegments"]

Newest = tuple[tuple[int, int], ...]  # an input, and the time of its newest row

# A snapshot replaces the segments when they hold more than twice the live rows and this many
# besides: then writing it costs no more than a constant per row that came.
SPARE_ROWS = 10_000


class ShardSegments(SegmentStore):
    """The segments of one shard, or of all shards of a bundle in a bucket."""

    def __init__(self, plan: RunnablePlan, header: BucketHeader, state: BucketState) -> None:
        super().__init__(header, state, SHARD)
        self.plan = plan

    def append(self, segment: Segment, newest_instant_us: int) -> None:
        """Stores what one batch brought, unless nothing of it is needed any more."""
        if segment.is_empty:
            return
        waiting = [int(times[-1]) for times in segment.times.values() if times.size]
        kept_until_us = max([newest_instant_us, *waiting])
        newest = [(at, _newest(rows)) for at, rows in segment.rows.items() if len(rows)]
        gone_at_us = self._gone_at(tuple(newest))
        if not self._is_over(kept_until_us, gone_at_us):
            entry = self._write(segment, kept_until_us=kept_until_us)
            entry = replace(entry, newest_us=tuple(newest), gone_at_us=gone_at_us)
            self._header.segments[-1] = entry

    def begin(self, segment: Segment, newest_instant_us: int) -> None:
        """Stores what a bucket has before its first batch."""
        if segment.snapshot is not None:
            self.replace_all(segment)
        elif not segment.is_empty:
            self.append(segment, newest_instant_us)
        elif newest_instant_us > START_OF_TIME:
            self._write(segment, kept_until_us=newest_instant_us)

    def merge_small(self) -> None:
        """Puts two segments together where they are many."""
        header = self._header
        borders = [header.life_sequence, *(parts[2] for parts in header.members)]
        place = pair_to_merge(header.segments, borders)
        if place is None:
            return
        first, second = header.segments[place : place + 2]
        data = merged_segment(self.read(first), self.read(second)).to_bytes()
        if len(data) > VALUE_BYTES_LIMIT * (second.sequence + second.values - first.sequence):
            return  # no place for it before the segments that come after
        values = self._write_values(first.sequence, data)
        merged = replace(merged_entry(first, second, len(data)), values=values)
        for entry in (first, second):
            self._remove(entry, but=merged)
        header.segments[place : place + 2] = [merged]

    def change_limits(self) -> None:
        """The header's limits have changed: compute again when segments can be removed."""
        self._header.segments = [
            each if each.is_snapshot else replace(each, gone_at_us=self._gone_at(each.newest_us))
            for each in self._header.segments
        ]

    @property
    def begins_with_snapshot(self) -> bool:
        """Whether a whole shard is stored, which knows the lifetimes of its time only."""
        return any(entry.is_snapshot for entry in self._header.segments)

    def remove_expired(self) -> None:
        """Removes segments of which nothing is needed any more."""
        kept = []
        for entry in self._header.segments:
            if self._is_over(entry.kept_until_us, entry.gone_at_us):
                self._remove(entry)
            else:
                kept.append(entry)
        self._header.segments = kept

    def is_loose(self, live_rows: int, coming: Segment) -> bool:
        """Whether the segments would hold so much that has left that a snapshot is better.

        coming: what the batch brought. Asked before it is written: where a batch spans more time
        than the windows do, most of it would be written and removed at once.
        """
        stored = sum(entry.rows for entry in self._header.segments) + coming.row_count
        return stored > 2 * live_rows + SPARE_ROWS

    def _is_over(self, kept_until_us: int, gone_at_us: int) -> bool:
        header = self._header
        return kept_until_us <= header.reached_us and gone_at_us <= header.clock_us

    def _gone_at(self, newest_us: Newest) -> int:
        """When the rows of a segment have left, by the newest of each input."""
        limits = self._header.limits
        leaves = [limits.leaves_at(self.plan, *each) for each in newest_us]
        return max(leaves, default=START_OF_TIME)


def _newest(rows: pa.RecordBatch | pa.Table) -> int:
    return int(rows.column("ts").to_numpy(zero_copy_only=False).max())
