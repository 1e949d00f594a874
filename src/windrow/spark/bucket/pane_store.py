"""Which panes a shard keeps: one more a batch; expired, many and loose ones are dealt with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.spark.bucket.pane_merging import merged_entry, merged_pane, pair_to_merge
from windrow.spark.bucket.panes import Pane
from windrow.spark.bucket.shard_header import PaneEntry, ShardHeader
from windrow.spark.bucket.shard_state import ShardState

__all__ = ["PaneStore"]

# A snapshot replaces the panes when they hold more than twice the live rows and this many besides:
# then writing it costs no more than a constant per row that came.
SPARE_ROWS = 10_000


class PaneStore:
    """The panes of one shard, through its header."""

    def __init__(self, plan: QueryPlan, header: ShardHeader, state: ShardState) -> None:
        self.plan = plan
        self._header = header
        self._state = state

    def stored(self) -> Iterator[tuple[Pane, PaneEntry]]:
        """All panes in order, each with what the header says of it."""
        for entry in self._header.panes:
            yield self._read(entry), entry

    def _read(self, entry: PaneEntry) -> Pane:
        return Pane.from_bytes(self._state.read_pane(entry.sequence), entry.sequence)

    def append(self, pane: Pane, newest_instant_us: int) -> None:
        """Stores what one batch brought."""
        if not pane.is_empty:
            waiting = [int(times[-1]) for times in pane.times.values() if times.size]
            self._write(pane, max([newest_instant_us, *waiting]))

    def merge_small(self) -> None:
        """Puts two panes together where they are many."""
        header = self._header
        borders = [header.life_sequence, *(parts[2] for parts in header.members)]
        place = pair_to_merge(header.panes, borders)
        if place is None:
            return
        first, second = header.panes[place : place + 2]
        data = merged_pane(self._read(first), self._read(second)).to_bytes()
        self._state.write_pane(first.sequence, data)
        self._state.remove_pane(second.sequence)
        header.panes[place : place + 2] = [merged_entry(first, second, len(data))]

    def replace_all(self, pane: Pane) -> None:
        """Puts a snapshot in the place of all panes."""
        for entry in self._header.panes:
            self._state.remove_pane(entry.sequence)
        self._header.panes.clear()
        self._write(pane, START_OF_TIME)

    def change_limits(self) -> None:
        """The header's limits are other ones now: find out anew when panes can go."""
        panes = self._header.panes
        self._header.panes = [replace(each, gone_at_us=self._gone_at(each)) for each in panes]

    @property
    def begins_with_snapshot(self) -> bool:
        """Whether a whole shard is stored, which knows the lifetimes of its time only."""
        return any(entry.is_snapshot for entry in self._header.panes)

    def remove_expired(self) -> None:
        """Removes panes of which nothing is needed any more."""
        kept = []
        for entry in self._header.panes:
            is_over = entry.kept_until_us <= self._header.reached_us
            if is_over and entry.gone_at_us <= self._header.clock_us:
                self._state.remove_pane(entry.sequence)
            else:
                kept.append(entry)
        self._header.panes = kept

    def is_loose(self, live_rows: int) -> bool:
        """Whether the panes hold so much that has left that a snapshot should replace them."""
        stored = sum(entry.rows for entry in self._header.panes)
        return stored > 2 * live_rows + SPARE_ROWS

    @property
    def stored_bytes(self) -> int:
        """What the panes take in the state store."""
        return sum(entry.bytes for entry in self._header.panes)

    def _write(self, pane: Pane, kept_until_us: int) -> None:
        header = self._header
        data = pane.to_bytes()
        self._state.write_pane(header.next_sequence, data)
        entry = PaneEntry(
            header.next_sequence,
            pane.row_count,
            len(data),
            START_OF_TIME,
            header.clock_us,
            pane.snapshot is not None,
            kept_until_us,
            tuple((position, _newest(rows)) for position, rows in pane.rows.items() if len(rows)),
        )
        header.panes.append(replace(entry, gone_at_us=self._gone_at(entry)))
        header.next_sequence += 1

    def _gone_at(self, entry: PaneEntry) -> int:
        if entry.is_snapshot:
            return END_OF_TIME
        limits = self._header.limits
        leaves = [limits.leaves_at(self.plan, *each) for each in entry.newest_us]
        return max(leaves, default=START_OF_TIME)


def _newest(rows: pa.RecordBatch | pa.Table) -> int:
    return int(rows.column("ts").to_numpy(zero_copy_only=False).max())
