"""The output of a shard for one batch, in pieces of bounded size.

After silence a batch may make an hour of results expire at once. The shard then runs in steps, and
each step is packed before the next one, so that it never holds all of them as columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.partial import Partial
from windrow.rows.frames import Parts
from windrow.runtime.pace import Pace
from windrow.runtime.shard import Shard
from windrow.windows.lifetime import Lifetime

__all__ = ["PIECE_UPDATES", "Piece", "parts_of", "pieces_of", "run_in_pieces", "trim"]

# So large that the batches of most jobs are one piece in every bucket.
PIECE_UPDATES = 500_000


@dataclass(frozen=True)
class Piece:
    """What a shard gave up to an instant, since the piece before."""

    until_us: int
    parts: Parts

    def partial(self) -> Partial:
        """The updates of it."""
        return Partial.from_parts(*self.parts)


def run_in_pieces(
    shard: Shard,
    rows: Mapping[int, pa.RecordBatch],
    until_us: int,
    pace: Pace,
    lifetimes: Mapping[int, Lifetime] | None = None,
) -> Parts:
    """Pass rows to the shard and run it to the clock; returns its output, for one frame.

    lifetimes: those that its windows get before the rows come; what must go by them goes first.
    """
    pieces: list[Piece] = []
    until_us = max(until_us, shard.clock)
    if lifetimes:
        pieces += _changed(shard, lifetimes)
    shard.append(
        {input_index: shard.prepared(input_index, batch) for input_index, batch in rows.items()}
    )
    if [piece.until_us for piece in pieces] != [until_us]:
        for stop, partial in pace.steps(shard, until_us):
            pieces.append(Piece(stop, partial.to_parts()))
    return parts_of(pieces)


def _changed(shard: Shard, lifetimes: Mapping[int, Lifetime]) -> list[Piece]:
    """Change lifetimes and evict rows; returns the output, once there is a clock."""
    shard.change_lifetimes(lifetimes)
    if shard.clock == START_OF_TIME:
        return []
    piece = Piece(shard.clock, shard.advance({}, shard.clock).to_parts())
    trim(shard)
    return [piece]


def trim(shard: Shard) -> None:
    """Give memory of rows back that have gone."""
    for window in shard.windows:
        window.columns.store.trim()


def parts_of(pieces: Iterable[Piece]) -> Parts:
    """Pieces in order of time, for one frame."""
    given = list(pieces)
    header = {"pieces": [[piece.until_us, piece.parts.header] for piece in given]}
    return Parts(header, [section for piece in given for section in piece.parts.sections])


def pieces_of(parts: Parts) -> list[Piece]:
    """The pieces again."""
    header, sections = parts
    sections = sections[: 2 * len(header["pieces"])]  # others are told beside it
    pairs = zip(sections[::2], sections[1::2], strict=True)  # updates and groups
    return [
        Piece(until_us, Parts(named, pair))
        for (until_us, named), pair in zip(header["pieces"], pairs, strict=True)
    ]
