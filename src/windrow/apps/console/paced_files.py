"""A stream's files cut into pieces of event time, and pieces of several streams in one order."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import pyarrow as pa

from windrow.connectors.contract import Source
from windrow.embedded.side_by_side import SideBySide
from windrow.event_time import MAX_EVENT_TIME, MIN_EVENT_TIME, START_OF_TIME
from windrow.jobs.player import Piece
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["pieces_at_once", "pieces_by_time"]


Sources = Mapping[str, tuple[StreamSchema, Source]]


def pieces_at_once(sources: Sources) -> Iterator[Piece]:
    """All rows as they are read, without a time; sources other than files are refused at once."""
    return _at_once(SideBySide(sources))


def pieces_by_time(sources: Sources, step_us: int) -> Iterator[Piece]:
    """Pieces of at most so much event time, of all streams in the order of their times.

    Rows stay in the order of their file: a piece lasts as long as the newest time so far.
    """
    streams = [
        _stream_pieces(source[0], SideBySide({name: source}), step_us)
        for name, source in sources.items()
    ]
    return heapq.merge(*streams, key=lambda piece: piece.until_us or 0)


def _at_once(files: SideBySide) -> Iterator[Piece]:
    while (read := files.next_batch()) is not None:
        stream, batch = read
        yield Piece(None, {stream: batch})


def _stream_pieces(schema: StreamSchema, files: SideBySide, step_us: int) -> Iterator[Piece]:
    newest_us = START_OF_TIME
    while (read := files.next_batch()) is not None:
        batch, bad = read[1].batch, read[1].bad
        steps = _steps(batch, schema.time, newest_us, step_us)
        if steps.size == 0:
            yield Piece(newest_us if newest_us > START_OF_TIME else None, {schema.name: read[1]})
            continue
        newest_us = int(steps[-1]) * step_us
        borders = [0, *(np.flatnonzero(np.diff(steps)) + 1).tolist(), steps.size]
        for first, end in pairwise(borders):
            rows = FileRows(batch.slice(first, end - first), () if first else bad)
            yield Piece(int(steps[first]) * step_us, {schema.name: rows})


def _steps(
    batch: pa.RecordBatch, time: str, newest_us: int, step_us: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each row, the end of the step in which it comes; absurd times come with the others."""
    column = batch.column(time).cast(pa.int64())
    times = column.fill_null(START_OF_TIME).to_numpy(zero_copy_only=False)
    is_good = (times >= MIN_EVENT_TIME) & (times < MAX_EVENT_TIME)
    times = np.where(is_good, times, START_OF_TIME)
    latest = np.maximum(np.maximum.accumulate(times), newest_us)
    if latest.size and latest[0] == START_OF_TIME and is_good.any():
        latest = np.maximum(latest, times[is_good][0])
    steps: np.ndarray[tuple[int], np.dtype[np.int64]] = -(-latest // step_us)
    return steps
