"""Replays rows at a pace: a thread that pushes each piece when its event time has come."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from windrow.errors import WindrowError

__all__ = ["Piece", "Player"]

_LOG = logging.getLogger(__name__)

# What was missed beyond this, while nobody took rows, is not made up for by haste.
BEHIND_S = 1.0


@dataclass(frozen=True)
class Piece:
    """Rows by stream that are there when event time reaches until_us; None: at once."""

    until_us: int | None
    rows: Mapping[str, Any]  # in a form that sessions take


class Player:
    """Gives pieces to `take`, then calls `end`.

    pace: seconds of event time in a second; None: as fast as they are taken. failed: is told what
    goes wrong with a piece; the next one is tried all the same, as one query that fails does not
    end the others. stopping: where somebody else says when to stop.
    """

    def __init__(
        self,
        pieces: Iterable[Piece],
        take: Callable[[str, Any], None],
        end: Callable[[], None],
        failed: Callable[[WindrowError], None],
        pace: float | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        self._pieces, self._take, self._end, self._failed = pieces, take, end, failed
        self._pace = pace
        self._stopping = stopping or threading.Event()
        self._thread = threading.Thread(target=self._run, name="windrow-player", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the piece in hand."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            self._play()
        except Exception as problem:  # of the pieces themselves: a file that cannot be read
            self._failed(_known(problem))
            return
        if not self._stopping.is_set():
            self._tried(self._end)

    def _play(self) -> None:
        due_s, before_us = time.monotonic(), None
        for piece in self._pieces:
            if self._pace and piece.until_us is not None:
                passed_us = 0 if before_us is None else piece.until_us - before_us
                due_s = max(due_s + passed_us / 1e6 / self._pace, time.monotonic() - BEHIND_S)
                before_us = piece.until_us
                self._stopping.wait(max(0.0, due_s - time.monotonic()))
            if self._stopping.is_set():
                return
            for stream, rows in piece.rows.items():
                self._tried(partial(self._take, stream, rows))

    def _tried(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as problem:
            self._failed(_known(problem))


def _known(problem: Exception) -> WindrowError:
    """An error of ours; a fault, which nobody would see who only looks at results, becomes one."""
    if isinstance(problem, WindrowError):
        return problem
    _LOG.error("an error while rows were replayed", exc_info=problem)
    return WindrowError(
        "WX501",
        f"a bug in Windrow while rows were replayed: {type(problem).__name__}",
        hint="look at the output where it runs, and report it",
    )
