"""Panes put together where they are many: small batches must not leave a long list behind.

The header names every pane and is written with every batch. Beyond a number of panes the two
neighbours with the fewest rows become one, so that over a long window all panes come to about the
same size, and a row is written again only about as often as its pane doubles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.rows.weighted_rows import WEIGHT
from windrow.spark.bucket.panes import Pane
from windrow.spark.bucket.shard_header import PaneEntry

__all__ = ["PANES_LIMIT", "merged_entry", "merged_pane", "pair_to_merge"]

PANES_LIMIT = 64


def pair_to_merge(entries: Sequence[PaneEntry], borders: Iterable[int]) -> int | None:
    """The place of the first of two panes that may become one; None: there are few, or no such two.

    borders: sequences at which something begins that does not see the panes before.
    """
    if len(entries) <= PANES_LIMIT:
        return None
    starts = set(borders)
    best: tuple[int, int] | None = None
    for place in range(len(entries) - 1):
        first, second = entries[place], entries[place + 1]
        if first.is_snapshot or any(first.sequence < start <= second.sequence for start in starts):
            continue
        rows = first.rows + second.rows
        if best is None or rows < best[0]:
            best = (rows, place)
    return None if best is None else best[1]


def merged_pane(first: Pane, second: Pane) -> Pane:
    """One pane for two that came one after the other."""
    positions = dict.fromkeys([*first.rows, *second.rows])
    rows = {position: _joined(first.rows, second.rows, position) for position in positions}
    times = {
        stream: np.sort(
            np.concatenate([pane.times[stream] for pane in (first, second) if stream in pane.times])
        )
        for stream in dict.fromkeys([*first.times, *second.times])
    }
    return Pane(rows, times)


def merged_entry(first: PaneEntry, second: PaneEntry, size: int) -> PaneEntry:
    """What the header says of it; its bytes are so many."""
    newest = dict(first.newest_us)
    for position, time_us in second.newest_us:
        newest[position] = max(time_us, newest.get(position, time_us))
    return PaneEntry(
        first.sequence,
        first.rows + second.rows,
        size,
        max(first.gone_at_us, second.gone_at_us),
        second.clock_us,
        False,
        max(first.kept_until_us, second.kept_until_us),
        tuple(newest.items()),
    )


def _joined(
    first: Mapping[int, pa.RecordBatch | pa.Table],
    second: Mapping[int, pa.RecordBatch | pa.Table],
    position: int,
) -> pa.Table:
    tables = [_table(rows[position]) for rows in (first, second) if position in rows]
    names = dict.fromkeys(name for table in tables for name in table.schema.names)
    return pa.concat_tables([_with(table, names) for table in tables], promote_options="default")


def _with(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """The table with the weights that rows of the other one have: each row stands for itself."""
    if WEIGHT in names and WEIGHT not in table.schema.names:
        return table.append_column(WEIGHT, pa.array(np.ones(len(table), np.int64)))
    return table


def _table(rows: pa.RecordBatch | pa.Table) -> pa.Table:
    return pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
