"""What a shard gives for one batch, in pieces of bounded size.

After silence a batch may make an hour of results expire at once. The shard then runs in steps, and
each step is packed before the next one, so that it never holds all of them as columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.partial import Partial
from windrow.runtime.pace import Pace
from windrow.runtime.shard import Shard
from windrow.spark.processes.frames import read_frame, write_frame
from windrow.windows.lifetime import Lifetime

__all__ = ["PIECE_TOUCHES", "Piece", "pieces_of", "run_in_pieces", "trim"]

# So large that the batches of most jobs are one piece in every bucket.
PIECE_TOUCHES = 500_000


@dataclass(frozen=True)
class Piece:
    """What a shard gave up to an instant, since the piece before."""

    until_us: int
    data: memoryview

    def partial(self) -> Partial:
        """The touches of it."""
        return Partial.from_bytes(bytes(self.data))


def run_in_pieces(
    shard: Shard,
    rows: Mapping[int, pa.RecordBatch],
    until_us: int,
    pace: Pace,
    lifetimes: Mapping[int, Lifetime] | None = None,
) -> bytes:
    """Give rows to the shard and run it to the clock; all that it gives, as one value.

    lifetimes: those that its windows get before the rows come; what must go by them goes first.
    """
    stops: list[int] = []
    pieces: list[bytes] = []
    until_us = max(until_us, shard.clock)
    if lifetimes:
        pieces += _changed(shard, lifetimes)
        stops += [shard.clock] * len(pieces)
    shard.take(rows)
    is_done = stops == [until_us]
    while not is_done:
        stop = shard.next_stop(until_us, pace.events)
        before = shard.event_count()
        partial = shard.advance({}, stop)
        pace.note(shard.event_count() - before, partial.size)
        stops.append(stop)
        pieces.append(partial.to_bytes())
        is_done = stop >= until_us
    return write_frame({"stops": stops}, pieces)


def _changed(shard: Shard, lifetimes: Mapping[int, Lifetime]) -> list[bytes]:
    """Change lifetimes and let rows go; what that gives, once there is a clock."""
    shard.change_lifetimes(lifetimes)
    if shard.clock == START_OF_TIME:
        return []
    piece = shard.advance({}, shard.clock).to_bytes()
    trim(shard)
    return [piece]


def trim(shard: Shard) -> None:
    """Give memory of rows back that have gone."""
    for window in shard.windows:
        window.columns.store.trim()


def pieces_of(data: bytes | memoryview) -> list[Piece]:
    """The pieces again, in order of time."""
    header, sections = read_frame(data, "partial answer of a shard")
    return [Piece(stop, piece) for stop, piece in zip(header["stops"], sections, strict=True)]
