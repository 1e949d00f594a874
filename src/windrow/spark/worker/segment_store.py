"""Which segments a shard keeps: one more a batch; expired, many and loose ones are dealt with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.spark.worker.segment_merging import merged_entry, merged_segment, pair_to_merge
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_header import SegmentEntry, ShardHeader
from windrow.spark.worker.shard_state import ShardState

__all__ = ["SegmentStore"]

# A snapshot replaces the segments when they hold more than twice the live rows and this many
# besides: then writing it costs no more than a constant per row that came.
SPARE_ROWS = 10_000


class SegmentStore:
    """The segments of one shard, through its header."""

    def __init__(self, plan: QueryPlan, header: ShardHeader, state: ShardState) -> None:
        self.plan = plan
        self._header = header
        self._state = state

    def stored(self) -> Iterator[tuple[Segment, SegmentEntry]]:
        """All segments in order, each with what the header says of it."""
        for entry in self._header.segments:
            yield self._read(entry), entry

    def _read(self, entry: SegmentEntry) -> Segment:
        return Segment.from_bytes(self._state.read_segment(entry.sequence), entry.sequence)

    def append(self, segment: Segment, newest_instant_us: int) -> None:
        """Stores what one batch brought."""
        if not segment.is_empty:
            waiting = [int(times[-1]) for times in segment.times.values() if times.size]
            self._write(segment, max([newest_instant_us, *waiting]))

    def merge_small(self) -> None:
        """Puts two segments together where they are many."""
        header = self._header
        borders = [header.life_sequence, *(parts[2] for parts in header.members)]
        place = pair_to_merge(header.segments, borders)
        if place is None:
            return
        first, second = header.segments[place : place + 2]
        data = merged_segment(self._read(first), self._read(second)).to_bytes()
        self._state.write_segment(first.sequence, data)
        self._state.remove_segment(second.sequence)
        header.segments[place : place + 2] = [merged_entry(first, second, len(data))]

    def replace_all(self, segment: Segment) -> None:
        """Puts a snapshot in the place of all segments."""
        for entry in self._header.segments:
            self._state.remove_segment(entry.sequence)
        self._header.segments.clear()
        self._write(segment, START_OF_TIME)

    def change_limits(self) -> None:
        """The header's limits are other ones now: find out anew when segments can go."""
        segments = self._header.segments
        self._header.segments = [replace(each, gone_at_us=self._gone_at(each)) for each in segments]

    @property
    def begins_with_snapshot(self) -> bool:
        """Whether a whole shard is stored, which knows the lifetimes of its time only."""
        return any(entry.is_snapshot for entry in self._header.segments)

    def remove_expired(self) -> None:
        """Removes segments of which nothing is needed any more."""
        kept = []
        for entry in self._header.segments:
            is_over = entry.kept_until_us <= self._header.reached_us
            if is_over and entry.gone_at_us <= self._header.clock_us:
                self._state.remove_segment(entry.sequence)
            else:
                kept.append(entry)
        self._header.segments = kept

    def is_loose(self, live_rows: int) -> bool:
        """Whether the segments hold so much that has left that a snapshot should replace them."""
        stored = sum(entry.rows for entry in self._header.segments)
        return stored > 2 * live_rows + SPARE_ROWS

    @property
    def stored_bytes(self) -> int:
        """What the segments take in the state store."""
        return sum(entry.bytes for entry in self._header.segments)

    def _write(self, segment: Segment, kept_until_us: int) -> None:
        header = self._header
        data = segment.to_bytes()
        self._state.write_segment(header.next_sequence, data)
        entry = SegmentEntry(
            header.next_sequence,
            segment.row_count,
            len(data),
            START_OF_TIME,
            header.clock_us,
            segment.snapshot is not None,
            kept_until_us,
            tuple(
                (position, _newest(rows)) for position, rows in segment.rows.items() if len(rows)
            ),
        )
        header.segments.append(replace(entry, gone_at_us=self._gone_at(entry)))
        header.next_sequence += 1

    def _gone_at(self, entry: SegmentEntry) -> int:
        if entry.is_snapshot:
            return END_OF_TIME
        limits = self._header.limits
        leaves = [limits.leaves_at(self.plan, *each) for each in entry.newest_us]
        return max(leaves, default=START_OF_TIME)


def _newest(rows: pa.RecordBatch | pa.Table) -> int:
    return int(rows.column("ts").to_numpy(zero_copy_only=False).max())
