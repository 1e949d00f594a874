"""Functions that are called with the answers or the changes of a query, as these come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, NamedTuple

from windrow.events.event import Event

__all__ = ["Change", "Subscription", "Subscriptions"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_given = itemgetter(1)


class Change(NamedTuple):
    """A row that came (+1) or went (-1) at an instant."""

    at: datetime
    change: int
    row: dict[str, Any]


class Subscription:
    """The handle of a function that is called; close() ends it.

    called: is called after it. ended: is called when nothing more will come, with what ended it.
    """

    def __init__(
        self,
        call: Callable[[Any], object],
        leave: Callable[[Subscription], None],
        called: Callable[[], object] | None = None,
        ended: Callable[[Exception | None], object] | None = None,
    ) -> None:
        self.call, self._leave, self._ended = call, leave, ended
        self.called = called
        self.is_open = True

    def close(self) -> None:
        """It is called no more; a second call does no harm."""
        self.is_open = False
        self._leave(self)

    def end(self, problem: Exception | None) -> None:
        """Nothing more will come."""
        if self._ended is not None:
            self._ended(problem)
        self.close()


class Subscriptions:
    """Those of one query."""

    def __init__(self) -> None:
        self.to_answers: list[Subscription] = []
        self.to_changes: list[Subscription] = []

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(self.to_answers or self.to_changes)

    def leave(self, subscription: Subscription) -> None:
        """One of them is called no more."""
        for listed in (self.to_answers, self.to_changes):
            if subscription in listed:
                listed.remove(subscription)

    def deliveries(self, event: Event) -> deque[tuple[Subscription, Any]]:
        """Who is to be called with what, in order: the changes, then the answer."""
        found: deque[tuple[Subscription, Any]] = deque()
        if self.to_changes and event.changes:
            at = _EPOCH + timedelta(microseconds=event.at_us)
            for sign, row in event.changes:
                change = Change(at, sign, row)
                found.extend((each, change) for each in self.to_changes)
        if event.answer:  # as in answers(), an answer without rows is none
            found.extend((each, event.answer) for each in self.to_answers)
        return found

    def deliver(
        self, deliveries: deque[tuple[Subscription, Any]], problems: list[Exception]
    ) -> None:
        """Call them; what a function raises does not keep the others from being called."""
        given = map(_given, iter(deliveries.popleft, None))
        while deliveries:
            subscription = deliveries[0][0]
            if not subscription.is_open:
                deliveries.popleft()
                continue
            try:
                # Taken and called at one go, outside Python's own steps, between which an
                # interrupt may come: what was taken has reached the function, and nothing else.
                next(map(subscription.call, given))
                if subscription.called is not None:
                    subscription.called()
            except Exception as problem:
                problems.append(problem)

    def end(self, problem: Exception | None) -> None:
        """Nothing more will come."""
        for each in (*self.to_answers, *self.to_changes):
            each.end(problem)
