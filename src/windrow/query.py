"""What every query is to its readers, in one process and on Spark."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from windrow.dataframes import Frame, converter
from windrow.errors import UnsupportedError, WindrowError
from windrow.events.answer import Answer, answer_of
from windrow.events.answer_queue import AnswerQueue
from windrow.events.subscriptions import Change, Subscription
from windrow.followers import Followed, Follower
from windrow.notebook.cards import query_card
from windrow.notebook.charting import chart
from windrow.service_levels import INCOMPLETE

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl

    from windrow.notebook.widget import Chart
    from windrow.plan.answer_shape import AnswerShape

__all__ = ["Query"]


class Query(ABC):
    """A continuous query: what session.query() returns.

    >>> import windrow
    >>> session = windrow.connect()
    >>> session.stream("s", "ts timestamp, k int", time="ts")
    >>> query = session.query("SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k")
    >>> isinstance(query, windrow.Query), query.name, query.is_running
    (True, 'query1', True)
    """

    def __init__(self, name: str, lock: RLock) -> None:
        self.name = name
        self._lock = lock
        self._followed = Followed(self._answers, self._hand_on, lock)
        self._told_incomplete = False

    @overload
    def answers(self, to: None = None) -> pa.Table: ...
    @overload
    def answers(self, to: Literal["pandas"]) -> pd.DataFrame: ...
    @overload
    def answers(self, to: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def answers(self, to: Literal["duckdb"]) -> duckdb.DuckDBPyRelation: ...
    def answers(self, to: Frame | None = None) -> Any:
        """Every answer since the last call: at, level, error_bound, then the select list.

        to: "pandas", "polars" or "duckdb" for a data frame, nothing for a pyarrow.Table. On Spark
        the sink must be 'memory'.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> total = session.query("SELECT SUM(x) AS x FROM s [10 SECONDS] EVERY (5 SECONDS)")
        >>> for second in range(11):
        ...     session.push("s", {"ts": f"2026-01-01 00:00:{second:02}", "x": 1})
        >>> session.finish()
        >>> total.answers().select(["at", "level", "x"]).to_pylist()[-1]["x"]
        11
        >>> total.answers(to="polars").height  # all were read
        0
        """
        if to is None:
            return self._given("answers", None, self._followed.answers)
        given = converter(to)  # before anything is taken: a wrong word loses no answers
        return given(self._given("answers", None, self._followed.answers))

    def _given(self, what: str, limit: int | None, read: Callable[[], pa.Table]) -> pa.Table:
        """What is read of `what`, for the query's own reader."""
        del what, limit
        return read()

    @overload
    def result(self, to: None = None) -> pa.Table: ...
    @overload
    def result(self, to: Literal["pandas"]) -> pd.DataFrame: ...
    @overload
    def result(self, to: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def result(self, to: Literal["duckdb"]) -> duckdb.DuckDBPyRelation: ...
    def result(self, to: Frame | None = None) -> Any:
        """The answer now, that is, at the clock; while nothing changes, the same table.

        to: "pandas", "polars" or "duckdb" for a data frame, nothing for a pyarrow.Table. On Spark
        the sink must be 'memory'.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, k string", time="ts")
        >>> query = session.query("SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k")
        >>> session.push("s", {"ts": ["2026-01-01"] * 3, "k": ["a", "b", "a"]})
        >>> session.finish()
        >>> query.result().to_pylist()
        [{'k': 'a', 'n': 2}, {'k': 'b', 'n': 1}]
        >>> query.result(to="duckdb").filter("n > 1").fetchall()
        [('a', 2)]
        """
        return converter(to)(self._result())

    def latest(self) -> Answer:
        """The newest answer as a list of dicts, one for each row of result(): cheap after a push.

        Its attributes at, level and error_bound are those of answers(). A row that has not changed
        is the same dict as before: leave it as it is. On Spark the sink must be 'memory'.

        >>> import windrow
        >>> session = windrow.connect(clock="arrival")
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> total = session.query("SELECT COUNT(*) AS n, SUM(x) AS x FROM s [1 MINUTE]")
        >>> session.push("s", {"ts": "2026-01-01", "x": 3})
        >>> total.latest()
        [{'n': 1, 'x': 3}]
        >>> session.push("s", ("2026-01-01 00:00:30", 4))
        >>> answer = total.latest()
        >>> answer, answer.at.second
        ([{'n': 2, 'x': 7}], 30)
        """
        return answer_of(self._result().to_pylist())

    def on_answer(self, call: Callable[[Answer], object]) -> Subscription:
        """Call a function with every answer from now on; what it returns has close().

        It is called once the push that brought the answer is done, in the same thread. What it
        raises is raised by that push, after all other functions were called. In one process only.

        >>> import windrow
        >>> session = windrow.connect(clock="arrival")
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> alarm = session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE] HAVING COUNT(*) > 1")
        >>> subscription = alarm.on_answer(print)
        >>> session.push("s", ("2026-01-01 00:00:00", 1))
        >>> session.push("s", ("2026-01-01 00:00:01", 1))
        [{'n': 2}]
        >>> subscription.close()
        """
        del call
        raise self._no_events("on_answer")

    def on_change(self, call: Callable[[Change], object]) -> Subscription:
        """Call a function with every row that comes (+1) and goes (-1), as on_answer() does.

        >>> import windrow
        >>> session = windrow.connect(clock="arrival")
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> seen = session.query("SELECT DISTINCT x FROM s [10 SECONDS]")
        >>> subscription = seen.on_change(lambda change: print(change.change, change.row))
        >>> session.push("s", ("2026-01-01 00:00:00", 7))
        1 {'x': 7}
        >>> session.advance("s", to="2026-01-01 00:01:00")
        -1 {'x': 7}
        >>> subscription.close()
        """
        del call
        raise self._no_events("on_change")

    def __aiter__(self) -> AnswerQueue:
        raise self._no_events("async for")

    def _no_events(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            "WU308",
            f"{what} works on queries over windows in one process, and {self.name!r} is none",
            hint="read answers() or follow(), again and again",
        )

    @overload
    def changes(self, limit: int | None = None, to: None = None) -> pa.Table: ...
    @overload
    def changes(self, limit: int | None = None, *, to: Literal["pandas"]) -> pd.DataFrame: ...
    @overload
    def changes(self, limit: int | None = None, *, to: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def changes(
        self, limit: int | None = None, *, to: Literal["duckdb"]
    ) -> duckdb.DuckDBPyRelation: ...
    def changes(self, limit: int | None = None, to: Frame | None = None) -> Any:
        """Changes since the last call: at, change (+1 or -1), then the select list.

        limit: at most this many rows, the rest at the next call; an instant is split only if it
        alone has more. to: "pandas", "polars" or "duckdb" for a data frame, nothing for a
        pyarrow.Table. On Spark the sink must be 'memory'.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> largest = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]")
        >>> session.push("s", {"ts": ["2026-01-01", "2026-01-01 00:00:30"], "x": [3, 7]})
        >>> session.finish()
        >>> largest.changes().select(["change", "x"]).to_pylist()[-2:]
        [{'change': -1, 'x': 3}, {'change': 1, 'x': 7}]
        """
        given = converter(to)
        return given(self._given("changes", limit, lambda: self._changes(limit)))

    def follow(self) -> Follower:
        """An independent reader of the answers from now on; each reader gets all of them.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> largest = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]")
        >>> follower = largest.follow()
        >>> session.push("s", {"ts": "2026-01-01", "x": 3})
        >>> session.finish()
        >>> follower.answers() == largest.answers()
        True
        >>> follower.close()
        """
        return self._followed.follow()

    def chart(
        self,
        value: str | Sequence[str] | None = None,
        *,
        points: int = 500,
        refresh: float | None = 0.5,
        height: int = 260,
    ) -> Chart:
        """A live chart for a notebook, the same as windrow.notebook.chart(query).

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> drawn = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]").chart()
        >>> drawn.is_live
        True
        >>> drawn.close()
        """
        return chart(self, value, points=points, refresh=refresh, height=height)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _repr_html_(self) -> str:
        result, trouble = None, None
        try:
            result = self._result()
        except WindrowError as problem:
            trouble = problem.message
        state = "running" if self.is_running else "not running"
        return query_card(self.name, state, self.text, self._facts(), result, trouble)

    @property
    @abstractmethod
    def text(self) -> str:
        """The query as it was written."""

    @property
    @abstractmethod
    def shape(self) -> AnswerShape:
        """Its groups and values, and how often it answers."""

    @property
    @abstractmethod
    def is_running(self) -> bool:
        """Whether it is at work: registered in this process, or started on Spark."""

    @property
    def is_complete(self) -> bool:
        """Whether the answer now lacks no row; False while one that was refused would count.

        Rows are refused where there is no room for them (WA101), in one process only. Answers that
        lack such rows are of the level 'incomplete'.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]").is_complete
        True
        """
        return True

    def _noted(self, result: pa.Table, *, is_complete: bool) -> pa.Table:
        """A result has no level column: a reader of an incomplete one gets a warning, once."""
        if is_complete:
            self._told_incomplete = False
            return result
        if not self._told_incomplete:
            self._told_incomplete = True
            warnings.warn(
                f"query {self.name!r}: the result lacks rows that were refused for lack of "
                "memory (WA101); is_complete tells when it is complete again",
                RuntimeWarning,
                stacklevel=4,
            )
        return result.replace_schema_metadata({b"windrow.level": INCOMPLETE.encode()})

    @abstractmethod
    def explain(self) -> str:
        """The plan, the algorithm and what it costs, and how it stands now."""

    @abstractmethod
    def stop(self) -> None:
        """Ends the query; what it has answered can still be read."""

    @abstractmethod
    def _facts(self) -> dict[str, str]:
        """How it stands, for people."""

    @abstractmethod
    def _answers(self) -> pa.Table: ...

    def _hand_on(self, take: Callable[[pa.Table], None]) -> pa.Table:
        """The answers, and another function has them, too."""
        answers = self._answers()
        take(answers)
        return answers

    @abstractmethod
    def _result(self) -> pa.Table: ...

    @abstractmethod
    def _changes(self, limit: int | None) -> pa.Table: ...
