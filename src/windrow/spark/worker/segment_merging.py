"""Segments put together where they are many: small batches must not leave a long list behind.

The header names every segment and is written with every batch. Beyond a number of segments the two
neighbours with the fewest rows become one, so that over a long window all segments come to about
the same size, and a row is written again only about as often as its segment doubles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.rows.weighted_rows import WEIGHT
from windrow.spark.worker.bucket_header import SegmentEntry
from windrow.spark.worker.segments import Segment

__all__ = ["SEGMENTS_LIMIT", "merged_entry", "merged_segment", "pair_to_merge"]

SEGMENTS_LIMIT = 64


def pair_to_merge(entries: Sequence[SegmentEntry], borders: Iterable[int]) -> int | None:
    """The place of the first of two segments that may become one; None: there are no such two.

    borders: sequences at which something begins that does not see the segments before.
    """
    if len(entries) <= SEGMENTS_LIMIT:
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


def merged_segment(first: Segment, second: Segment) -> Segment:
    """One segment for two that came one after the other."""
    inputs = dict.fromkeys([*first.rows, *second.rows])
    rows = {input_index: _joined(first.rows, second.rows, input_index) for input_index in inputs}
    times = {
        stream: np.sort(
            np.concatenate(
                [segment.times[stream] for segment in (first, second) if stream in segment.times]
            )
        )
        for stream in dict.fromkeys([*first.times, *second.times])
    }
    due = [each.instants for each in (first, second) if each.instants is not None]
    return Segment(rows, times, instants=np.unique(np.concatenate(due)) if due else None)


def merged_entry(first: SegmentEntry, second: SegmentEntry, size: int) -> SegmentEntry:
    """What the header says about it, with its size in bytes."""
    newest = dict(first.newest_us)
    for input_index, time_us in second.newest_us:
        newest[input_index] = max(time_us, newest.get(input_index, time_us))
    return SegmentEntry(
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
    input_index: int,
) -> pa.Table:
    tables = [_table(rows[input_index]) for rows in (first, second) if input_index in rows]
    names = dict.fromkeys(name for table in tables for name in table.schema.names)
    return pa.concat_tables([_with(table, names) for table in tables], promote_options="default")


def _with(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """The table with the weights that rows of the other one have: each row stands for itself."""
    if WEIGHT in names and WEIGHT not in table.schema.names:
        return table.append_column(WEIGHT, pa.array(np.ones(len(table), np.int64)))
    return table


def _table(rows: pa.RecordBatch | pa.Table) -> pa.Table:
    return pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
