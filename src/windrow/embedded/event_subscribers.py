"""Those who are told of events, and the runs beside shards that follow what is applied."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from windrow.embedded.query_events import QueryEvents
from windrow.embedded.stream_ingest import StreamIngest

__all__ = ["EventSubscribers", "Listener"]


class Listener(Protocol):
    """Who is told of what has happened, once it is whole."""

    def tell(self, problems: list[Exception]) -> bool:
        """Whether there was anything to tell; what goes wrong is added to the problems."""

    def expect_batch(self) -> None:
        """Something is about to be applied."""

    def keep_up(self) -> None:
        """Rows were applied, and nobody is told of it yet."""


class EventSubscribers:
    """The queries of a session to which somebody has subscribed, and those that have runs."""

    streams: dict[str, StreamIngest]

    def __init__(self) -> None:
        self.with_runs: list[QueryEvents] = []  # of queries whose newest answer a run keeps
        self.listening: list[Listener] = []  # queries to which somebody has subscribed, and sinks
        self._has_begun_telling = False
        self._problems: list[Exception] = []  # what functions have raised, in order

    def tell(self) -> None:
        """Call those who have subscribed, now that everything is whole; what they raise, too.

        What they push themselves is taken at once, and told in a further round.
        """
        if self._is_telling:
            return
        self._has_begun_telling, problems = True, self._problems
        while any([events.tell(problems) for events in tuple(self.listening)]):
            pass
        self._has_begun_telling = False
        if problems:
            first = problems[0]
            problems.clear()
            raise first

    @property
    def _is_telling(self) -> bool:
        """Whether a function is being called now: tell() may also have been broken off."""
        frame = sys._getframe() if self._has_begun_telling else None
        while frame is not None:
            given = frame.f_locals if frame.f_code is _TELL else {}
            if given.get("self") is self and "problems" in given:
                return True
            frame = frame.f_back
        return False

    def have_ended(self, streams: Sequence[str]) -> bool:
        """Whether none of these streams goes on."""
        return all(self.streams[name].completeness.is_finished for name in streams)

    def _expect_batch(self) -> None:
        for events in self.listening:
            events.expect_batch()

    @contextmanager
    def _followed_by_runs(self) -> Iterator[None]:
        """Runs beside the shards read what is applied before it is, and go on after it."""
        followed = tuple(self.with_runs)
        for events in followed:
            events.catch_up()
        yield
        for events in followed:
            events.confirm()


_TELL = EventSubscribers.tell.__code__
