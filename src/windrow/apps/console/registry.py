"""A session with the queries that the console follows: all that requests can ask of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from windrow.apps.console.collector import Collector
from windrow.apps.console.followed import FollowedQuery
from windrow.apps.console.limits import QUERIES_LIMIT
from windrow.apps.console.refusals import console_failed, no_such_query, read_only, too_many
from windrow.apps.console.runners import Runner
from windrow.errors import WindrowError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.plan.explain_any import explain_any

__all__ = ["Registry"]

_LOG = logging.getLogger(__name__)


class Registry:
    """May be used by any thread.

    title: what is being watched. is_read_only: whether queries can neither be added nor stopped.
    """

    def __init__(self, runner: Runner, title: str, *, is_read_only: bool = False) -> None:
        self.runner, self.title, self.is_read_only = runner, title, is_read_only
        self.problem: WindrowError | None = None
        self.problems = 0
        self._has_all_rows = False
        self._queries: dict[str, FollowedQuery] = {}
        self._adding = threading.Lock()
        self._collector = Collector(self.collect)

    def start(self) -> None:
        """Begins to follow."""
        self._collector.start()

    def close(self) -> None:
        """Stops following; the session stays with its owner."""
        self._collector.stop()

    def note_problem(self, problem: WindrowError) -> None:
        """Something went wrong with the rows; the session reports the latest problem."""
        self.problem = problem
        self.problems += 1

    def note_end(self) -> None:
        """All sources have been read to their end: no query has anything more to say."""
        self._has_all_rows = True
        for query in self.queries():
            query.has_all_rows = True

    def collect(self) -> None:
        """Reads all feeds off."""
        for query in self.queries():
            if query.error is None:
                self._drain(query)

    def _drain(self, query: FollowedQuery) -> None:
        try:
            with self.runner.lock:
                query.drain()
            failure = None if query.handle.is_running else self.runner.failure(query.handle)
        except Exception as error:  # whatever it is, the others are followed on
            failure = error
        if failure is None:
            return
        if not isinstance(failure, WindrowError):
            _LOG.error("query %s cannot be followed", query.name, exc_info=failure)
            failure = console_failed(failure)
        query.error = failure

    def add(
        self, text: str, name: str | None = None, algorithm: str = "auto", store: str = "auto"
    ) -> FollowedQuery:
        """Registers a query, as a user of the console may."""
        if self.is_read_only:
            raise read_only()
        return self.follow(text, name, algorithm, store)

    def follow(
        self, text: str, name: str | None = None, algorithm: str = "auto", store: str = "auto"
    ) -> FollowedQuery:
        """Registers a query and follows it."""
        with self._adding:
            self._make_room()
            made = FollowedQuery(self.runner.add(text, name, algorithm, store), text)
            return self.take_in(made)

    def _make_room(self) -> None:
        """Forgets the oldest query that has ended, where there are too many."""
        if len(self._queries) < QUERIES_LIMIT:
            return
        ended = [each.name for each in self.queries() if each.state != "running"]
        if not ended:
            raise too_many("queries", QUERIES_LIMIT)
        self._queries[ended[0]].handle.stop()
        with self.runner.lock:
            del self._queries[ended[0]]

    def follow_all(self, texts: Mapping[str, str]) -> None:
        """Registers queries by name and follows them."""
        with self._adding:
            for handle in self.runner.add_all(texts):
                self.take_in(FollowedQuery(handle, texts[handle.name]))

    def take_in(self, query: FollowedQuery) -> FollowedQuery:
        """Follows a query that runs."""
        query.has_all_rows = self._has_all_rows
        with self.runner.lock:
            query.drain()
            self._queries[query.name] = query
        return query

    def stop(self, name: str) -> FollowedQuery:
        """Stops a query; what it has said can still be read."""
        if self.is_read_only:
            raise read_only()
        query = self.query(name)
        query.handle.stop()  # on Spark it waits for a batch: the others go on meanwhile
        with self.runner.lock:
            if query.error is None:
                query.drain()
        return query

    def query(self, name: str) -> FollowedQuery:
        """The query of that name."""
        found = self._queries.get(name)
        if found is None:
            raise no_such_query(name, [each.name for each in self.queries()])
        return found

    def queries(self) -> list[FollowedQuery]:
        """All queries, in the order in which they were added.

        Without the lock: the thread that serves all clients asks for them, and must not wait.
        """
        return list(self._queries.values())

    def result(self, name: str) -> pa.Table:
        """The answer of a query now."""
        query = self.query(name)
        with self.runner.lock:
            return query.handle.result()

    def clock_us(self, name: str) -> int | None:
        """The instant through which a query has answered; None before its first row."""
        query = self.query(name)
        with self.runner.lock:
            clock_us: int | None = self.runner.standing(query.handle)["clock_us"]
        is_known = clock_us is not None and START_OF_TIME < clock_us < END_OF_TIME
        return clock_us if is_known else None

    def explained(self, name: str) -> str:
        """The plan of a query, and how it stands."""
        query = self.query(name)
        with self.runner.lock:
            return query.handle.explain()

    def explain(self, text: str) -> tuple[str, list[dict[str, str]]]:
        """The plan of a text and the columns of its answer; nothing is registered."""
        with self.runner.lock:
            plan = self.runner.session.plan_of(text)
        columns = [{"name": each.name, "type": str(each.type)} for each in plan.select]
        return explain_any(plan), columns

    def ask(self, text: str) -> pa.Table:
        """The answer about the past; sessions see to their threads themselves."""
        answer: pa.Table = self.runner.session.ask(text)
        return answer

    def metrics(self) -> str:
        """For Prometheus."""
        text: str = self.runner.session.metrics()
        return text

    def table(self, name: str) -> pa.Table:
        """One of the session's tables: windows, queries, decisions, histories, streams, ledger."""
        with self.runner.lock:
            found: Any = getattr(self.runner.session, name)()
            return found
