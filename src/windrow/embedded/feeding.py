"""The sources of a session at work: in the thread that calls, or in one of their own."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from windrow.connectors.contract import Source
from windrow.connectors.live import Position
from windrow.embedded.live_loop import STOP_WITHIN_S, LiveLoop
from windrow.embedded.live_receiver import LiveReceiver
from windrow.errors import AdmissionError, WindrowError, WindrowWarning
from windrow.schema import StreamSchema

__all__ = ["Feeding"]

_LOGGER = logging.getLogger(__name__)


class Feeding:
    """Runs a loop until all sources are done, or somebody stops it.

    after: is called when rows were taken or time has moved. noted: with each failure of others
    than the session itself. raises: whether the first failure of a
    source or a query ends it; otherwise the others go on, and progress() shows it. Rows that are
    refused for lack of memory never end it: they are counted, and told once.
    """

    def __init__(
        self,
        receiver: LiveReceiver,
        sources: Mapping[str, tuple[StreamSchema, Source]],
        positions: Mapping[str, Position],
        memory: int,
        *,
        after: Callable[[], None] = lambda: None,
        noted: Callable[[WindrowError], None] = lambda _: None,
        raises: bool,
    ) -> None:
        self._raises, self._noted = raises, noted
        self._told: set[tuple[str, str]] = set()
        self._stopping, self._ended = threading.Event(), threading.Event()
        self._stop_within_s = STOP_WITHIN_S
        self._thread: threading.Thread | None = None
        self.failure: BaseException | None = None  # what has ended it in its own thread
        given = (receiver, sources, positions, memory)
        self.loop = LiveLoop(*given, after=after, failed=self._note)

    def run(
        self, is_ending: Callable[[], bool] = lambda: False, stop_within_s: float = STOP_WITHIN_S
    ) -> None:
        """Feed the session; returns when all sources are done, or it was stopped."""
        loop, self._stop_within_s = self.loop, stop_within_s
        try:
            loop.start()
            while not loop.is_done and not self._stopping.is_set() and not is_ending():
                loop.step()
        finally:
            try:
                loop.stop(self._stop_within_s)
            finally:
                self._ended.set()

    def start(self) -> None:
        """The same in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="windrow-sources", daemon=True)
        self._thread.start()

    def stop(self, within_s: float) -> None:
        """Read no more; what was read already is taken, if that can be done within the time."""
        self._stop_within_s = within_s
        self._stopping.set()
        self.loop.queue.wake()
        if self._thread is not threading.current_thread():
            self._ended.wait(within_s + 1)

    def wait(self, timeout_s: float | None) -> bool:
        """Whether it has ended within the time."""
        return self._ended.wait(timeout_s)

    @property
    def is_running(self) -> bool:
        """Whether rows may still come."""
        return not self._ended.is_set()

    @property
    def nbytes(self) -> int:
        """Bytes that were read and are not taken yet."""
        return self.loop.nbytes if self.is_running else 0

    def _run(self) -> None:
        try:
            self.run()
        except BaseException as problem:
            self.failure = problem
            _LOGGER.error("the sources of a session have ended: %s", problem, exc_info=problem)

    def _note(self, stream: str, problem: WindrowError) -> None:
        """A source or a query has failed, or rows were refused."""
        if self._raises and not isinstance(problem, AdmissionError):
            raise problem
        self._noted(problem)
        if (stream, problem.code) not in self._told:
            self._told.add((stream, problem.code))
            _LOGGER.warning("stream %s: %s", stream, problem)
            warnings.warn(f"stream {stream!r}: {problem}", WindrowWarning, stacklevel=2)

    def progress(self) -> dict[str, dict[str, Any]]:
        """How each source stands, by its stream."""
        failure = None if self.failure is None else str(self.failure)
        return {feed.name: self._shown(feed.name, failure) for feed in self.loop.feeds}

    def _shown(self, name: str, failure: str | None) -> dict[str, Any]:
        feed = next(each for each in self.loop.feeds if each.name == name)
        standing, lag = feed.standing, feed.standing.lag
        newest_us = self.loop.newest_us(name)
        return {
            "source": feed.source.shown,
            "guarantee": feed.source.guarantee,
            "state": standing.state,
            "rows": standing.rows,
            "bytes": standing.bytes,
            "queued_bytes": self.loop.queue.nbytes_of(name),
            "position": feed.position,
            "lag": None if lag is None else lag.amount,
            "lag_unit": None if lag is None else lag.unit,
            "behind_s": None if newest_us is None else round(time.time() - newest_us / 1e6, 3),
            "retries": standing.retries,
            "problem": standing.problem or failure,
        }
