"""Ctrl-C and SIGTERM while a job runs: noted first, so that the job can stop where it is whole."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

__all__ = ["EndingError", "Interruption", "is_ending", "raise_if_ending"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# What a shell sees of a program that a signal has ended.
_ENDED_BY_SIGNAL = 128
_noted: set[int] = set()  # the interruptions, by id, whose signal has come and not been raised


def is_ending() -> bool:
    """Whether a signal has come, and what runs is about to stop where it is whole."""
    return bool(_noted)


class EndingError(BaseException):
    """A signal has come, and what was waited for is not waited for any more."""


def raise_if_ending() -> None:
    """For those who wait, in short pieces, where nothing is half done: a signal ends it."""
    if _noted:
        raise EndingError


class Interruption:
    """Within it the first signal is only noted; a second one does what it did before.

    At the end of it, a signal that came is raised: KeyboardInterrupt, or SystemExit for SIGTERM.
    """

    def __init__(self) -> None:
        self._came: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def came(self) -> bool:
        """Whether the job is to end."""
        return self._came is not None

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():  # no other may set handlers
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()
        _noted.discard(id(self))
        if self._came is None or (kind is not None and not issubclass(kind, EndingError)):
            return
        if self._came == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise SystemExit(_ENDED_BY_SIGNAL + self._came) from None

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - Python gives it
        self._came = number
        _noted.add(id(self))
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
