"""Functions that are called with the answers or the changes of a query, as these come."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from windrow.events.answer import Answer

__all__ = ["Change", "Event", "Subscription", "Subscriptions"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Change(NamedTuple):
    """A row that came (+1) or went (-1) at an instant."""

    at: datetime
    change: int
    row: dict[str, Any]


class Event(NamedTuple):
    """What happened at one instant: rows that came and went, and the answer, if one is due."""

    at_us: int
    changes: list[tuple[int, dict[str, Any]]]
    answer: Answer | None


class Subscription:
    """The handle of a function that is called; close() ends it.

    ended: is called when nothing more will come.
    """

    def __init__(
        self,
        call: Callable[[Any], object],
        leave: Callable[[Subscription], None],
        ended: Callable[[], object] | None = None,
    ) -> None:
        self.call, self._leave, self._ended = call, leave, ended

    def close(self) -> None:
        """It is called no more; a second call does no harm."""
        self._leave(self)

    def end(self) -> None:
        """Nothing more will come."""
        self._leave(self)
        if self._ended is not None:
            self._ended()


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

    def tell(self, event: Event, problems: list[Exception]) -> None:
        """Call all of them; what a function raises does not keep the others from being called."""
        if self.to_changes:
            at = _EPOCH + timedelta(microseconds=event.at_us)
            for sign, row in event.changes:
                change = Change(at, sign, row)
                for each in tuple(self.to_changes):
                    _call(each, change, problems)
        if event.answer:  # as in answers(), an answer without rows is none
            for each in tuple(self.to_answers):
                _call(each, event.answer, problems)

    def end(self) -> None:
        """Nothing more will come."""
        for each in (*self.to_answers, *self.to_changes):
            each.end()


def _call(subscription: Subscription, given: object, problems: list[Exception]) -> None:
    try:
        subscription.call(given)
    except Exception as problem:
        problems.append(problem)
