"""Steps of a session: begun, decided, run by every query, and finished whatever breaks them off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from windrow.embedded.governing import Governing
from windrow.embedded.history_registry import Histories
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.query_parts import QueryStep
from windrow.embedded.step import Step
from windrow.embedded.stream_clocks import StreamClocks
from windrow.embedded.stream_ingest import StreamIngest
from windrow.embedded.view_registry import clocks_of, trim_views
from windrow.errors import WindrowError
from windrow.output.broken_off import broken_off, history_broken_off
from windrow.rows.shared_rows import RowPool
from windrow.windows.marks import Mark

__all__ = ["IngestSteps", "raise_first"]

# What views a query reads; called for every query at every step.
_VIEWS = attrgetter("views")


class IngestSteps(StreamClocks):
    """What steps are made of, and how those that were broken off are undone or finished."""

    is_by_arrival: bool
    pool: RowPool
    governing: Governing
    steps: int
    news: int
    _histories: Histories
    _undo: Mark | None
    _is_making_room: bool
    _step: Step | None

    def _note_first(self, stream: StreamIngest) -> None:
        """The first row of a stream has come: lives may count from there."""
        if stream.first_us is not None:
            for query in self._running():
                if query.plan.streams[:1] == (stream.schema.name,):
                    query.begin(stream.first_us)

    @contextmanager
    def _all_or_nothing(self, stream: StreamIngest) -> Iterator[None]:
        """What a stream counts changes as a whole, or with a WindrowError, which tells of it."""
        self._undo = Mark(*stream.parts)
        try:
            yield
        except WindrowError:
            self._undo = None
            raise
        self._undo = None

    def _begin(self, stream: str | None, undo: Mark) -> Step:
        self.steps += 1
        self.news += 1
        shared = [] if stream is None else self.pool.of(stream)
        moves_all = stream is None or self.is_by_arrival
        step = self._step = Step(self.steps, stream, moves_all, undo, shared, [])
        for each in shared:
            step.marks.append(each.mark())
        return step

    def _decide(self, step: Step) -> WindrowError | None:
        """From here on the step is made, whatever happens; what a query has failed with."""
        step.queries, step.is_decided = self._running(), True
        return self._finish_step(step)

    def _recover(self) -> None:
        """Bring to its end what was broken off, or undo it where nothing was decided."""
        if self._undo is not None:
            self._undo.rewind()
            self._undo = None
        if self._is_making_room:
            for query in self._running():
                query.repair()
            self._is_making_room = False
        step = self._step
        if step is None:
            return
        if step.is_decided:
            step.is_resumed = True
            raise_first([self._finish_step(step)])
            return
        for shared, mark in zip(step.shared, step.marks, strict=False):
            shared.store.rewind(mark)
        step.undo.rewind()
        self._step = None

    def _finish_step(self, step: Step) -> WindrowError | None:
        """Run all queries on the stream (None: on any); one that fails does not stop the others."""
        for shared in step.shared:
            shared.store.keep()
        if self.tables.stores:
            self._change_tables(step)
        if self._histories.operators and not step.changes:
            self._feed_histories(step)
        ended = []
        has_views = any(map(_VIEWS, step.queries))
        # Where all streams have ended, a view goes as far as what reads it.
        clocks = clocks_of(step.queries, self.clock_for) if has_views else {}
        for query in step.queries:
            if query.reading.is_running and step.is_for(query):
                self._apply(query, step, clocks.get(id(query)))
            if not query.reading.is_running:
                ended.append(query)
        if has_views:
            trim_views(step.queries)
        if self.tables.stores:
            self.tables.trim(step.queries, self.newest_clock())
        for query in ended:
            query.tell_end()
        self._account(step)
        self._step = None
        return step.problem

    def _change_tables(self, step: Step) -> None:
        """Tables take what the step has for them, and versions whose time has come."""
        if step.changes:
            self.tables.make(step.changes)
        elif step.is_last:
            self.tables.finish()
        else:
            self.tables.move_to(self.newest_clock())

    def _account(self, step: Step) -> None:
        """Count what was applied and what is held, where that may have changed much."""
        if step.stream is not None:
            stream = self.streams[step.stream]
            if stream.has_many_times:
                with self._all_or_nothing(stream):
                    stream.count_applied(self.clock(step.stream))
        if not step.is_granted:
            self.governing.after_step()

    def _apply(self, query: EmbeddedQuery, step: Step, clock: int | None) -> None:
        try:
            clock = self.clock_for(query.plan) if clock is None else clock
            missed = {} if step.missed is None else self._missed_by(query, step.missed, step.stream)
            given = (step.rows, step.shares, missed, self.is_by_arrival)
            query.apply(QueryStep(step.number, clock, step.stream, *given))
        except WindrowError as error:
            step.problem = step.problem or error
        except Exception as problem:
            if not step.is_resumed:
                raise
            failure = broken_off(query.name, problem)
            query.give_up(failure)
            step.problem = step.problem or failure

    def _missed_by(
        self, query: EmbeddedQuery, times: NDArray[np.int64], stream: str | None
    ) -> dict[int, NDArray[np.int64]]:
        """The times of rows that were refused, by the inputs of a query that lack them."""
        return dict.fromkeys(query.plan.inputs_of.get(stream or "", ()), times)

    def _feed_histories(self, step: Step) -> None:
        for name in self.streams if step.stream is None or step.moves_all else (step.stream,):
            is_own = name == step.stream
            batch = step.rows.batch if is_own and step.rows is not None else None
            missed = step.missed if is_own else None
            try:
                self._histories.apply(step.number, self.streams[name], batch, missed)
            except WindrowError as error:
                step.problem = step.problem or error
            except Exception:
                if not step.is_resumed:
                    raise
                self._histories.give_up(name)
                step.problem = step.problem or history_broken_off(name)


def raise_first(problems: list[WindrowError | None]) -> None:
    """Raise the first of what went wrong, if anything did."""
    for problem in problems:
        if problem is not None:
            raise problem
