"""Answers that were judged and that nobody has read: they wait here, within limits."""

from __future__ import annotations

import pyarrow as pa

from windrow.backlog import Backlog, joined_rows
from windrow.output.unread_limit import UNREAD_BYTES

__all__ = ["ANSWERS_LIMIT", "GivenAnswers"]

# Of unread bounded answers this many of the newest rows are kept, the others counted as lost.
ANSWERS_LIMIT = 1_000_000


class GivenAnswers:
    """Answers with levels and bounds, until they are read."""

    def __init__(self) -> None:
        self.waiting: Backlog[pa.Table] = Backlog(joined_rows)
        self._next = 0  # the number of the first row that nobody has read
        self._empty: pa.Table | None = None
        self.rows_lost = 0
        self.unread_limit = UNREAD_BYTES

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self.waiting)

    @property
    def is_new(self) -> bool:
        """Whether there were no answers yet, so that nobody knows what they look like."""
        return self._empty is None

    def add(self, answers: pa.Table) -> None:
        """More of them."""
        self._empty = answers.schema.empty_table()
        self.waiting.append(answers)

    def trim(self) -> None:
        """Keep within the limits."""
        self._lose(self.waiting.end - self._next - ANSWERS_LIMIT)
        self.shrink(self.unread_limit)

    def take(self) -> pa.Table:
        """All of them, which are then read."""
        given = pa.concat_tables([self._empty, *self.unread()])
        self._let_go(self.waiting.end)
        return given

    def unread(self) -> list[pa.Table]:
        """What nobody has read."""
        return self.waiting.since(self._next)

    def shrink(self, limit_bytes: int) -> None:
        """Let go of the older half of the answers until they take no more bytes than that."""
        while self.waiting.nbytes > limit_bytes and self._next < self.waiting.end:
            self._lose((self.waiting.end - self._next + 1) // 2)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.waiting.nbytes

    def _lose(self, count: int) -> None:
        if count > 0:
            self.rows_lost += count
            self._let_go(self._next + count)

    def _let_go(self, number: int) -> None:
        self._next = number
        self.waiting.drop_before(number)
