"""One source of a session, polled in a thread of its own, and opened again when it fails.

All that is done with a reader is done in that thread, so that readers need no locks.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from windrow.connectors.contract import Source
from windrow.connectors.live import Lag, LiveReader, Polled, Position, TransientError
from windrow.embedded.live_queue import Arrival, LiveQueue
from windrow.embedded.newest_time import times_between
from windrow.errors import DataError, WindrowError
from windrow.schema import StreamSchema

__all__ = ["BACKOFF_MOST_S", "MOST_ROWS", "POLL_S", "FeedStanding", "LiveFeed"]

_LOGGER = logging.getLogger(__name__)

# A reader is asked for about so many rows at once, and waits for them no longer than this.
MOST_ROWS = 65_536
POLL_S = 0.2
# After a failure it is tried again after so long, then after twice that, up to the longest.
BACKOFF_FIRST_S = 0.1
BACKOFF_MOST_S = 30.0
# Waits differ by up to so much, so that many who lost one server do not return as one.
BACKOFF_SPREAD = 0.25


@dataclass
class FeedStanding:
    """How a source stands.

    state: 'starting', 'catching up', 'live', 'failing', 'done', 'failed' or 'stopped'. retries:
    failures that passed, or may; since the last rows came: failures_in_a_row.
    """

    state: str = "starting"
    rows: int = 0
    bytes: int = 0
    lag: Lag | None = None
    retries: int = 0
    failures_in_a_row: int = 0
    problem: str | None = None


class LiveFeed:
    """Polls one source; `step` does one piece of that, `start` does it in a thread."""

    def __init__(
        self,
        schema: StreamSchema,
        source: Source,
        position: Position | None,
        queue: LiveQueue,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.schema, self.source, self.name = schema, source, schema.name
        self.standing = FeedStanding()
        self.position = position  # behind all that the queue was given
        self.confirmed_at: Position | None = None  # set by the loop: what the reader may forget
        self.refusals: deque[tuple[Position, WindrowError]] = deque()  # added to by the loop
        self._queue, self._monotonic = queue, monotonic
        self._reader: LiveReader | None = None
        self._told: Position | None = None  # the last position of which the reader knows
        self._retry_at_s = 0.0
        self._may_poll, self._may_close = threading.Event(), threading.Event()
        self._may_poll.set()
        self._thread: threading.Thread | None = None

    # ---- in the loop's thread

    def start(self) -> None:
        """Poll in a thread of its own from now on."""
        name = f"windrow-source-{self.name}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def stop_polling(self) -> None:
        """Poll no more; the reader stays open until close()."""
        self._may_poll.clear()

    def close(self, timeout_s: float) -> None:
        """Tell the reader what is confirmed, and close it; wait no longer than the time."""
        self._may_poll.clear()
        self._may_close.set()
        if self._thread is None:
            self._end()
        else:
            self._thread.join(timeout_s)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing more comes of it."""
        return self.has_ended or self._is_idle or (self._thread is None and not self._polls)

    @property
    def _polls(self) -> bool:
        return self._may_poll.is_set()

    @property
    def has_ended(self) -> bool:
        """Whether it is done, or has failed for good."""
        return self.standing.state in ("done", "failed")

    @property
    def is_catching_up(self) -> bool:
        """Whether older rows are surely on their way; of one that fails nobody knows."""
        return self.standing.state in ("starting", "catching up")

    # ---- in its own thread

    _is_idle = False

    def _run(self) -> None:
        try:
            while self._may_poll.is_set() and not self.has_ended:
                self.step(POLL_S)
            self._is_idle = True
            self._queue.wake()
            self._may_close.wait()
        finally:
            self._is_idle = True
            self._end()

    def step(self, timeout_s: float, *, waits: bool = True) -> None:
        """Poll once, or wait for the moment at which a reader is to be opened again."""
        standing = self.standing
        try:
            self._tell_confirmed()
            if self._reader is None:
                if self._must_wait(timeout_s):
                    return
                self._reader = self.source.open_live(self.schema, self.position)
            polled = self._reader.poll(MOST_ROWS, timeout_s)
            is_done = self._reader.is_done
        except (TransientError, OSError) as problem:
            self._fail(problem)
            return
        except Exception as problem:
            self._give_up(_known(self.name, problem))
            return
        standing.failures_in_a_row, standing.problem = 0, None
        if polled is not None:
            self._take(polled, waits=waits)
        has_caught_up = polled is None or (polled.lag is not None and polled.lag.has_caught_up)
        if has_caught_up and standing.state != "live":
            self._queue.put(self.name, Arrival("caught up"), waits=False)
        standing.state = "live" if has_caught_up else "catching up"
        if is_done:
            standing.state = "done"
            self._queue.put(self.name, Arrival("done"), waits=False)

    def _must_wait(self, timeout_s: float) -> bool:
        left_s = self._retry_at_s - self._monotonic()
        if left_s <= 0:
            return False
        if self._thread is not None:
            time.sleep(min(left_s, timeout_s))
        return True

    def _take(self, polled: Polled, *, waits: bool) -> None:
        between = times_between(self.schema, polled.rows.batch) or (None, None)
        self.standing.lag = polled.lag
        if self._queue.put(self.name, Arrival("rows", polled, *between), waits=waits):
            self.position = polled.position

    def _fail(self, problem: Exception) -> None:
        """What may pass: the reader is opened again after a while, where it was."""
        standing = self.standing
        standing.state, standing.retries = "failing", standing.retries + 1
        standing.problem = f"{type(problem).__name__}: {problem}"
        wait_s = min(BACKOFF_MOST_S, BACKOFF_FIRST_S * 2 ** min(standing.failures_in_a_row, 16))
        wait_s *= 1 + random.uniform(-BACKOFF_SPREAD, BACKOFF_SPREAD)
        standing.failures_in_a_row += 1
        self._retry_at_s = self._monotonic() + wait_s
        _LOGGER.warning("%s: %s; again in %.1f s", self.name, standing.problem, wait_s)
        self._close_reader()

    def _give_up(self, problem: WindrowError) -> None:
        self.standing.state, self.standing.problem = "failed", str(problem)
        self._close_reader()
        self._queue.put(self.name, Arrival("failed", problem=problem), waits=False)

    def _tell_confirmed(self) -> None:
        confirmed = self.confirmed_at
        while self.refusals and self._reader is not None:
            self._reader.rejected(*self.refusals.popleft())
        if confirmed is not None and confirmed is not self._told and self._reader is not None:
            self._reader.confirmed(confirmed)
            self._told = confirmed

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is None:
            return
        try:
            reader.close()
        except Exception as problem:
            # What was read counts already, whatever the other side says at the end.
            _LOGGER.warning("%s could not be closed: %s", self.name, problem)

    def _end(self) -> None:
        try:
            self._tell_confirmed()
        except Exception as problem:
            _LOGGER.warning("%s could not be told what is confirmed: %s", self.name, problem)
        self._close_reader()
        if not self.has_ended:
            self.standing.state = "stopped"


def _known(stream: str, problem: Exception) -> WindrowError:
    """An error of ours; what another library raised becomes one."""
    if isinstance(problem, WindrowError):
        return problem
    _LOGGER.error("the source of stream %s failed", stream, exc_info=problem)
    return DataError(
        "WD530",
        f"the source of stream {stream!r} failed: {type(problem).__name__}: {problem}",
        hint="look at what it says; the rows before it count, and the source goes on behind them "
        "when it is started again",
    )
