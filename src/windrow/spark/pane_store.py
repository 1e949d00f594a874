"""Which panes a shard keeps: one more a batch, expired ones removed, long tails compacted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from windrow.engine.prepare import lifetime_of
from windrow.event_time import END_OF_TIME
from windrow.plan.model import QueryPlan, WindowSpec
from windrow.spark.panes import Pane
from windrow.spark.shard_header import PaneEntry, ShardHeader
from windrow.spark.shard_state import ShardState

__all__ = ["PaneStore"]

# A snapshot replaces the panes when they hold more than twice the live rows and this many besides:
# then writing it costs no more than a constant per row that came.
SPARE_ROWS = 10_000


class PaneStore:
    """The panes of one shard, through its header."""

    def __init__(self, plan: QueryPlan, header: ShardHeader, state: ShardState) -> None:
        self._plan = plan
        self._header = header
        self._state = state

    def stored(self) -> Iterator[tuple[Pane, int]]:
        """All panes in order, each with the clock after the batch that wrote it."""
        for entry in self._header.panes:
            data = self._state.read_pane(entry.sequence)
            yield Pane.from_bytes(data, entry.sequence), entry.clock_us

    def append(self, pane: Pane, newest_instant_us: int) -> None:
        """Stores what one batch brought."""
        if not pane.is_empty:
            self._write(pane, max(newest_instant_us, self._gone_at(pane)))

    def replace_all(self, pane: Pane) -> None:
        """Puts a snapshot in the place of all panes."""
        for entry in self._header.panes:
            self._state.remove_pane(entry.sequence)
        self._header.panes.clear()
        self._write(pane, END_OF_TIME)

    def remove_expired(self) -> None:
        """Removes panes of which nothing is needed any more."""
        kept = []
        for entry in self._header.panes:
            if entry.gone_at_us <= self._header.clock_us:
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

    def _write(self, pane: Pane, gone_at_us: int) -> None:
        header = self._header
        data = pane.to_bytes()
        self._state.write_pane(header.next_sequence, data)
        header.panes.append(
            PaneEntry(
                header.next_sequence,
                pane.row_count,
                len(data),
                gone_at_us,
                header.clock_us,
                pane.snapshot is not None,
            )
        )
        header.next_sequence += 1

    def _gone_at(self, pane: Pane) -> int:
        instants = [int(times[-1]) for times in pane.times.values() if times.size]
        for position, rows in pane.rows.items():
            if rows.num_rows:
                newest = rows.column("ts").to_numpy(zero_copy_only=False).max()
                instants.append(_leaves_at(self._plan.inputs[position].window, int(newest)))
        return max(instants)


def _leaves_at(window: WindowSpec, newest_us: int) -> int:
    if not window.is_timed:
        return END_OF_TIME
    leaves = lifetime_of(window).leave(np.array([newest_us], dtype=np.int64))
    return min(END_OF_TIME, int(leaves[0]))
