"""Runs over the same streams that go together: a row is read once, and time moves once.

Each run begins as a group of its own; groups at the same clock are joined, and share the windows
that hold the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from windrow.event_time import START_OF_TIME
from windrow.events.cell_run import CellRun
from windrow.events.event_window import EventWindow
from windrow.events.group_text import Mover, Reader, mover, reader
from windrow.events.pair_run import PairRun
from windrow.events.stream_feed import StreamFeed

__all__ = ["EventGroup"]

# So many go together: the functions of a group are written anew with each that comes.
MOST_RUNS = 8


class EventGroup:
    """Runs, their windows and their clock."""

    __slots__ = (
        "_is_stale", "_move", "_read", "clock", "due", "feeds", "is_alone", "is_torn", "news",
        "runs", "steps", "windows",
    )  # fmt: skip

    def __init__(self, run: CellRun, feeds: Iterable[StreamFeed]) -> None:
        self.runs, self.windows, self.feeds = [run], list(run.windows), tuple(feeds)
        self.is_alone = isinstance(run, PairRun)  # no other may join
        self.clock = START_OF_TIME
        self.is_torn = False  # broken off in the middle, or given up
        self.steps = self.news = -1  # of the session, up to which it has followed
        self.due: list[int] | None = None  # who listens wants to know when rows enter
        self._read, self._move = self._written()

    def _written(self) -> tuple[Reader, Mover]:
        read = reader(self.feeds, self.windows, self.due)
        self._is_stale = False
        run = self.runs[0]
        if isinstance(run, PairRun):
            return read, run.move_pairs
        return read, mover(self.runs, self.windows)

    def listen(self, due: list[int]) -> None:
        """From here on the instants at which rows enter are added to these."""
        self.due, self.is_alone = due, True
        self._read, self._move = self._written()

    def complete(self) -> int:
        """Read what was gathered: through where all streams are complete."""
        if self._is_stale:
            self._read, self._move = self._written()
        return self._read()

    def move(self, clock: int) -> None:
        """Rows enter and leave."""
        self._move(clock)
        self.clock = clock

    def catch_up(self, arrived_us: int | None) -> None:
        """Read what was gathered; arrived_us: by arrival, the newest time of all streams."""
        self.is_torn = True
        if self._is_stale:
            self._read, self._move = self._written()
        clock = self._read()
        if arrived_us is not None:  # rows may be of the very instant of the clock
            clock = arrived_us
        if clock > self.clock or arrived_us is not None:
            self._move(clock)
            self.clock = clock
        self.is_torn = False

    def joins(self, other: EventGroup) -> bool:
        """Let the runs of another go together with these, if they can; it is no more.

        Both are torn until whoever asked knows which group is the one.
        """
        if (
            self.is_alone
            or other.is_alone
            or (self.clock, self.steps) != (other.clock, other.steps)
            or self.is_torn
            or len(self.runs) + len(other.runs) > MOST_RUNS
            or [each.state for each in self.feeds] != [each.state for each in other.feeds]
        ):
            return False
        self.is_torn = other.is_torn = self._is_stale = True
        for window in other.windows:
            self._take_over(window, other.runs)
        self.runs += other.runs
        return True

    def _take_over(self, window: EventWindow, runs: list[CellRun]) -> None:
        for own in self.windows:
            if own.is_like(window):
                places = own.take_over(window)
                for run in runs:
                    run.read_from(window, own, places)
                return
        self.windows.append(window)

    def leave(self, run: CellRun) -> None:
        """One of them goes, while this is torn; windows that only it has read go with it."""
        self._is_stale = True
        self.runs = [each for each in self.runs if each is not run]
        for window in run.windows:
            window.readers -= 1
        self.windows = [window for window in self.windows if window.readers]
