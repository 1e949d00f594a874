"""The side of a query for those who read it after every event, or are told of each."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.errors import DataError
from windrow.events.answer import Answer
from windrow.events.answer_queue import AnswerQueue
from windrow.events.subscriptions import Change, Subscription
from windrow.followers import Followed, Follower
from windrow.query import Query
from windrow.runtime.shard import Shard

if TYPE_CHECKING:
    from windrow.embedded.query_events import QueryEvents
    from windrow.embedded.query_parts import QueryMark
    from windrow.events.event_run import EventRun
    from windrow.runtime.run_shard import RunShard
    from windrow.windows.instants import WaitingInstants

__all__ = ["ToldQuery"]


class ToldQuery:
    """What a query gives to those; `events` is set by the session, once it is registered."""

    name: str
    events: QueryEvents
    run_beside: EventRun | None = None  # keeps its newest answer beside the shard
    _lock: threading.RLock
    _followed: Followed
    _entries: list[WaitingInstants]
    _failure: DataError | None
    _mark: QueryMark | None
    _shard: RunShard

    @property
    @abstractmethod
    def _has_missed(self) -> bool: ...

    @abstractmethod
    def _be_ready(self) -> None: ...

    @abstractmethod
    def _tell_of_lost(self) -> None: ...

    @abstractmethod
    def _marked_answers(self) -> pa.Table: ...

    @abstractmethod
    def _part(
        self, *, publishes: bool = True, also: Iterable[object] = ()
    ) -> AbstractContextManager[None]: ...

    def latest(self) -> Answer:  # noqa: D102 - as of every query; one call less
        with self._lock:
            return self.events.latest()

    @one_at_a_time
    def on_answer(self, call: Callable[[Answer], object]) -> Subscription:  # noqa: D102
        return self.events.subscribe(call)

    @one_at_a_time
    def on_change(self, call: Callable[[Change], object]) -> Subscription:  # noqa: D102
        return self.events.subscribe(call, to_changes=True)

    def __aiter__(self) -> AnswerQueue:
        with self._lock:
            return AnswerQueue(self.name, self.events.subscribe)

    def _hand_on(self, take: Callable[[pa.Table], None]) -> pa.Table:
        """Answers for a function that has them all or, broken off, gets them again."""
        self._be_ready()
        self._tell_of_lost()
        with self._part(also=self._followed.parts):
            answers = self._marked_answers()
            take(answers)
        return answers

    def _tell_listeners(self) -> None:
        """It has ended: those who were to be told of events learn it."""
        events = self.__dict__.get("events")
        if events is not None:
            events.tell_end()

    def follow_all(self) -> Follower:
        """A reader of the answers that answers() would return now, and of those to come."""
        return self._followed.follow_all()

    def waiting_instants(self) -> list[int]:
        """The instants to come at which rows enter that were applied already."""
        return [instant for waiting in self._entries for instant in waiting.listed()]

    @property
    def is_by_arrival(self) -> bool:
        """Whether rows of the very instant of its clock may still come."""
        return self.events.is_by_arrival

    @property
    def has_run(self) -> bool:
        """Whether a run beside the shard keeps its newest answer."""
        events = self.__dict__.get("events")
        return events is not None and events.run is not None

    @property
    def is_plain(self) -> bool:
        """Whether its shard does what the plan says: nothing is narrowed, missing or undone."""
        has_all = self._failure is None and self._mark is None and not self._has_missed
        return has_all and isinstance(self._shard, Shard) and self._shard.is_plain


# What they do is what they do for every query.
ToldQuery.latest.__doc__ = Query.latest.__doc__
ToldQuery.on_answer.__doc__ = Query.on_answer.__doc__
ToldQuery.on_change.__doc__ = Query.on_change.__doc__
