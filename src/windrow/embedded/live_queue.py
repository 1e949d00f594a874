"""What sources have given and the session has not taken yet, up to so many bytes."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Literal

from windrow.connectors.live import Polled
from windrow.errors import WindrowError

__all__ = ["Arrival", "LiveQueue"]


@dataclass(frozen=True)
class Arrival:
    """What came of a source: rows, or what became of the source itself.

    problem: why a source has failed. oldest_us, newest_us: the times of rows, if they have any.
    """

    what: Literal["rows", "caught up", "done", "failed"]
    polled: Polled | None = None
    oldest_us: int | None = None
    newest_us: int | None = None
    problem: WindrowError | None = None

    @property
    def nbytes(self) -> int:
        """About the bytes that it holds."""
        return 0 if self.polled is None else self.polled.nbytes


class LiveQueue:
    """First in, first out for each source; a source that has no room waits, and reads no more.

    What is larger than all the room of its source is taken when nothing else of it waits, so that
    it holds at most that room and one arrival for each source.
    """

    def __init__(self, names: list[str], most_bytes: int) -> None:
        self._waiting: dict[str, deque[Arrival]] = {name: deque() for name in names}
        self._bytes = dict.fromkeys(names, 0)
        self._most_bytes = most_bytes // max(1, len(names))
        self._changed = threading.Condition()
        self._is_closed = False

    @property
    def nbytes(self) -> int:
        """Bytes of all that waits."""
        return sum(self._bytes.values())

    def nbytes_of(self, name: str) -> int:
        """Bytes of what waits of one source."""
        return self._bytes[name]

    def has_room(self, name: str) -> bool:
        """Whether a source may read on."""
        return self._bytes[name] < self._most_bytes or not self._waiting[name]

    def put(self, name: str, arrival: Arrival, *, waits: bool = True) -> bool:
        """Add it once there is room; False: the queue was closed, and takes nothing more."""
        with self._changed:
            while waits and not self.has_room(name) and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                return False
            self._waiting[name].append(arrival)
            self._bytes[name] += arrival.nbytes
            self._changed.notify_all()
            return True

    def first(self, name: str) -> Arrival | None:
        """What comes next of a source; it stays where it is."""
        waiting = self._waiting[name]
        return waiting[0] if waiting else None

    def remove_first(self, name: str) -> None:
        """What came first was taken."""
        with self._changed:
            self._bytes[name] -= self._waiting[name].popleft().nbytes
            self._changed.notify_all()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not any(self._waiting.values())

    def wait(self, timeout_s: float) -> None:
        """Return when something comes, or after the time."""
        with self._changed:
            if not self._is_closed:
                self._changed.wait(timeout_s)

    def close(self) -> None:
        """Take nothing more; those who wait for room are told so."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def wake(self) -> None:
        """Let those who wait look again."""
        with self._changed:
            self._changed.notify_all()
