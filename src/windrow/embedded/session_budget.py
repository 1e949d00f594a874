"""The memory of a session, which can be changed while it runs: down as far as its queries allow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from windrow.memory_size import memory_of

if TYPE_CHECKING:
    from windrow.embedded.ingest import Ingest

__all__ = ["SessionBudget"]


class SessionBudget:
    """A session whose budget is an attribute that can be set."""

    _lock: threading.RLock
    _ingest: Ingest
    _flush: Callable[[], None]

    @property
    def memory(self) -> int:
        """The budget in bytes; it can be set, also as a text.

        With less memory windows become as narrow as their queries allow; where that is not enough,
        the old budget stays (WA103). With more, they become wider as time passes.

        >>> import windrow
        >>> session = windrow.connect(memory="64 MB")
        >>> session.memory = "32 MB"
        >>> session.memory
        33554432
        """
        return self._ingest.governing.memory_budget

    @memory.setter
    def memory(self, memory: str | int) -> None:
        budget = memory_of(memory)
        with self._lock:
            self._check_memory_may_change()
            self._flush()
            self._change_memory(budget)

    def _change_memory(self, budget: int) -> None:
        self._ingest.governing.change_budget(budget)
        self._ingest.memory = budget

    def _check_memory_may_change(self) -> None:
        """Raise where it may not."""
