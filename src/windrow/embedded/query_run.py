"""The run of a query: it takes rows and moves to the clock, in parts that are whole or undone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.deferred import deferred
from windrow.embedded.query_parts import QueryMark, QueryStep, TakenRows
from windrow.errors import DataError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.operators.partial import Partial
from windrow.operators.relations.operator import StepTooLargeError
from windrow.output.publish import Publisher
from windrow.output.session_publisher import SessionPublisher
from windrow.rows.faults import FaultError
from windrow.rows.life import ALWAYS, in_life, life_of
from windrow.rows.prepare import Preparer, lifetime_of
from windrow.rows.set_aside import NOTED_IN, QueryLedger
from windrow.rows.shared_rows import QueryLife, RowReader
from windrow.runtime.pace import Pace
from windrow.windows.instants import WaitingInstants, merged
from windrow.windows.lifetime import Lifetime
from windrow.windows.marks import DeepMark, Mark

if TYPE_CHECKING:
    from windrow.embedded.view_instants import ViewInstants
    from windrow.embedded.view_run import ViewRun
    from windrow.governor.bounded.answers import BoundedAnswers
    from windrow.governor.bounded.joined_answers import JoinedAnswers
    from windrow.governor.bounded.missed_rows import MissedRows, marked_incomplete
    from windrow.plan.relations.tree_plan import RunnablePlan
    from windrow.runtime.run_shard import RunShard
else:
    MissedRows = deferred("windrow.governor.bounded.missed_rows", "MissedRows")
    marked_incomplete = deferred("windrow.governor.bounded.missed_rows", "marked_incomplete")

__all__ = ["NEVER", "QueryRun"]

# The life of a query while nobody knows when it begins: no row is of that time.
NEVER = (END_OF_TIME, START_OF_TIME)


class QueryRun:
    """What a query in this process does when rows come and time moves on."""

    plan: RunnablePlan
    _shard: RunShard
    _publisher: Publisher | SessionPublisher
    _bounded: BoundedAnswers | JoinedAnswers | None
    _missed: MissedRows | None  # None while no row was refused
    reading: QueryLife
    _pace: Pace
    _preparers: list[Preparer]
    _entries: list[WaitingInstants]
    _readers: tuple[RowReader, ...]
    views: tuple[ViewRun, ...]  # that it reads
    _view_instants: list[ViewInstants]  # one for each of them, and for each table
    _life: tuple[int, int] | None
    _first_clock: int | None
    _taken: int  # the number of the last step whose rows were taken
    _mark: QueryMark | None  # where to go back to when a part of a step fails
    _ledger: QueryLedger  # of the rows that it took
    _aside_now: QueryLedger | None = None  # what is set aside while rows of a step are prepared

    @property
    @abstractmethod
    def clock(self) -> int:
        """The instant through which the query has answered."""

    @abstractmethod
    def fail(self, error: DataError) -> None:
        """Stop for good."""

    @abstractmethod
    def _end(self) -> None: ...

    @property
    def readers(self) -> tuple[RowReader, ...]:
        """Where it reads shared rows: for all inputs or, where it has rows of its own, none."""
        readers = self._readers
        return readers if readers and readers[0].window is not None else ()

    def change_lifetime(self, input_index: int, lifetime: Lifetime) -> None:
        """Let rows go by another lifetime from the clock on; what is too old goes at once.

        A window that takes turns answers at the end of each.
        """
        self.repair()
        shard = self._shard
        with self._part():
            if self._bounded is not None:
                self._publisher.answer_at_turns(lifetime.turn_ends)
                self._bounded.change_lifetime(lifetime, shard.clock, input_index)
            shard.change_lifetimes({input_index: lifetime})
            if shard.clock > START_OF_TIME:
                self._publish(shard.advance({}, shard.clock), shard.clock)

    def limit_profile(self, most_bytes: int) -> None:
        """What is known of arrivals, where it has ERROR, may take no more than that."""
        if self._bounded is not None:
            self._bounded.limit(most_bytes)

    def begin(self, first_us: int) -> None:
        """The first row of its first stream has come: DURATION may count from there."""
        if self._life is None:
            self._life = life_of(self.plan, first_us)
            self.reading.span = self._life or NEVER

    @property
    def life(self) -> tuple[int, int] | None:
        """Its first and last instant; None while they are not known."""
        return self._life

    def lacks_rows(self) -> bool:
        """Whether the answer at the clock lacks rows; nothing is applied for it."""
        return self._lacks_rows_at(self.clock)

    def _lacks_rows_at(self, instant: int) -> bool:
        if self._missed is not None and not self._missed.is_complete(instant):
            return True
        return any(view._lacks_rows_at(instant) for view in self.views)

    @property
    def _has_missed(self) -> bool:
        """Whether a row was refused that it, or a view that it reads, should have had."""
        return self._missed is not None or any(view._has_missed for view in self.views)

    def lacking(self, at: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which answers at these instants lack rows that were refused."""
        found = np.zeros(at.size, np.bool_) if self._missed is None else self._missed.lacking(at)
        for view in self.views:
            found |= view.lacking(at)
        return found

    def _marked_answers(self) -> pa.Table:
        """Answers with their levels."""
        answers = (self._bounded or self._publisher).answers()
        if self.views:
            lacking = self.lacking(answers.column("at").cast(pa.int64()).to_numpy())
            return marked_incomplete(answers, lacking) if lacking.any() else answers
        return answers if self._missed is None else self._missed.marked(answers, self.clock)

    def spare_until_us(self, input_index: int) -> int:
        """Rows of an input up to this time are in no complete answer any more."""
        end_us = None if self._missed is None else self._missed.next_end(self.clock)
        window = self.plan.inputs[input_index].window
        if end_us is None or not window.traits.has_width or self._shard.fixes_lifetimes:
            return START_OF_TIME
        full = lifetime_of(window)
        return (end_us + 1 - full.hold_us) // full.slide_us * full.slide_us

    def let_go(self, input_index: int, last_us: int) -> None:
        """Rows of an input up to this time leave now; answers lack them from the clock on."""
        self.repair()
        shard, missed = self._shard, self._missed
        end_us = None if missed is None else missed.next_end(self.clock)
        lifetime = shard.lifetime(input_index)
        edge_us = int(lifetime.enter(np.array([last_us]))[0]) + 1
        with self._part():
            if missed is not None and end_us is not None:
                missed.lose(shard.clock, end_us)
            if self._bounded is not None:
                self._bounded.lose_before(edge_us, input_index)
            hold_us = shard.clock - edge_us + 1
            shard.change_lifetimes({input_index: Lifetime(lifetime.slide_us, hold_us, shard.clock)})
            self._publish(shard.advance({}, shard.clock), shard.clock)
            shard.change_lifetimes({input_index: lifetime})

    def apply(self, step: QueryStep) -> None:
        """Take rows of streams, in order of arrival, and run to the clock.

        A step of the same number goes on where it was broken off, from the last part of it that was
        whole. A row in which an expression has no value ends the query; every read tells of it.
        """
        if self._mark is not None:
            self.repair()
        try:
            while not self._has_run(step):
                pass
        except FaultError as fault:
            self._end()
            self.fail(fault)

    def _has_run(self, step: QueryStep) -> bool:
        """Whether the step is made; else its next part was too large, and the pace knows it."""
        try:
            self._run(step)
        except StepTooLargeError as large:
            self.repair()
            self._pace.note_failure(large.events, large.changes)
            return False
        return True

    def _run(self, step: QueryStep) -> None:
        first, last = self._life or NEVER
        shard, clock = self._shard, min(step.clock, last)
        if self._taken != step.number:
            self._take(step, clock)
        while shard.clock < clock:
            with self._part():
                self._move(clock)
        if self._first_clock is None and shard.clock > START_OF_TIME:
            self._first_clock = shard.clock
        if last <= shard.clock and first <= last:
            self._end()

    @property
    def is_whole(self) -> bool:
        """Whether no part of a step was interrupted."""
        return self._mark is None

    def repair(self) -> None:
        """Roll back an interrupted part of a step, if there is one."""
        mark = self._mark
        if mark is not None:
            mark.others.rewind()
            if mark.missed is None:
                self._missed = None
            else:
                mark.missed.rewind()
            if mark.publisher is not None:
                self._publisher.rewind(mark.publisher)
            if self._bounded is not None and mark.bounded is not None:
                self._bounded.rewind(mark.bounded)
            self._shard.rewind(mark.shard)
            self._mark = None
            self._shard.keep(mark.shard)

    @contextmanager
    def _part(
        self,
        taking: Collection[int] = (),
        step: int | None = None,
        *,
        publishes: bool = True,
        also: Iterable[object] = (),
    ) -> Iterator[None]:
        """A part of a step that is made whole, or undone by repair() before anything else.

        taking: the inputs whose rows are taken in it. step: the number of the step whose rows are.
        publishes: whether it surely changes what is published; else _publish() notes that it does.
        also: what else changes in it.
        """
        bounded = None if self._bounded is None else self._bounded.mark()
        others = Mark(self._pace, self._ledger, *self._entries, *self._view_instants, *also)
        missed = None if self._missed is None else DeepMark(self._missed)
        publisher = self._publisher.mark() if publishes else None
        mark = QueryMark(self._shard.mark(taking), publisher, bounded, others, missed)
        self._mark = mark
        token = NOTED_IN.set(self._ledger)
        try:
            yield
        finally:
            NOTED_IN.reset(token)
        self._taken, self._mark = step or self._taken, None
        self._shard.keep(mark.shard)

    def _take(self, step: QueryStep, clock: int) -> None:
        """Take the rows of a step, and run as far as a part of it may go."""
        noted = self._aside_now
        if noted is None or noted.rows:  # of a step before this one
            noted = self._aside_now = QueryLedger(self._ledger.inputs)
        token = NOTED_IN.set(noted)
        try:
            prepared = self._prepared(step)
        finally:
            NOTED_IN.reset(token)
        missed = step.missed
        if not prepared and not missed:
            return
        with self._part(prepared, step.number, publishes=False):
            for input_index, times in missed.items():
                self._missed = self._missed or MissedRows(self.plan)
                self._missed.miss(input_index, times[in_life(times, self._life or NEVER)])
            changes = {}
            if noted.rows:
                self._ledger.add(noted)
            for input_index, rows in prepared.items():
                self._ledger.rows_in[self.plan.inputs[input_index].alias] += rows.batch.num_rows
                changes[input_index] = rows.prepared
                self._entries[input_index].add(rows.instants)
                if self._bounded is not None:
                    self._bounded.take(input_index, rows.batch)
            self._shard.append(changes)
            # By arrival rows may be of the very instant of the clock.
            if self._shard.clock < clock or (step.is_by_arrival and prepared):
                self._move(clock)

    def _prepared(self, step: QueryStep) -> dict[int, TakenRows]:
        found: dict[int, TakenRows] = {}
        rows, readers = step.rows, self.readers
        if rows is None or not rows.times.size:
            return found
        if self._life != ALWAYS:
            rows = rows.filtered(in_life(rows.times, self._life or NEVER))
        for input_index in self.plan.inputs_of.get(step.stream or "", ()):
            preparer = self._preparers[input_index]
            prepared = step.shares[readers[input_index]] if readers else None
            if isinstance(prepared, FaultError):
                raise prepared
            if prepared is None:
                prepared = preparer.prepare(*rows)
            instants = rows.times if preparer.is_entered_at_time else preparer.instants(rows.times)
            found[input_index] = TakenRows(rows.batch, instants, prepared)
        return found

    def _move(self, clock: int) -> None:
        """Run towards the clock, as far as a part of a step may go.

        After silence an hour of results may expire at once. What a part gives is published before
        the next one, so that only a part's worth is ever held next to the result.
        """
        shard, pace = self._shard, self._pace
        stop = pace.next_stop(shard, clock)
        if self._bounded is not None:
            stop = max(shard.clock, self._bounded.next_stop(stop))
        self._publish(pace.step(shard, stop), stop)

    @property
    def _answers_at_ticks(self) -> bool:
        """Whether answers are due at instants of a grid, whenever rows enter."""
        return self._publisher.answers_at_ticks

    def _publish(self, partial: Partial, clock: int) -> None:
        if self._mark is not None and self._mark.publisher is None:
            self._mark.publisher = self._publisher.mark()
        self._absorb(partial, self._entered(clock), clock)
        if self._bounded is not None:
            self._bounded.advance(clock)

    def _absorb(self, partial: Partial, entered: NDArray[np.int64], clock: int) -> None:
        """Let the publisher have a step, and of sessions those that closed in it."""
        closed = self._shard.closed
        if isinstance(self._publisher, SessionPublisher):
            assert closed is not None
            self._publisher.absorb_sessions(partial, entered, *closed, clock)
        else:
            self._publisher.absorb([*enumerate((partial, *partial.also))], entered, clock)

    def _entered(self, clock: int) -> NDArray[np.int64]:
        """The instants up to the clock at which rows entered, as far as answers depend on them."""
        found = self._shard.entered
        for input_index, waiting in enumerate(self._entries):
            if self._missed is not None:
                instants = waiting.release(clock)
                self._missed.entered(input_index, instants)
            elif self._answers_at_ticks:
                count, first = waiting.drop(clock)
                instants = np.full(min(count, 1), first)
            else:
                instants = waiting.release_distinct(clock)
            if self.plan.answering[input_index]:
                found = merged(found, instants) if found.size else instants
        for read in self._view_instants:
            instants = read.release(clock)
            if read.is_answering:
                found = merged(found, instants) if found.size else instants
        return found
