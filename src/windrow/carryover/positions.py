"""Where the sources of a query on Spark stood: all that Spark needs to read on from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from windrow.errors import CheckpointError

__all__ = ["NO_OFFSET", "Positions", "positions_for"]

# What Spark writes for a source that has given nothing yet.
NO_OFFSET = "-"


@dataclass(frozen=True)
class Positions:
    """After a batch, in the order of the query's sources; the control stream is the last one.

    lines: an offset of each source, as Spark writes it. logs: what file sources have noted, by
    number of the source and name of the file, such as '0/12'. pending: of a batch that was begun
    and is not over, what Spark had written of it: the line of its facts, then its offsets.
    """

    lines: tuple[str, ...]
    logs: Mapping[str, bytes] = field(default_factory=dict)
    pending: tuple[str, ...] = ()

    @property
    def elsewhere(self) -> Positions:
        """The same for another checkpoint, which has orders of its own and begins its batches."""
        control = f"{len(self.lines) - 1}/"
        logs = {name: data for name, data in self.logs.items() if not name.startswith(control)}
        return Positions((*self.lines[:-1], NO_OFFSET), logs)


def positions_for(
    positions: Positions, query: str, before: Sequence[str], now: Sequence[str]
) -> Positions:
    """Those of a query over these streams, where the one before read others, in another order."""
    if list(before) == list(now):
        return positions
    if len(positions.lines) != len(before) + 1:
        raise CheckpointError(
            "WC435",
            f"the places of the sources of query {query!r} are {len(positions.lines) - 1}, of "
            f"{len(before)} streams: which are of which is not known",
            hint="name the same streams in the same order, or make each stream of one source",
        )
    places = [*(before.index(stream) for stream in now), len(before)]
    logs = {
        f"{place}/{name.partition('/')[2]}": data
        for place, old in enumerate(places)
        for name, data in positions.logs.items()
        if name.startswith(f"{old}/")
    }
    return replace(positions, lines=tuple(positions.lines[old] for old in places), logs=logs)
