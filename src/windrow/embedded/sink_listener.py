"""A sink that is told whenever something has happened in a session."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from windrow.embedded.outlet import Outlet

if TYPE_CHECKING:
    from windrow.embedded.ingest import Ingest

__all__ = ["SinkListener"]


class SinkListener:
    """Drains a query once a push is done, in the same thread, as those who have subscribed."""

    def __init__(self, outlet: Outlet, ingest: Ingest, lock: threading.RLock) -> None:
        self._outlet, self._ingest, self._lock = outlet, ingest, lock
        ingest.listening.append(self)

    def tell(self, problems: list[Exception]) -> bool:
        """Drains it; what the sink raises is raised by the push."""
        try:
            self._outlet.drain()
        except Exception as problem:
            problems.append(problem)
        return False  # nobody waits for a further round

    def expect_batch(self) -> None:
        """It has no run beside the shards."""

    keep_up = expect_batch

    def look(self) -> None:
        """Drains it now: time may have passed without a push."""
        with self._lock:
            self._outlet.drain()

    def close(self) -> None:
        """Ends it; what its sink has not written yet, it writes."""
        with self._lock:
            if self in self._ingest.listening:
                self._ingest.listening.remove(self)
        self._outlet.close()
