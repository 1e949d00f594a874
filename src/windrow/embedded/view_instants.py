"""The instants at which rows entered the windows of a view, for a query that reads it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.runtime.trees.view_log import ViewLog

__all__ = ["ViewInstants"]


class ViewInstants:
    """A place in the log of a view: answers of a reader are due at its instants, too."""

    def __init__(self, log: ViewLog, clock: int) -> None:
        self._log = log
        self.until = clock

    def release(self, until: int) -> NDArray[np.int64]:
        """Those that were not read before, up to and including `until`, each once."""
        found = self._log.instants(self.until, until)
        self.until = max(self.until, until)
        return found
