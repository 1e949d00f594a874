"""Searches for better groups of windows in a background thread, off the data path."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from windrow.governor.admission import Refused
from windrow.governor.decide import decide
from windrow.governor.tables import Decision, Demand, WindowState

__all__ = ["BetterGroups"]


class BetterGroups:
    """One search at a time; a newer one makes the result of an older one void."""

    def __init__(self) -> None:
        self._number = 0
        self._found: Decision | None = None
        self._lock = threading.Lock()

    def look_for(
        self,
        windows: Sequence[WindowState],
        demands: Sequence[Demand],
        budget: float,
        fixed_bytes: float,
        at_us: int,
    ) -> None:
        """Begin a search for these tables."""
        with self._lock:
            self._number += 1
            self._found = None
            number = self._number
        arguments = (list(windows), list(demands), budget, fixed_bytes, at_us)
        thread = threading.Thread(target=self._search, args=(number, *arguments), daemon=True)
        thread.start()

    def take(self) -> Decision | None:
        """What the last search has found, once."""
        with self._lock:
            found, self._found = self._found, None
            return found

    def _search(
        self,
        number: int,
        windows: list[WindowState],
        demands: list[Demand],
        budget: float,
        fixed_bytes: float,
        at_us: int,
    ) -> None:
        quick = decide(windows, demands, budget, fixed_bytes, at_us, quick=True)
        found = decide(windows, demands, budget, fixed_bytes, at_us)
        if isinstance(found, Refused) or isinstance(quick, Refused):
            return
        if found.least_bytes < quick.least_bytes:
            with self._lock:
                if number == self._number:
                    self._found = found
