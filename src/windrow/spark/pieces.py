"""What a shard gives for one batch, in pieces of bounded size.

After silence a batch may make an hour of results expire at once. The shard then runs in steps, and
each step is packed before the next one, so that it never holds all of them as columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from windrow.engine.pace import Pace
from windrow.engine.partial import Partial
from windrow.engine.shard import Shard
from windrow.spark.frames import read_frame, write_frame

__all__ = ["PIECE_TOUCHES", "Piece", "pieces_of", "run_in_pieces"]

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
    shard: Shard, rows: Mapping[int, pa.RecordBatch], until_us: int, pace: Pace
) -> bytes:
    """Give rows to the shard and run it to the clock; all that it gives, as one value."""
    shard.take(rows)
    stops: list[int] = []
    pieces: list[bytes] = []
    until_us = max(until_us, shard.clock)
    is_done = False
    while not is_done:
        stop = shard.next_stop(until_us, pace.events)
        before = shard.event_count()
        partial = shard.advance({}, stop)
        pace.note(shard.event_count() - before, partial.size)
        stops.append(stop)
        pieces.append(partial.to_bytes())
        is_done = stop >= until_us
    return write_frame({"stops": stops}, pieces)


def pieces_of(data: bytes | memoryview) -> list[Piece]:
    """The pieces again, in order of time."""
    header, sections = read_frame(data, "partial answer of a shard")
    return [Piece(stop, piece) for stop, piece in zip(header["stops"], sections, strict=True)]
