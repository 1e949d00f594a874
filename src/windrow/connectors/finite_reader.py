"""A source with an end, read as if it were live: its batches, counted, and then no more."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from windrow.connectors.live import LiveReader, Polled, Position

if TYPE_CHECKING:
    from windrow.connectors.contract import Source
    from windrow.schema import StreamSchema

__all__ = ["FiniteReader"]


class FiniteReader(LiveReader):
    """The batches of a source; the position is their number, so that it must stay as it is."""

    def __init__(self, source: Source, schema: StreamSchema, position: Position | None) -> None:
        self._read = 0 if position is None else int(position["batches"])
        self._batches = islice(source.read(schema), self._read, None)
        self._is_done = False

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The next batch, as large as the source makes it."""
        rows, _ = next(self._batches, (None, 1.0))
        if rows is None:
            self._is_done = True
            return None
        self._read += 1
        return Polled(rows, {"batches": self._read})

    @property
    def is_done(self) -> bool:
        """Whether all batches were given."""
        return self._is_done
