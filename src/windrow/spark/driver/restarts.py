"""Further tries for a Spark query that ended for a reason that passes by itself.

Spark gives a Python process ten seconds to connect. A task that fails so is tried again four times,
but the process that only declares the state, at the start of a query, is not: on a busy machine the
query would end before it has begun. And a port that was free may be taken by the time it is bound.
Nothing is lost: the query goes on from its checkpoint, as it does after any failure.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

__all__ = ["STARTS_LIMIT", "Restarts", "is_transient", "is_worker_late"]

_LOG = logging.getLogger(__name__)

STARTS_LIMIT = 4  # as often as Spark tries a task

_LATE = "Python worker failed to connect back"
_PASSING = {
    "no Python worker connected in time": re.compile(_LATE),
    "a port was taken": re.compile(
        r"java\.net\.BindException|Address already in use|could not bind on (?:a random|port)"
    ),
}


def is_worker_late(problem: BaseException) -> bool:
    """Whether Spark failed because a Python process took too long to start."""
    return _LATE in str(problem)


def is_transient(problem: BaseException) -> bool:
    """Whether another try may do what this one did not.

    >>> is_transient(OSError("java.net.BindException: Address already in use"))
    True
    """
    return bool(_reason(problem))


def _reason(problem: BaseException) -> str:
    text = str(problem)
    return next((reason for reason, sign in _PASSING.items() if sign.search(text)), "")


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
        reason = _reason(problem)
        if not reason or self._starts >= STARTS_LIMIT:
            return False
        self._starts += 1
        self.count += 1
        tries = f"start {self._starts} of {STARTS_LIMIT}"
        _LOG.warning("%s is restarted (%s): %s", self._what, tries, reason)
        self._run()
        return True
