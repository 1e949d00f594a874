"""Rows on their way from requests to the loop that feeds a session, and the word back.

A request offers rows and gets a future, which is done when the rows are in the state of the session
and on its disk. What waits has a limit in bytes: beyond it rows are refused, and sent again later.

A producer that numbers its batches has each of them counted once, whatever is sent again: the
numbers of the latest ones are in the position, which is written with the rows.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from windrow.connectors.live import Position

if TYPE_CHECKING:
    from windrow.errors import WindrowError
    from windrow.rows.file_rows import FileRows

__all__ = [
    "PRODUCERS_LIMIT",
    "Batch",
    "FullError",
    "GapError",
    "Inbox",
    "NotReadyError",
    "RefusedError",
]

# Of so many producers the latest number is known; the one that was silent longest is forgotten.
PRODUCERS_LIMIT = 1_000


class FullError(Exception):
    """So many bytes wait already: the same rows may be offered later."""


class NotReadyError(Exception):
    """Nothing is taken yet, or any more."""


class RefusedError(Exception):
    """The session has refused rows, these or others that were applied with them; why says so."""

    def __init__(self, why: WindrowError) -> None:
        self.why = why
        super().__init__(str(why))


class GapError(Exception):
    """A number is left out: rows before these have not come. expected: the next one."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        super().__init__(expected)


@dataclass
class Batch:
    """Rows of one request; kept: done once they are."""

    rows: FileRows
    nbytes: int
    number: int
    producer: str | None = None
    sequence: int = 0
    poll: int = 0  # the number of the last batch of those that were taken with it
    refused: RefusedError | None = None
    kept: Future[None] = field(default_factory=Future)


class Inbox:
    """Of one stream. Offered by any thread; taken, and told of what is confirmed, by the loop's."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.is_served = False  # whether there is a server whose requests offer rows
        self._changed = threading.Condition()
        self._is_open = False
        self._waiting: deque[Batch] = deque()
        self._unconfirmed: deque[Batch] = deque()
        self._bytes = 0  # of both
        self._number = 0  # of the last batch that was taken in
        # Each producer's last number, the one that sent last at the end: of all that was offered,
        # and of what the loop has taken, which is what a position may say.
        self._producers: dict[str, int] = {}
        self._taken_producers: dict[str, int] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of rows that no disk has yet."""
        return self._bytes

    # ---- requests

    def offer(
        self, rows: FileRows, nbytes: int, producer: str | None = None, sequence: int = 0
    ) -> tuple[Future[None], bool]:
        """Takes rows in, all or none; and whether they were not, because they had come before."""
        with self._changed:
            if not self._is_open:
                raise NotReadyError
            if producer is not None and sequence <= self._producers.get(producer, -1):
                return self._kept_of(producer, sequence), True
            expected = self._producers.get(producer or "", sequence - 1) + 1
            if producer is not None and sequence > expected:
                raise GapError(expected)
            # What is larger than all the room is taken when nothing else waits.
            if self._bytes and self._bytes + nbytes > self.most_bytes:
                raise FullError
            batch = Batch(rows, nbytes, self._number + 1, producer, sequence)
            self._waiting.append(batch)
            self._number, self._bytes = batch.number, self._bytes + nbytes
            _remember(self._producers, batch)
            self._changed.notify_all()
            return batch.kept, False

    def _kept_of(self, producer: str, sequence: int) -> Future[None]:
        """When rows are kept that have come before; most are."""
        for batch in (*self._unconfirmed, *self._waiting):
            if (batch.producer, batch.sequence) == (producer, sequence):
                return batch.kept
        kept: Future[None] = Future()
        kept.set_result(None)
        return kept

    # ---- the loop

    def open(self, position: Position | None) -> None:
        """Rows are taken from now on, behind what the position says."""
        with self._changed:
            if position is not None and self._number == 0:
                self._number = int(position["batches"])
                self._producers = {name: int(last) for name, last in position["producers"]}
                self._taken_producers = dict(self._producers)
            self._is_open = True

    def take(self, most_rows: int, timeout_s: float) -> tuple[list[Batch], Position] | None:
        """What waits, about so many rows at most, and the position behind it."""
        with self._changed:
            if not self._waiting:
                self._changed.wait(timeout_s)
            taken: list[Batch] = []
            rows = 0
            while self._waiting and (not taken or rows + self._rows_of_next() <= most_rows):
                taken.append(self._waiting.popleft())
                rows += taken[-1].rows.num_rows
                _remember(self._taken_producers, taken[-1])
            if not taken:
                return None
            for batch in taken:
                batch.poll = taken[-1].number
            self._unconfirmed += taken
            producers = [[*each] for each in self._taken_producers.items()]
            return taken, {"batches": taken[-1].number, "producers": producers}

    def _rows_of_next(self) -> int:
        return self._waiting[0].rows.num_rows

    def refuse(self, number: int, why: WindrowError) -> None:
        """Of the rows that were taken up to that number, and together, some were refused."""
        with self._changed:
            for batch in self._unconfirmed:
                if batch.poll == number:
                    batch.refused = RefusedError(why)

    def confirm(self, number: int) -> None:
        """All batches up to that number are on the disk."""
        with self._changed:
            confirmed = []
            while self._unconfirmed and self._unconfirmed[0].number <= number:
                confirmed.append(self._unconfirmed.popleft())
                self._bytes -= confirmed[-1].nbytes
        for batch in confirmed:
            if batch.refused is None:
                batch.kept.set_result(None)
            else:
                batch.kept.set_exception(batch.refused)

    @property
    def has_unconfirmed(self) -> bool:
        """Whether somebody waits to hear that rows are kept."""
        return bool(self._unconfirmed)

    def close(self) -> None:
        """Nothing more is taken; those who wait are told that nobody knows what became of it."""
        with self._changed:
            self._is_open = False
            left = [*self._unconfirmed, *self._waiting]
            self._unconfirmed.clear()
            self._waiting.clear()
            self._bytes = 0
        for batch in left:
            batch.kept.set_exception(NotReadyError())


def _remember(producers: dict[str, int], batch: Batch) -> None:
    if batch.producer is None:
        return
    producers.pop(batch.producer, None)
    producers[batch.producer] = batch.sequence
    if len(producers) > PRODUCERS_LIMIT:
        del producers[next(iter(producers))]
