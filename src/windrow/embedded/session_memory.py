"""What a session holds, as the governor measures it, and whether more would fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windrow.embedded.governed_windows import EmbeddedWindow, measured_windows
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.unread_answers import UnreadAnswers
from windrow.event_time import START_OF_TIME
from windrow.governor.measured_window import MeasuredWindow
from windrow.rows.shared_rows import RowPool

__all__ = ["INCOMING_PARTS", "SessionMemory"]

# A part of the budget for rows that are being taken in.
INCOMING_PARTS = 32
# A part of the budget for small tables whose growth nobody foretells.
UNFORETOLD_PARTS = 64


class SessionMemory:
    """The bytes of one session under `budget`: the governor's port.

    histories: bytes of what is not governed, but counts. set_aside: bytes of rows that no window
    holds.
    """

    def __init__(
        self,
        budget: int,
        pool: RowPool,
        running: Callable[[], list[EmbeddedQuery]],
        histories: Callable[[], int],
        set_aside: Callable[[], int],
    ) -> None:
        self.budget, self.running = budget, running
        self._pool, self._histories = pool, histories
        self.unread = UnreadAnswers(budget, running, set_aside)

    def change_budget(self, budget: int) -> None:
        """From now on it is another one."""
        self.budget = budget
        self.unread.change_budget(budget)

    @property
    def has_room(self) -> bool:
        """Whether what is held leaves room for rows that come in."""
        return self.nbytes <= self.budget - self.budget // UNFORETOLD_PARTS

    @property
    def nbytes(self) -> int:
        """Bytes of everything that the running queries and histories hold, as far as it counts."""
        held = self._pool.nbytes + sum(query.state_bytes for query in self.running())
        return held + self._histories() + self.unread.counted_bytes

    def windows(self) -> list[EmbeddedWindow]:
        """All windows of running queries, as they are."""
        return measured_windows(self.running(), self._pool)

    def windows_of(self, query: EmbeddedQuery) -> list[EmbeddedWindow]:
        """The windows of one query, as if no other read them."""
        return measured_windows([query], self._pool)

    def clock_us(self) -> int:
        """The latest instant through which a query has answered."""
        return max((query.clock for query in self.running()), default=START_OF_TIME)

    def history_bytes(self) -> int:
        """Bytes of histories."""
        return self._histories()

    def fixed_bytes(self) -> float:
        """What counts against the budget and lies in no window."""
        # A query that reads views alone has no window.
        others = sum(query.state_bytes for query in self.running() if not query.plan.inputs)
        return float(self._histories() + self.unread.counted_bytes + others)

    def available_bytes(self, windows: Sequence[MeasuredWindow]) -> float:
        """The budget less what is needed while rows come in and arrays are copied to grow.

        One array of one window, with few rows, exists twice while it grows.
        """
        usable = self.budget - self.budget / INCOMING_PARTS
        timed = [each for each in windows if each.has_width]
        total = sum(each.rows * each.row_bytes for each in timed)
        parts = [each.rows * each.row_bytes / total if total else 1.0 for each in timed]
        copied = [each.copied_bytes(part * usable) for each, part in zip(timed, parts, strict=True)]
        # Whatever is copied is a part of what there is room for.
        most = max(copied, default=0.0)
        return usable * usable / (usable + most)

    def reclaim(self) -> None:
        """Give back the memory of rows that have left."""
        for window in self.windows():
            window.store.trim()

    def fits(self, stream: str, rows: int, more_bytes: float) -> bool:
        """Whether there is room for that many rows of a stream, and for more bytes of theirs."""
        held, most = self.nbytes + self.unread.growth_bytes(stream, rows), 0
        held += int(more_bytes)
        for window in self.windows():
            if window.stream != stream:
                continue
            columns = window.store.nbytes_of_all
            after, meanwhile = window.store.bytes_after(rows)
            held += after - columns
            most = max(most, meanwhile - after)
        reading = [query for query in self.running() if stream in query.plan.streams]
        held += sum(query.growth_bytes(rows) for query in reading)
        return held + most <= self.budget - self.budget // UNFORETOLD_PARTS
