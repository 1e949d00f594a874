"""The loop that feeds a session from its sources: one for all of them, however many they are.

Each source is polled in a thread of its own into a queue with a limit in bytes. The loop alone
takes from the queue: it gives rows to the session together with the position behind them, lets
those who want it read the answers, tells a reader what is confirmed, and gives silent streams their
heartbeats. Streams that still read their past come in the order of event time: the oldest rows are
next, and a stream that is further behind, and has none yet, is waited for.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping

from windrow.connectors.contract import Source
from windrow.connectors.live import Position
from windrow.embedded.live_feed import POLL_S, LiveFeed
from windrow.embedded.live_queue import Arrival, LiveQueue
from windrow.embedded.live_receiver import LiveReceiver
from windrow.embedded.live_staged import StagedTimes, times_of
from windrow.errors import AdmissionError, CheckpointError, WindrowError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.schema import StreamSchema

__all__ = ["HEARTBEAT_S", "QUEUE_FLOOR", "QUEUE_PARTS", "STOP_WITHIN_S", "LiveLoop"]

# Rows that wait to be taken may have this part of the session's budget, and so much in any case.
QUEUE_PARTS = 16
QUEUE_FLOOR = 1 << 20
# Silent streams are looked at so often.
HEARTBEAT_S = 0.2
# So long a session that is to end takes what was read already.
STOP_WITHIN_S = 5.0
# The disk was full: nothing has happened, and the same rows are given again.
UNWRITTEN = "WC407"
UNWRITTEN_WAIT_S = 1.0


class LiveLoop:
    """Feeds a session; `step` does one piece, in the thread that calls it.

    after: is called when rows were taken or time has moved. failed: is told what goes wrong with
    rows or with a source while others go on; what it raises ends the loop.
    """

    def __init__(
        self,
        receiver: LiveReceiver,
        sources: Mapping[str, tuple[StreamSchema, Source]],
        positions: Mapping[str, Position],
        memory: int,
        *,
        after: Callable[[], None] = lambda: None,
        failed: Callable[[str, WindrowError], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._receiver, self._after, self._failed = receiver, after, failed
        self._monotonic = monotonic
        self.queue = LiveQueue([*sources], max(memory // QUEUE_PARTS, QUEUE_FLOOR))
        self.feeds = [
            LiveFeed(schema, source, positions.get(name), self.queue, monotonic)
            for name, (schema, source) in sources.items()
        ]
        self._newest_us = dict.fromkeys(sources, START_OF_TIME)
        self._unconfirmed: dict[str, deque[tuple[int, Position]]] = {
            name: deque() for name in sources
        }
        self._ended: set[str] = set()
        self._staged: dict[str, StagedTimes] = {}
        self._stages = receiver.is_by_arrival and len(sources) > 1
        self._beat_at_s = monotonic()
        self._is_stopping = False
        self._is_sound = True  # nothing was broken off in the middle of being taken

    def start(self) -> None:
        """Read all sources from now on, each in a thread."""
        self.begin()
        for feed in self.feeds:
            feed.start()

    def begin(self) -> None:
        """Nothing is idle before its source was read."""
        for feed in self.feeds:
            self._receiver.hold(feed.name, is_held=True)
            rows = self._receiver.staged(feed.name)
            if rows is not None:
                self._staged[feed.name] = StagedTimes(times_of(rows, feed.schema.time))

    @property
    def is_done(self) -> bool:
        """Whether all sources have ended, and all that they gave was taken."""
        return len(self._ended) == len(self.feeds)

    @property
    def nbytes(self) -> int:
        """Bytes that wait to be taken."""
        return self.queue.nbytes

    def newest_us(self, stream: str) -> int | None:
        """The time of the newest row that was taken of a stream since the loop began."""
        newest_us = self._newest_us[stream]
        return None if newest_us == START_OF_TIME else newest_us

    def step(self, timeout_s: float = POLL_S) -> bool:
        """Take what comes next, if anything does within the time; whether it did."""
        feed = self._next_feed()
        if feed is None:
            self.queue.wait(min(timeout_s, HEARTBEAT_S))
            feed = self._next_feed()
        if feed is not None:
            self._take_from(feed)
        is_due = self._monotonic() - self._beat_at_s >= HEARTBEAT_S
        if is_due:
            self._beat_at_s = self._monotonic()
            self._tried("", self._receiver.beat)
        if feed is not None or is_due:
            self._after()
        self._confirm()
        return feed is not None

    def _take_from(self, feed: LiveFeed) -> None:
        """Take what comes first of a source; what could not be written is tried again later."""
        self._is_sound = False
        try:
            if feed.name in self._staged:
                self._release(feed)
            else:
                self._take_first(feed)
        except CheckpointError:
            raise
        except WindrowError:
            self._is_sound = True
            raise
        self._is_sound = True

    def _take_first(self, feed: LiveFeed) -> None:
        arrival, is_taken = self.queue.first(feed.name), True
        assert arrival is not None
        try:
            is_taken = self._took(feed, arrival)
        except CheckpointError:
            is_taken = False
            raise
        finally:
            if is_taken:
                self.queue.remove_first(feed.name)

    def stop(self, within_s: float = STOP_WITHIN_S) -> None:
        """Read no more, take what was read already, and close all sources."""
        deadline_s = self._monotonic() + within_s
        self._is_stopping = True
        for feed in self.feeds:
            feed.stop_polling()
        try:
            while self._is_sound and not self._has_all():
                left_s = deadline_s - self._monotonic()
                if left_s <= 0:
                    break
                if not self.step(min(left_s, 0.05)) and self._is_stuck():
                    break
            if self._is_sound:
                self._receiver.sync()
                self._confirm()
        finally:
            self.queue.close()
            for feed in self.feeds:
                feed.close(max(0.1, deadline_s - self._monotonic()))

    def _has_all(self) -> bool:
        return all(feed.is_quiet for feed in self.feeds) and self.queue.is_empty

    def _is_stuck(self) -> bool:
        """Whether what is left waits for older rows, which do not come any more for now."""
        return bool(self._staged) and all(feed.is_quiet for feed in self.feeds)

    # ---- what comes next

    def _next_feed(self) -> LiveFeed | None:
        """The source to take from; None: there is nothing, or one is waited for."""
        waiting = [feed for feed in self.feeds if self._has_some(feed)]
        if not waiting:
            return None
        told = next((feed for feed in waiting if self._is_about_itself(feed)), None)
        if told is not None:
            return told
        behind = min(waiting, key=self._oldest_of)
        is_waited_for = self._through_others(behind) < self._oldest_of(behind)
        # What is staged stays so: it is in the log, or waits for the next start.
        return None if is_waited_for and (self._stages or not self._is_stopping) else behind

    def _has_some(self, feed: LiveFeed) -> bool:
        return feed.name in self._staged or self.queue.first(feed.name) is not None

    def _through_others(self, feed: LiveFeed) -> int:
        """Through when nothing older can come of other sources, as far as they catch up."""
        others = [each for each in self.feeds if each is not feed]
        known = [self._oldest_of(each) for each in others if self._has_some(each)]
        late = [each for each in others if each.is_catching_up and not self._has_some(each)]
        return min([*known, *(self._newest_us[each.name] for each in late)], default=END_OF_TIME)

    def _oldest_of(self, feed: LiveFeed) -> int:
        """The time of the oldest row that comes next of a source that has some."""
        if feed.name in self._staged:
            return self._staged[feed.name].oldest_us
        arrival = self.queue.first(feed.name)
        oldest_us = None if arrival is None else arrival.oldest_us
        return self._newest_us[feed.name] if oldest_us is None else oldest_us

    def _is_about_itself(self, feed: LiveFeed) -> bool:
        """Whether a source has not rows, but something to say, or rows that are to be staged."""
        arrival = None if feed.name in self._staged else self.queue.first(feed.name)
        return arrival is not None and (arrival.what != "rows" or self._stages)

    # ---- what becomes of it

    def _took(self, feed: LiveFeed, arrival: Arrival) -> bool:
        """Whether it was taken; if not, it is tried again."""
        name = feed.name
        if arrival.what == "rows":
            return self._took_rows(feed, arrival)
        if arrival.what == "caught up":
            self._tried(name, lambda: self._receiver.hold(name, is_held=False))
            return True
        self._ended.add(name)
        if arrival.what == "done":
            self._tried(name, lambda: self._receiver.end(name))
        elif arrival.problem is not None:
            self._failed(name, arrival.problem)
        return True

    def _release(self, feed: LiveFeed) -> None:
        """Apply staged rows, as many as are not newer than what may come of others."""
        staged, name = self._staged[feed.name], feed.name
        count = staged.count_through(self._through_others(feed))
        try:
            self._receiver.release(name, count)
        except WindrowError as problem:
            if isinstance(problem, CheckpointError):
                raise
            self._failed(name, problem)
        finally:
            self._newest_us[name] = max(self._newest_us[name], staged.newest_of(count))
            staged.drop(count)
            if not staged.count:
                del self._staged[name]

    def _took_rows(self, feed: LiveFeed, arrival: Arrival) -> bool:
        polled, name = arrival.polled, feed.name
        assert polled is not None
        is_staged = self._stages and polled.rows.batch.num_rows > 0
        take = self._receiver.stage if is_staged else self._receiver.take
        try:
            take(name, polled.rows, polled.position)
        except WindrowError as problem:
            if problem.code == UNWRITTEN and not self._is_stopping:
                feed.standing.problem = str(problem)
                time.sleep(UNWRITTEN_WAIT_S)
                return False
            if isinstance(problem, CheckpointError):
                raise
            # Rows that were refused, or a query that has failed: both are counted, and shown.
            feed.standing.problem = str(problem)
            if isinstance(problem, AdmissionError):
                feed.refusals.append((polled.position, problem))
            self._failed(name, problem)
        feed.standing.rows += polled.rows.num_rows
        feed.standing.bytes += polled.nbytes
        if is_staged:
            times = times_of(polled.rows.batch, feed.schema.time)
            self._staged[name] = StagedTimes(times)
        elif arrival.newest_us is not None:
            self._newest_us[name] = max(self._newest_us[name], arrival.newest_us)
        self._unconfirmed[name].append((self._receiver.written_mark(), polled.position))
        return True

    def _tried(self, name: str, step: Callable[[], None]) -> None:
        try:
            step()
        except CheckpointError:
            raise
        except WindrowError as problem:
            self._failed(name, problem)

    def _confirm(self) -> None:
        """Let readers know of what is on the disk."""
        safe: int | None = None
        for feed in self.feeds:
            unconfirmed = self._unconfirmed[feed.name]
            while unconfirmed:
                safe = self._receiver.safe_mark() if safe is None else safe
                if unconfirmed[0][0] > safe:
                    break
                feed.confirmed_at = unconfirmed.popleft()[1]
