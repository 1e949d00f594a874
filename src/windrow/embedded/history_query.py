"""A continuous question about the past of a stream, in this process."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from threading import RLock

import pyarrow as pa

from windrow.embedded.failing import Failing
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.errors import DataError, UnsupportedError
from windrow.event_time import show_instant, show_span
from windrow.history.operator import HistoryOperator
from windrow.history.questions.continuous import ContinuousQuestion
from windrow.history.questions.feed import HistoryFeed
from windrow.notebook.plan_text import PlanText
from windrow.output.change_limit import check_limit
from windrow.output.unread_limit import UNREAD_BYTES
from windrow.plan.history_explain import explain_history
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.planned_query import PlannedQuery
from windrow.query import Query
from windrow.windows.marks import Mark

__all__ = ["EmbeddedHistoryQuery"]


class EmbeddedHistoryQuery(Failing, PlannedQuery, Query):
    """A running question: FROM HISTORY(s) [FROM ... TO NOW].

    >>> import windrow
    >>> session = windrow.connect()
    >>> session.stream("s", "ts timestamp, x int", time="ts")
    >>> session.history("s", measures=["x"], levels=[("1 second", "forever")])
    >>> total = session.query("SELECT SUM(x) AS x FROM HISTORY(s) [FROM '2026-01-01' TO NOW]")
    >>> session.push("s", {"ts": ["2026-01-01", "2026-06-01"], "x": [1, 2]})
    >>> session.finish()
    >>> total.result().to_pylist()
    [{'x': 3}]

    Of its answers those of level A are exact; at level B error_bound is the largest relative error
    that one can have. With EVERY its changes are those from tick to tick, and from the last one to
    the clock. flush: brings rows that were pushed but not yet applied into it. lock: of
    the session. ended: is told when it looks no more. unread_bytes: for answers and changes that
    nobody reads, each.
    """

    plan: HistoryPlan

    def __init__(
        self,
        name: str,
        plan: HistoryPlan,
        operator: HistoryOperator,
        flush: Callable[[], None],
        lock: RLock,
        ended: Callable[[EmbeddedHistoryQuery], None],
        unread_bytes: int = UNREAD_BYTES,
    ) -> None:
        super().__init__(name, lock)
        self.plan = plan
        self._is_running = True
        self._ended = ended
        self._operator = operator
        self._flush = flush
        self._feed = HistoryFeed(plan, unread_bytes)
        self.question = ContinuousQuestion(plan, operator, self._feed)
        self._undo: Mark | None = None  # its state before a read that was interrupted
        self._told_lost = self._told_netted = 0

    @property
    def clock(self) -> int:
        """The instant through which it has answered."""
        return self.question.clock

    @property
    def is_running(self) -> bool:
        """Whether it is still running."""
        return self._is_running

    @one_at_a_time
    def _answers(self) -> pa.Table:
        self._be_ready()
        self._tell_of_lost()
        return self._feed.answers()

    @one_at_a_time
    def _result(self) -> pa.Table:
        self._be_ready()
        is_complete = not self.question.growth.lacks_rows
        feed, growth = self._feed, self.question.growth
        result = feed.preview(growth.rows()) if self._is_behind else feed.result
        return self._noted(result, is_complete=is_complete)

    @property
    @one_at_a_time
    def is_complete(self) -> bool:
        """Whether no row is lacking now; False once one of the interval was refused."""
        self._flush()
        return not self.question.growth.lacks_rows

    @one_at_a_time
    def _changes(self, limit: int | None) -> pa.Table:
        check_limit(limit)
        self._be_ready()
        self._catch_up()
        self._tell_of_netted()
        return self._feed.changes(limit)

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, *self.question.parts)

    @property
    def nbytes(self) -> int:
        """Bytes of what nobody has read, and of what is needed to tell of changes."""
        return self._feed.nbytes

    def recover(self) -> None:
        """Take back what a read has left half done."""
        if self._undo is not None:
            self._undo.rewind()

    def _catch_up(self) -> None:
        """Look at rows that have come since the last tick, wholly or not at all."""
        if self._is_behind:
            self._undo = Mark(*self.parts)
            self.question.show(self.clock)
            self._undo = None

    def _tell_of_lost(self) -> None:
        lost = self._feed.rows_lost - self._told_lost
        self._told_lost += lost
        if lost:
            self._warn(f"{lost:,} rows of answers were dropped", "answers")

    def _tell_of_netted(self) -> None:
        netted = self._feed.changes_netted - self._told_netted
        self._told_netted += netted
        if netted:
            self._warn(f"{netted:,} changes were netted: they still add up to result()", "changes")

    def _warn(self, what: str, read: str) -> None:
        warnings.warn(
            f"query {self.name!r}: {what}; more were due than are buffered unread: call {read}() "
            "more often",
            RuntimeWarning,
            stacklevel=2,
        )

    def _be_ready(self) -> None:
        self._flush()
        self.recover()
        self._raise_failure()
        self._operator.check_whole()

    @one_at_a_time
    def explain(self) -> str:
        """The plan, when it answers, and how far it has come.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> session.history("s", measures=["x"], levels=[("1 second", "forever")])
        >>> text = "SELECT SUM(x) AS x FROM HISTORY(s) [FROM '2026-01-01' TO NOW]"
        >>> "at every arrival" in session.query(text).explain()
        True
        """
        self._flush()
        every = self.plan.every_us
        when = "at every arrival" if every is None else f"every {show_span(every)} of event time"
        lines = [explain_history(self.plan), f"  answers     {when}"]
        return PlanText("\n".join([*lines, f"clock: {show_instant(self.clock)}"]))

    def _facts(self) -> dict[str, str]:
        return {"clock": show_instant(self.clock)}

    @one_at_a_time
    def stop(self) -> None:
        """End the query; what it has answered can still be read.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> query = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]")
        >>> query.stop()
        >>> query.is_running, query.result().to_pylist()
        (False, [{'x': None}])
        """
        if self.is_running:
            self._flush()
            self.recover()
            if self._operator.history.is_whole:
                self._catch_up()
        self.end()

    def end(self) -> None:
        """It stops; nothing that waits is processed."""
        self._is_running = False
        self._ended(self)

    def start(self, *_: object, **__: object) -> EmbeddedHistoryQuery:
        """Only queries on Spark have sinks."""
        raise UnsupportedError(
            "WU301",
            "a query in this process runs as soon as it is registered and has no sink",
            hint="read answers(), changes() or result()",
        )

    def fail(self, error: DataError) -> None:
        """An answer that has no value ends it; every read raises the error."""
        self.end()
        super().fail(error)

    def look(self, instant_us: int) -> None:
        """The history is at one of its stops; a query that fails ends, and does not hold it up."""
        if not self.is_running:
            return
        try:
            self.question.look(instant_us)
        except DataError as error:
            self.fail(error)

    @property
    def _is_behind(self) -> bool:
        """Whether rows have arrived since the answer was computed."""
        return self.is_running and self.question.is_behind
