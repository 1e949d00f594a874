"""The events of a query that were noted and of which not everyone was told yet.

An exception may come at any line. So noting an event is one append, and what was noted is read off
the newest events: whoever continues after an exception continues after these.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from windrow.event_time import START_OF_TIME
from windrow.events.answer import Answer
from windrow.events.event import Event, Row, Shown
from windrow.events.subscriptions import Subscriptions

__all__ = ["EventLog"]


class EventLog:
    """Events in order, from the first of which somebody is still to be told.

    >>> log = EventLog()
    >>> log.note(Event(5, [(1, {"n": 1})], rows=[{"n": 1}]))
    >>> log.rows_after(None), log.tell(Subscriptions(), []), log.rows_after(None)
    ([{'n': 1}], True, [{'n': 1}])
    """

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self.note = self._events.append
        self.begin(START_OF_TIME)

    def begin(self, told_us: int) -> None:
        """Nothing was noted; answers up to this instant are nobody's."""
        self._events.clear()
        # Of the events that are gone: the newest answer, and the rows.
        self._told: tuple[int, Answer | None] = told_us, None
        self._rows: list[Row] = []

    @property
    def newest_answer(self) -> tuple[int, Answer | None]:
        """The instant up to which answers were noted, and the last of them."""
        for event in reversed(self._events):
            if event.answer is not None:
                return event.at_us, event.answer
        return self._told

    def rows_after(self, told: Mapping[Any, Shown] | None) -> list[Row]:
        """The rows by the changes that were noted.

        told: what keys show by the changes that a run has noted, without those of its last event.
        """
        for event in reversed(self._events):
            if event.rows is not None:
                return event.rows
            if event.shown is not None:
                return _listed({**(told or {}), **event.shown})
        return self._rows if told is None else _listed(told)

    def address(self, subscriptions: Subscriptions) -> None:
        """Whoever subscribes from here on is not told of what was noted."""
        for event in self._events:
            if event.deliveries is None:
                event.deliveries = subscriptions.deliveries(event)

    def tell(self, subscriptions: Subscriptions, problems: list[Exception]) -> bool:
        """Call all who are to be told; whether anything was noted.

        Broken off, it goes on with the next call: each was called once, and none is left out.
        """
        events = self._events
        has_any = bool(events)
        while events:
            event = events[0]
            if event.deliveries is None:
                event.deliveries = subscriptions.deliveries(event)
            subscriptions.deliver(event.deliveries, problems)
            if events and events[0] is event:  # else the last of them has closed, and all is over
                if event.rows is not None:
                    self._rows = event.rows
                if event.answer is not None:
                    self._told = event.at_us, event.answer
                events.popleft()
        return has_any


def _listed(told: Mapping[Any, Shown]) -> list[Row]:
    return [shown[0] for shown in told.values() if shown is not None for _ in range(shown[1])]
