"""Says that something is being compiled, where it takes so long that one would wonder.

Kernels are compiled when the first query of a form needs them. A command says so on stderr, a
prompt of Python too; elsewhere it goes to the log, where nobody sees it who does not ask for it.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["CompileWatch", "say_compiling", "telling"]

# So much compiling is let pass in silence.
PATIENCE_S = 0.5
# Kernels that are compiled within this time of each other are reported once.
LULL_S = 2.0
COMPILING = "Compiling for a new form of query; this takes some seconds, once on this machine."
COMPILING_AGAIN = (
    "Compiling for a new form of query; this takes some seconds at every start, as compiled code "
    "cannot be cached: set NUMBA_CACHE_DIR to a writable folder."
)

_LOG = logging.getLogger(__name__)
_listeners: list[Callable[[str], None]] = []


@contextmanager
def telling(say: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, `say` is called with reports about compiling, by any thread."""
    _listeners.append(say)
    try:
        yield
    finally:
        _listeners.remove(say)


def say_compiling(text: str) -> None:
    """Notifies listeners; otherwise a person at Python's prompt; otherwise the log."""
    if _listeners:
        _listeners[-1](text)
    elif hasattr(sys, "ps1") and sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    else:
        _LOG.info("%s", text)


class Alarm(Protocol):
    """What rings after a while unless it is stopped: a threading.Timer."""

    daemon: bool

    def start(self) -> None:
        """Lets the time run."""

    def cancel(self) -> None:
        """Does not ring any more."""


class CompileWatch:
    """Counts the seconds of a spell of compiling; one thread at a time compiles."""

    def __init__(
        self,
        say: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        alarm: Callable[[float, Callable[[], None]], Alarm] = threading.Timer,
    ) -> None:
        self._say = say
        self._clock = clock
        self._new_alarm = alarm
        self._alarm: Alarm | None = None
        self._depth = 0
        self._began = 0.0
        self._ended = float("-inf")
        self._spent_s = 0.0
        self._is_told = False

    def begin(self) -> None:
        """A kernel is being compiled; those that it calls are compiled within."""
        self._depth += 1
        if self._depth > 1:
            return
        self._began = self._clock()
        if self._began - self._ended > LULL_S:
            self._spent_s, self._is_told = 0.0, False
        if not self._is_told:
            self._alarm = self._new_alarm(max(PATIENCE_S - self._spent_s, 0.0), self._ring)
            self._alarm.daemon = True
            self._alarm.start()

    def end(self) -> None:
        """It has been compiled, or has failed."""
        self._depth -= 1
        if self._depth > 0:
            return
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._ended = self._clock()
        self._spent_s += self._ended - self._began

    def _ring(self) -> None:
        self._is_told = True
        self._say()
