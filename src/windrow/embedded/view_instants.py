"""The instants at which rows entered the windows of a view, for a query that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from windrow.runtime.trees.view_log import ViewLog


__all__ = ["ViewInstants"]


class ViewInstants:
    """A place in the log of a view; is_answering: answers of the reader are due at its instants."""

    def __init__(self, log: ViewLog, clock: int, *, is_answering: bool) -> None:
        self._log = log
        self.until = clock
        self.is_answering = is_answering

    def release(self, until: int) -> NDArray[np.int64]:
        """Those that were not read before, up to and including `until`, each once."""
        found = self._log.instants(self.until, until)
        self.until = max(self.until, until)
        return found
