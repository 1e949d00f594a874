"""Failures of a start that pass by themselves: another try may do what the first one did not."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import TypeVar

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

__all__ = ["STARTS_LIMIT", "is_worker_late", "reason_that_passes", "started"]

_LOG = logging.getLogger(__name__)

Started = TypeVar("Started")

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


def reason_that_passes(problem: BaseException) -> str:
    """Why another try may help; empty where it may not.

    >>> reason_that_passes(OSError("java.net.BindException: Address already in use"))
    'a port was taken'
    """
    text = str(problem)
    return next((reason for reason, sign in _PASSING.items() if sign.search(text)), "")


def started(what: str, start: Callable[[], Started]) -> Started:
    """What start() gives, which is called a few times where Java fails for such a reason."""
    for tries in range(2, STARTS_LIMIT + 1):
        try:
            return start()
        except Py4JError as problem:
            reason = reason_that_passes(problem)
            if not reason:
                raise
            _LOG.warning("%s is started again (%d of %d): %s", what, tries, STARTS_LIMIT, reason)
    return start()
