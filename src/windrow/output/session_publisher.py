"""The publisher of a query over sessions: answers are of those that close, all else of the open."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.partial import Partial
from windrow.output.publish import Publisher, PublisherMark
from windrow.plan.model import QueryPlan
from windrow.rows.frames import pack, unpack

__all__ = ["SessionPublisher"]

Instants = NDArray[np.int64]


class SessionPublisher:
    """Two publishers: one is read for answers, the other for the result and its changes."""

    def __init__(self, plan: QueryPlan) -> None:
        self._plan = plan
        self._open, self._closed = Publisher(plan), Publisher(plan)

    @classmethod
    def of(cls, plan: QueryPlan, of_open: Publisher, of_closed: Publisher) -> SessionPublisher:
        """Both as one."""
        made = cls(plan)
        made._open, made._closed = of_open, of_closed
        return made

    @property
    def both(self) -> tuple[Publisher, Publisher]:
        """That of the open sessions, and that of those that close."""
        return self._open, self._closed

    @property
    def first_instant(self) -> int:
        """The first instant of all; END_OF_TIME while there was none."""
        return self._open.first_instant

    def absorb_sessions(
        self, partial: Partial, entered: Instants, closed: Partial, ends: Instants, until: int
    ) -> None:
        """Take a step to `until`, in which rows entered and sessions ended at these instants.

        closed: what there is of those that ended.
        """
        self._open.absorb([(0, partial)], entered, until)
        self._open.drop_answers()
        self._closed.absorb([(0, closed)], ends, until)
        self._closed.drop_changes()

    @property
    def unread_limit(self) -> int:
        """Bytes for answers, and for changes, that nobody has read."""
        return self._open.unread_limit

    @unread_limit.setter
    def unread_limit(self, limit_bytes: int) -> None:
        self._open.unread_limit = self._closed.unread_limit = limit_bytes

    @property
    def answers_at_ticks(self) -> bool:
        """Whether answers are due at instants of a grid: of those of rows the first one counts."""
        return self._open.answers_at_ticks

    def mark(self) -> PublisherMark:
        """How it is now."""
        return PublisherMark(self._open.mark().own, self._closed.mark())

    def rewind(self, mark: PublisherMark) -> None:
        """Roll back to the mark."""
        assert mark.closed is not None
        self._open.rewind(mark)
        self._closed.rewind(mark.closed)

    def answer_at_turns(self, turns: tuple[int, int] | None) -> None:
        """Windows of sessions take no turns."""
        assert turns is None

    def answers(self) -> pa.Table:
        """Every answer since the last call: when sessions closed, what is final of them."""
        return self._closed.answers()

    def drop_answers(self) -> None:
        """Let go of the answers that are due."""
        self._closed.drop_answers()

    def changes(self, limit: int | None = None) -> pa.Table:
        """What changed in the result since the last call."""
        return self._open.changes(limit)

    def drop_changes(self) -> None:
        """Let go of the changes so far."""
        self._open.drop_changes()

    def result(self) -> pa.Table:
        """What is so of the open sessions."""
        return self._open.result()

    def snapshot(self) -> bytes:
        """Both, as bytes."""
        parts = {"open": self._open.snapshot(), "closed": self._closed.snapshot()}
        tables = {
            name: pa.table({"bytes": pa.array([data], pa.large_binary())})
            for name, data in parts.items()
        }
        return pack("sessions", {}, tables)

    @classmethod
    def restore(cls, plan: QueryPlan, data: bytes) -> SessionPublisher:
        """The publisher that snapshot() saved."""
        _, tables = unpack("sessions", data)
        found = cls(plan)
        parts = {name: table.column(0)[0].as_py() for name, table in tables.items()}
        found._open = Publisher.restore(plan, parts["open"])
        found._closed = Publisher.restore(plan, parts["closed"])
        return found

    @property
    def instants_lost(self) -> int:
        """Answers that were dropped unread."""
        return self._closed.instants_lost

    @property
    def changes_netted(self) -> int:
        """Changes that were netted unread."""
        return self._open.changes_netted

    @property
    def starts_over(self) -> bool:
        """Whether the next changes are all rows of the result."""
        return self._open.starts_over

    @property
    def nbytes(self) -> int:
        """Bytes of both."""
        return self._open.nbytes + self._closed.nbytes

    @property
    def unread_bytes(self) -> int:
        """About this many of them are unread."""
        return self._open.unread_bytes + self._closed.unread_bytes

    def shrink(self, limit_bytes: int) -> None:
        """Drop unread output beyond this many bytes."""
        self._open.shrink(limit_bytes // 2)
        self._closed.shrink(limit_bytes // 2)

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes that this many rows may need."""
        return self._open.growth_bytes(rows) + self._closed.growth_bytes(rows)
