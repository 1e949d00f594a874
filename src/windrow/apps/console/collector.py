"""One thread for each session that reads its queries' feeds off, so that nothing piles up there."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["COLLECT_S", "Collector"]

# How often feeds are read: twice as often as clients are updated.
COLLECT_S = 0.1


class Collector:
    """Calls `collect` again and again until it is stopped."""

    def __init__(self, collect: Callable[[], None], every_s: float = COLLECT_S) -> None:
        self._collect, self._every_s = collect, every_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="windrow-collector", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends, after it has collected once more."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self._every_s):
            self._collect()
        self._collect()
