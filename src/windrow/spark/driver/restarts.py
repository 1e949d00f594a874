"""Further tries for a Spark query that ended for a reason that passes by itself.

Spark gives a Python process ten seconds to connect. A task that fails so is tried again four times,
but the process that only declares the state, at the start of a query, is not: on a busy machine the
query would end before it has begun. And a port that was free may be taken by the time it is bound.
Nothing is lost: the query goes on from its checkpoint, as it does after any failure.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from windrow.spark.processes.transient import STARTS_LIMIT, reason_that_passes

__all__ = ["Restarts"]

_LOG = logging.getLogger(__name__)


class Restarts:
    """Counts the starts of a query in a row, and starts it again where that may help."""

    def __init__(self, what: str, run: Callable[[], None]) -> None:
        self._what = what
        self._run = run
        self._starts = 0
        self.count = 0  # in all

    def begun(self) -> None:
        """Somebody has started the query."""
        self._starts = 1

    def batch_done(self) -> None:
        """A batch is through: what fails from now on fails for the first time."""
        self._starts = 1

    def again(self, problem: BaseException) -> bool:
        """Starts the query once more where that may help; whether it did."""
        reason = reason_that_passes(problem)
        if not reason or self._starts >= STARTS_LIMIT:
            return False
        self._starts += 1
        self.count += 1
        tries = f"start {self._starts} of {STARTS_LIMIT}"
        _LOG.warning("%s is restarted (%s): %s", self._what, tries, reason)
        self._run()
        return True
