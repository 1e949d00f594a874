"""What a session holds for its readers: results, answers and changes that nobody has read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windrow.embedded.query import EmbeddedQuery

__all__ = ["PUBLISHED_FLOOR", "UNREAD_FLOOR", "UNREAD_PARTS", "UnreadAnswers"]

# What nobody has read may take this part of the budget, or so much in any case; beyond it, it is
# netted or dropped.
UNREAD_PARTS = 4
UNREAD_FLOOR = 1 << 20
# So much of results and of what is unread does not count, or small budgets would have no room.
PUBLISHED_FLOOR = 1 << 21


class UnreadAnswers:
    """How much of it counts, and which query must drop some.

    set_aside: bytes of rows that came late or are not applied yet, and are kept to be looked at.
    """

    def __init__(
        self,
        budget: int,
        running: Callable[[], Sequence[EmbeddedQuery]],
        set_aside: Callable[[], int],
    ) -> None:
        self.limit = max(budget // UNREAD_PARTS, UNREAD_FLOOR)
        self._running, self._set_aside = running, set_aside

    def change_budget(self, budget: int) -> None:
        """From now on the limit is that of another budget."""
        self.limit = max(budget // UNREAD_PARTS, UNREAD_FLOOR)
        for query in self._running():
            query.limit_unread(self.limit)
        self.trim()

    @property
    def counted_bytes(self) -> int:
        """Bytes that count against the budget."""
        return self._counted(0)

    def growth_bytes(self, stream: str, rows: int) -> int:
        """So many more may count when that many rows of a stream come, for a moment too."""
        reading = [query for query in self._running() if stream in query.plan.streams]
        growth = sum(query.published_growth(rows) for query in reading)
        return self._counted(growth) - self._counted(0)

    def trim(self) -> None:
        """Where all queries together exceed the limit, those with the most unread drop some.

        Each may have its part, so that one reader who does not come costs the others nothing.
        """
        running = self._running()
        if sum(query.unread_bytes for query in running) > self.limit:
            self.shrink(self.limit)

    def shrink(self, limit: int) -> None:
        """Drop unread output until all queries together have at most this many bytes of it."""
        running = self._running()
        for query in running:
            if query.unread_bytes > limit // len(running):
                query.shrink_unread(limit // len(running))

    def _counted(self, growth: int) -> int:
        held = self._set_aside() + sum(query.published_bytes for query in self._running())
        return max(0, held + growth - PUBLISHED_FLOOR)
