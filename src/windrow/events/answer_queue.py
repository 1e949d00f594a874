"""`async for answer in query`: answers wait in a queue, whichever thread pushes."""

from __future__ import annotations

import asyncio
import warnings
import weakref
from collections import deque
from collections.abc import Callable

from windrow.events.answer import Answer
from windrow.events.subscriptions import Subscription

__all__ = ["QUEUED_ANSWERS", "AnswerQueue"]

# So many answers wait for a task that is slow; beyond that the oldest are dropped.
QUEUED_ANSWERS = 1_000


class AnswerQueue:
    """An asynchronous iterator over the answers from now on; it ends with the query.

    subscribe: takes the function that is called with each answer, that which is called after it,
    and that for the end.
    """

    def __init__(
        self,
        name: str,
        subscribe: Callable[..., Subscription],
    ) -> None:
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Answer] = deque()
        self._news, self._has_ended, self._dropped = asyncio.Event(), False, 0
        self._problem: Exception | None = None  # what has ended the query
        me = weakref.ref(self)  # a loop that was left must not be called for ever

        def came() -> None:
            queue = me()
            if queue is None or queue._loop.is_closed():
                subscription.close()
            else:
                queue._came()

        def end(problem: Exception | None) -> None:
            queue = me()
            if queue is not None:
                queue._end(problem)

        # Answers go straight into the queue: nothing of ours runs that could be broken off.
        subscription = self._subscription = subscribe(self._waiting.append, came, end)

    def __aiter__(self) -> AnswerQueue:
        return self

    async def __anext__(self) -> Answer:
        while not self._waiting:
            if self._has_ended:
                problem, self._problem = self._problem, None
                raise problem or StopAsyncIteration
            self._news.clear()
            if not self._waiting and not self._has_ended:
                await self._news.wait()
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            warnings.warn(
                f"query {self._name!r}: {dropped:,} answers were dropped: more came than the "
                f"{QUEUED_ANSWERS:,} that wait for a task",
                RuntimeWarning,
                stacklevel=2,
            )
        return self._waiting.popleft()

    def close(self) -> None:
        """No more answers are queued."""
        self._subscription.close()
        self._end(None)

    def _came(self) -> None:
        while len(self._waiting) > QUEUED_ANSWERS:
            self._dropped += 1
            self._waiting.popleft()
        self._wake()

    def _end(self, problem: Exception | None) -> None:
        self._problem, self._has_ended = problem, True
        self._wake()

    def _wake(self) -> None:
        """Let the task go on, from its own thread or another."""
        if asyncio._get_running_loop() is self._loop:
            self._news.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)
