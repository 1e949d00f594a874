"""A second try for a Spark query that ended before its first batch for want of a Python worker.

Spark gives a Python process ten seconds to connect. A task that fails so is tried again, but the
process that only declares the state, at the start of a query, is not: on a busy machine the query
would end before it has begun.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

__all__ = ["STARTS_LIMIT", "FirstStart", "is_worker_late"]

_LOG = logging.getLogger(__name__)

STARTS_LIMIT = 4  # as often as Spark tries a task

_LATE = "Python worker failed to connect back"


def is_worker_late(problem: BaseException) -> bool:
    """Whether Spark failed because a Python process took too long to start."""
    return _LATE in str(problem)


class FirstStart:
    """Counts the starts of a query, and starts it again while nothing of it has run."""

    def __init__(self, what: str, run: Callable[[], None]) -> None:
        self._what = what
        self._run = run
        self._starts = 0
        self._has_run = False

    def begun(self) -> None:
        """Somebody has started the query."""
        self._starts, self._has_run = 1, False

    def batch_came(self) -> None:
        """A batch has been run: what fails from now on is no matter of the start."""
        self._has_run = True

    def again(self, problem: BaseException) -> bool:
        """Starts the query once more where that may help; whether it did."""
        if self._has_run or self._starts >= STARTS_LIMIT or not is_worker_late(problem):
            return False
        self._starts += 1
        _LOG.warning("%s is restarted: no Python worker connected in time", self._what)
        self._run()
        return True
