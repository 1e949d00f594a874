"""One stream as runs read it: its gathered rows, and how far it is complete by them."""

from __future__ import annotations

from windrow.event_time import MAX_EVENT_TIME, START_OF_TIME
from windrow.rows.gathered_rows import GatheredRows

__all__ = ["StreamFeed"]


class StreamFeed:
    """ahead_us and ties_us are those of its Completeness.

    position: how many of the gathered rows were read, through where the stream is complete by
    them, and up to where rows are believed: later ones must be judged.
    """

    __slots__ = ("ahead_us", "gathered", "name", "position", "ties_us", "time_place")

    def __init__(
        self, name: str, gathered: GatheredRows, time_place: int, ahead_us: int, ties_us: int
    ) -> None:
        self.name, self.gathered, self.time_place = name, gathered, time_place
        self.ahead_us, self.ties_us = ahead_us, ties_us
        self.position = [0, START_OF_TIME, START_OF_TIME]

    @property
    def state(self) -> tuple[str, list[int]]:
        """Of which stream it is, and how far."""
        return self.name, self.position

    def begin(self, through: int, believed_us: int) -> None:
        """From here on it follows: all rows before are applied."""
        self.position[:] = (0, through, min(believed_us, MAX_EVENT_TIME - 1))
