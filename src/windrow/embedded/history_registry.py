"""The histories of a session: declared, fed, asked, and followed by continuous questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.deferred import deferred
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.stream_ingest import StreamIngest
from windrow.errors import BindingError, WindrowError
from windrow.event_time import START_OF_TIME
from windrow.output.unread_limit import UNREAD_BYTES
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_schema import HistorySchema
from windrow.windows.completeness import clock_of

if TYPE_CHECKING:
    from windrow.embedded.history_query import EmbeddedHistoryQuery
    from windrow.history.declared_histories import HistoryRow, archive_folder, history_table
    from windrow.history.operator import HistoryOperator, spec_of
    from windrow.history.parquet_archive import ParquetArchive
    from windrow.history.questions.ask import ask, ask_progressively
    from windrow.history.questions.continuous import ContinuousQuestion, move_on
    from windrow.history.questions.series import group_keys, series_of, shape_table
else:
    HistoryRow = deferred("windrow.history.declared_histories", "HistoryRow")
    EmbeddedHistoryQuery = deferred("windrow.embedded.history_query", "EmbeddedHistoryQuery")
    archive_folder = deferred("windrow.history.declared_histories", "archive_folder")
    history_table = deferred("windrow.history.declared_histories", "history_table")
    HistoryOperator = deferred("windrow.history.operator", "HistoryOperator")
    spec_of = deferred("windrow.history.operator", "spec_of")
    ParquetArchive = deferred("windrow.history.parquet_archive", "ParquetArchive")
    ask = deferred("windrow.history.questions.ask", "ask")
    ask_progressively = deferred("windrow.history.questions.ask", "ask_progressively")
    move_on = deferred("windrow.history.questions.continuous", "move_on")
    group_keys = deferred("windrow.history.questions.series", "group_keys")
    series_of = deferred("windrow.history.questions.series", "series_of")
    shape_table = deferred("windrow.history.questions.series", "shape_table")

__all__ = ["Histories"]

Interval = tuple[int | None, int | None]  # None: from the start, to where the stream is complete


class Histories:
    """At most one history for each stream, and the queries that follow them.

    unread_bytes: what a query may hold of answers and changes that nobody reads.
    """

    def __init__(self, unread_bytes: int = UNREAD_BYTES) -> None:
        self._unread_bytes = unread_bytes
        self.query_kind: Callable[..., EmbeddedHistoryQuery] | None = None  # another than usual
        self.operators: dict[str, HistoryOperator] = {}
        # Those that run, by stream and name.
        self._queries: dict[str, dict[str, EmbeddedHistoryQuery]] = {}

    @property
    def schemas(self) -> dict[str, HistorySchema]:
        """What is kept, by stream."""
        return {name: operator.schema for name, operator in self.operators.items()}

    @property
    def nbytes(self) -> int:
        """Bytes of all histories, of rows that wait for them, and of what queries of them hold."""
        queries = sum(query.nbytes for query in self.running())
        return queries + sum(operator.nbytes for operator in self.operators.values())

    def declare(
        self, schema: HistorySchema, source: StreamIngest, archive: str | os.PathLike[str] | None
    ) -> None:
        """Keep the history of a stream from now on.

        Rows that came before are not in it: it knows the time behind the newest of them.
        """
        name = schema.stream.name
        if name in self.operators:
            raise BindingError(
                "WB320",
                f"stream {name!r} already has a history",
                hint="declare one history with all measures and keys that you need",
            )
        folder = None
        if archive is not None:
            folder = ParquetArchive(archive_folder(archive), spec_of(schema))
        newest_us = source.completeness.newest
        known_from_us = START_OF_TIME if source.first_us is None else newest_us + 1
        operator = HistoryOperator(schema, folder, known_from_us)
        _take(operator, None, None, source)
        _advance(operator, [], clock_of([source.completeness]))
        operators, queries = {**self.operators, name: operator}, {**self._queries, name: {}}
        self.operators, self._queries = operators, queries

    def complete(self, query: EmbeddedQuery, stream: str, since_us: int = START_OF_TIME) -> None:
        """Let the history of a stream fill in what a narrowed window lacks.

        since_us: from there on the query was given every row that the history has.
        """
        operator = self.operators.get(stream)
        if operator is not None:
            query.fill_from(operator.history, max(operator.known_from_us, since_us))

    def ask(self, plan: HistoryPlan) -> pa.Table:
        """The answer to a question."""
        return ask(self._operator(plan.streams[0]), plan)

    def ask_progressively(self, plan: HistoryPlan) -> Iterator[pa.Table]:
        """Answers to a question, coarse first."""
        return ask_progressively(self._operator(plan.streams[0]), plan)

    def series(
        self, stream: str, measure: str | None, interval: Interval, points: int, group: list[str]
    ) -> pa.Table:
        """Points of a chart, of one group or of all."""
        operator = self._operator(stream)
        return series_of(operator, measure, *interval, points, group_keys(operator.schema, group))

    def tree(self, stream: str, group: list[str]) -> pa.Table:
        """The nodes of a history, of one group or of all."""
        operator = self._operator(stream)
        return shape_table(operator, group_keys(operator.schema, group))

    def _operator(self, stream: str) -> HistoryOperator:
        operator = self.operators.get(stream)
        if operator is None:
            known = ", ".join(self.operators) or "none"
            raise BindingError(
                "WB327",
                f"stream {stream!r} has no history",
                hint=f"declare one with session.history(); the streams with a history are: {known}",
            )
        operator.check_whole()
        return operator

    def follow(
        self, name: str, plan: HistoryPlan, flush: Callable[[], None], lock: RLock
    ) -> EmbeddedHistoryQuery:
        """Run a query repeatedly as time advances."""
        stream = plan.streams[0]
        parts = (self._operator(stream), flush, lock, self._ended, self._unread_bytes)
        query = (self.query_kind or EmbeddedHistoryQuery)(name, plan, *parts)
        self._queries[stream][name] = query
        return query

    def followed(self) -> dict[str, EmbeddedHistoryQuery]:
        """The queries that follow histories, by name."""
        return {name: each for queries in self._queries.values() for name, each in queries.items()}

    def is_followed_by(self, name: str) -> bool:
        """Whether a query of that name is running."""
        return any(name in queries for queries in self._queries.values())

    def _ended(self, query: EmbeddedHistoryQuery) -> None:
        stream = query.plan.streams[0]
        queries = self._queries[stream]
        if queries.get(query.name) is query:
            # In a step that is taken back it goes on.
            self.operators[stream].history.log.keep_item(queries, query.name)
            del queries[query.name]

    def stop(self) -> None:
        """End all continuous questions."""
        for query in self.running():
            query.stop()

    def running(self) -> list[EmbeddedHistoryQuery]:
        """The running continuous queries."""
        return [each for queries in self._queries.values() for each in queries.values()]

    def apply(
        self,
        number: int,
        source: StreamIngest,
        batch: pa.RecordBatch | None,
        missed: NDArray[np.int64] | None,
    ) -> None:
        """Rows of a stream were accepted, or refused at the missed times, or its time has moved on.

        number: of the step; the same step is made once, however often it is given. It has two
        parts: where the history cannot move on, the rows wait in it until it can.
        """
        stream = source.schema.name
        operator = self.operators.get(stream)
        if operator is None or not operator.history.is_whole:
            return
        taken, moved = 2 * number, 2 * number + 1
        if operator.step_made < taken:
            operator.begin_step(taken)
            _take(operator, batch, missed, source)
            operator.keep_step()
        if operator.step_made < moved:
            completeness = source.completeness
            self._move_on(operator, moved, min(clock_of([completeness]), completeness.final))

    def _move_on(self, operator: HistoryOperator, step: int, clock: int) -> None:
        operator.undo_step()
        queries = list(self._queries[operator.schema.stream.name].values())
        for query in queries:
            query.recover()
        operator.begin_step(step, *(part for query in queries for part in query.parts))
        try:
            _advance(operator, queries, clock)
        except WindrowError:
            operator.undo_step()
            raise
        operator.keep_step()

    def give_up(self, stream: str) -> None:
        """What was broken off was broken off again: the history answers no more."""
        self.operators[stream].history.is_whole = False

    def table(self) -> pa.Table:
        """One row per history: what it keeps, what it knows, and its bytes."""
        return history_table(
            HistoryRow(each.schema, each.known_from_us, each.known_to_us, each.rows, each.nbytes)
            for each in self.operators.values()
        )


def _take(
    operator: HistoryOperator,
    batch: pa.RecordBatch | None,
    missed: NDArray[np.int64] | None,
    source: StreamIngest,
) -> None:
    """Buffer rows until a history advances; it is notified of those that were refused."""
    if missed is not None:
        operator.miss(missed)
    if batch is not None:
        operator.append(batch)
    if source.completeness.is_finished:
        operator.finish()


def _advance(operator: HistoryOperator, queries: list[EmbeddedHistoryQuery], clock: int) -> None:
    """Move on to the clock, and stop wherever a query looks."""
    asking = {id(query.question): query for query in queries}

    def look(question: ContinuousQuestion, instant: int) -> None:
        asking[id(question)].look(instant)

    move_on(operator, [query.question for query in queries], clock, look)
