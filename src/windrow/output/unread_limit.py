"""How much of what nobody has read a feed keeps, in bytes, and who loses first.

The reader that lags most loses: the older half of answers is dropped, repeatedly; changes are
netted, which loses nothing of what they add up to. Where even the net changes are too many, because
the reader would get retractions of many rows that are long gone, changes start over: the next ones
are all rows of the result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["UNREAD_BYTES", "BoundedFeed"]

# The default for unread output, in addition to the result itself.
UNREAD_BYTES = 64 << 20
# A feed is looked through when it has grown by this part of the result at least.
GROWTH_PARTS = 4
# Instants alone may take this part of the limit.
INSTANTS_PARTS = 4


class BoundedFeed(ABC):
    """A feed that can be made smaller."""

    _kept_bytes = 0  # those of the result and its tables when it was last looked through

    def keep_within(self, limit_bytes: int) -> None:
        """Stay within the size of the result plus about this many bytes."""
        growth = self.nbytes - self._kept_bytes
        if growth > max(limit_bytes, self._kept_bytes // GROWTH_PARTS):
            self.shrink(limit_bytes)

    def shrink(self, limit_bytes: int) -> None:
        """Drop unread output until it takes half of the limit, in addition to the result."""
        self._compact()
        self._kept_bytes = self._result_bytes()
        while self.nbytes > self._kept_bytes + limit_bytes // 2 and self._lose_some(limit_bytes):
            self._compact()

    def lose_some(self, limit_bytes: int) -> bool:
        """Let go of a part of what is unread, however large it is; False where nothing is left."""
        is_less = self._lose_some(limit_bytes)
        self._compact()
        return is_less

    def _lose_some(self, limit_bytes: int) -> bool:
        """Let go of a part; False where nothing is left."""
        answers, changes = self._unread_updates()
        if answers and answers >= changes:
            self._lose_answers((answers + 1) // 2)
        elif changes:
            self._net_changes()
        elif INSTANTS_PARTS * self._instant_bytes > limit_bytes:
            self._lose_instants()
        else:
            return self._start_over()
        return True

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of everything."""

    @property
    def unread_bytes(self) -> int:
        """About this many are unread."""
        return max(0, self.nbytes - self._kept_bytes)

    @property
    @abstractmethod
    def _instant_bytes(self) -> int: ...

    @abstractmethod
    def _result_bytes(self) -> int:
        """Bytes that stay when nothing is unread."""

    @abstractmethod
    def _unread_updates(self) -> tuple[int, int]:
        """How many updates answers() and changes() have not read; without netted ones."""

    @abstractmethod
    def _compact(self) -> None:
        """Drop what nothing refers to."""

    @abstractmethod
    def _lose_answers(self, updates: int) -> None:
        """Skip the first updates; answers between them are lost and counted."""

    @abstractmethod
    def _lose_instants(self) -> None: ...

    @abstractmethod
    def _net_changes(self) -> None: ...

    @abstractmethod
    def _start_over(self) -> bool:
        """Changes begin with the whole result; False where they are no smaller for it."""
