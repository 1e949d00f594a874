"""Searches for better groups of windows in a background thread, off the data path."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from windrow.governor.c_support import need_of
from windrow.governor.figures import WindowFigures
from windrow.governor.groups.solve import TIME_LIMIT_S

__all__ = ["BetterGroups"]


class BetterGroups:
    """One search at a time; a newer one makes the result of an older one void."""

    def __init__(self) -> None:
        self._number = 0
        self._found: dict[str, int] | None = None
        self._lock = threading.Lock()

    def look_for(self, figures: Sequence[WindowFigures], least_bytes: float) -> None:
        """Begin a search for groups of which less memory than that is enough."""
        with self._lock:
            self._number += 1
            self._found = None
            number = self._number
        arguments = (number, tuple(figures), least_bytes)
        thread = threading.Thread(target=self._search, args=arguments, daemon=True)
        thread.start()

    def take(self) -> dict[str, int] | None:
        """The groups that the last search has found, by window, once."""
        with self._lock:
            found, self._found = self._found, None
            return found

    def _search(self, number: int, figures: Sequence[WindowFigures], least_bytes: float) -> None:
        need = need_of(figures, TIME_LIMIT_S)
        if need.least_bytes < least_bytes:
            groups = need.grouping.groups.tolist()
            with self._lock:
                if number == self._number:
                    self._found = dict(zip(need.turning.windows, groups, strict=True))
