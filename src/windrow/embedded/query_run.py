"""The run of a query: it takes rows and moves to the clock, in parts that are whole or undone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.embedded.query_parts import QueryMark, TakenRows
from windrow.errors import DataError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.governor.bounded.answers import BoundedAnswers
from windrow.governor.bounded.missed_rows import MissedRows
from windrow.operators.partial import Partial
from windrow.output.publish import Publisher
from windrow.plan.model import QueryPlan
from windrow.rows.faults import FaultError
from windrow.rows.life import ALWAYS, in_life, life_of
from windrow.rows.prepare import Preparer, lifetime_of
from windrow.rows.shared_rows import RowReader
from windrow.runtime.pace import Pace
from windrow.runtime.shard import Shard
from windrow.windows.instants import WaitingInstants, merged
from windrow.windows.lifetime import Lifetime
from windrow.windows.marks import DeepMark, Mark

__all__ = ["NEVER", "QueryRun"]

# The life of a query while nobody knows when it begins: no row is of that time.
NEVER = (END_OF_TIME, START_OF_TIME)


class QueryRun:
    """What a query in this process does when rows come and time moves on."""

    plan: QueryPlan
    _shard: Shard
    _publisher: Publisher
    _judged: BoundedAnswers | None
    _missed: MissedRows
    _pace: Pace
    _preparers: list[Preparer]
    _entries: list[WaitingInstants]
    _readers: tuple[RowReader, ...]
    _life: tuple[int, int] | None
    _first_clock: int | None
    _taken: int  # the number of the last step whose rows were taken
    _mark: QueryMark | None  # where to go back to when a part of a step fails

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
        is_shared = bool(self._readers) and self._readers[0].is_open
        return self._readers if is_shared else ()

    def change_lifetime(self, position: int, lifetime: Lifetime) -> None:
        """Let rows go by another lifetime from the clock on; what is too old goes at once.

        A window that takes turns answers at the end of each.
        """
        self.repair()
        shard = self._shard
        with self._part():
            if self._judged is not None and position == 0:
                self._judged.change_lifetime(lifetime, shard.clock)
                self._publisher.answer_at_turns(lifetime.turn_ends)
            shard.change_lifetimes({position: lifetime})
            if shard.clock > START_OF_TIME:
                self._publish(shard.advance({}, shard.clock), shard.clock)

    def begin(self, first_us: int) -> None:
        """The first row of its first stream has come: DURATION may count from there."""
        if self._life is None:
            self._life = life_of(self.plan, first_us)

    @property
    def life(self) -> tuple[int, int] | None:
        """Its first and last instant; None while they are not known."""
        return self._life

    def expect(self) -> None:
        """Say to shared rows which of those to come take part, before they come."""
        for reader in self._readers:
            reader.life = self._life or NEVER

    def lacks_rows(self) -> bool:
        """Whether the answer at the clock lacks rows; nothing is applied for it."""
        return not self._missed.is_complete(self.clock)

    def spare_until_us(self, position: int) -> int:
        """Rows of an input up to this time are in no complete answer any more."""
        end_us = self._missed.next_end(self.clock)
        window = self.plan.inputs[position].window
        if end_us is None or not window.traits.has_width or self._shard.foretells:
            return START_OF_TIME
        full = lifetime_of(window)
        return (end_us + 1 - full.hold_us) // full.slide_us * full.slide_us

    def let_go(self, position: int, last_us: int) -> None:
        """Rows of an input up to this time leave now; answers lack them from the clock on."""
        self.repair()
        shard, end_us = self._shard, self._missed.next_end(self.clock)
        lifetime = shard.lifetime(position)
        edge_us = int(lifetime.enter(np.array([last_us]))[0]) + 1
        with self._part():
            if end_us is not None:
                self._missed.lose(shard.clock, end_us)
            if self._judged is not None:
                self._judged.lose_before(edge_us)
            hold_us = shard.clock - edge_us + 1
            shard.change_lifetimes({position: Lifetime(lifetime.slide_us, hold_us, shard.clock)})
            self._publish(shard.advance({}, shard.clock), shard.clock)
            shard.change_lifetimes({position: lifetime})

    def apply(
        self,
        step: int,
        batches: Mapping[str, pa.RecordBatch],
        clock: int,
        missed: Mapping[int, NDArray[np.int64]],
    ) -> None:
        """Take rows of streams, in order of arrival, and run to the clock.

        Shared rows have been taken before: this query's part of them is ready. A step of the same
        number goes on where it was broken off, from the last part of it that was whole. missed:
        the times of rows that were refused, by input; all are later than the clock. A row in which
        an expression has no value ends the query; it is told by every read.
        """
        self.repair()
        try:
            self._run(step, batches, clock, missed)
        except FaultError as fault:
            self._end()
            self.fail(fault)

    def _run(
        self,
        step: int,
        batches: Mapping[str, pa.RecordBatch],
        clock: int,
        missed: Mapping[int, NDArray[np.int64]],
    ) -> None:
        first, last = self._life or NEVER
        clock = min(clock, last)
        if self._taken != step:
            self._take(step, batches, missed)
        while self._shard.clock < clock:
            self._step(clock)
        if self._first_clock is None and self.clock > START_OF_TIME:
            self._first_clock = self.clock
        if last <= self._shard.clock and first <= last:
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
            mark.missed.rewind()
            self._publisher.rewind(mark.publisher)
            if self._judged is not None and mark.judged is not None:
                self._judged.rewind(mark.judged)
            self._shard.rewind(mark.shard)
            self._mark = None
            self._shard.keep(mark.shard)

    @contextmanager
    def _part(self, taking: Iterable[int] = (), step: int | None = None) -> Iterator[None]:
        """A part of a step that is made whole, or undone by repair() before anything else.

        taking: the inputs whose rows are taken in it. step: the number of the step whose rows are.
        """
        judged = None if self._judged is None else self._judged.mark()
        others = Mark(self._pace, *self._entries)
        missed = DeepMark(self._missed)
        marks = (self._shard.mark(taking), self._publisher.mark(), judged, others, missed)
        mark = self._mark = QueryMark(*marks)
        yield
        self._taken, self._mark = step or self._taken, None
        self._shard.keep(mark.shard)

    def _take(
        self,
        step: int,
        batches: Mapping[str, pa.RecordBatch],
        missed: Mapping[int, NDArray[np.int64]],
    ) -> None:
        """Let rows wait for the clock."""
        prepared = self._prepared(batches)
        if not prepared and not missed:
            return
        with self._part(taking=prepared, step=step):
            for position, times in missed.items():
                self._missed.miss(position, times[in_life(times, self._life or NEVER)])
            for position, rows in prepared.items():
                self._entries[position].add(rows.instants)
                if self._judged is not None:
                    self._judged.watch.take(rows.batch)
            self._shard.take({position: rows.prepared for position, rows in prepared.items()})

    def _prepared(self, batches: Mapping[str, pa.RecordBatch]) -> dict[int, TakenRows]:
        found = {}
        is_shared = bool(self.readers)
        for position, entry in enumerate(self.plan.inputs):
            batch = batches.get(entry.stream.name)
            if batch is None or batch.num_rows == 0:
                continue
            batch = self._within_life(batch, entry.stream.time)
            preparer = self._preparers[position]
            times = batch.column(entry.stream.time).cast(pa.int64()).to_numpy()
            reader = self._readers[position] if is_shared else None
            if reader is not None and reader.fault is not None:
                raise reader.fault
            shared = None if reader is None else reader.prepared
            prepared = preparer.prepare(batch) if shared is None else shared
            found[position] = TakenRows(batch, preparer.instants(times), prepared)
        return found

    def _within_life(self, batch: pa.RecordBatch, time: str) -> pa.RecordBatch:
        """The rows of the query's life."""
        if self._life == ALWAYS:
            return batch
        times = batch.column(time).cast(pa.int64()).to_numpy()
        return batch.filter(pa.array(in_life(times, self._life or NEVER)))

    def _step(self, clock: int) -> None:
        """Run towards the clock, as far as a part of a step may go.

        After silence an hour of results may expire at once. A part's output is published before
        the next one, so that only one part is ever held in addition to the result.
        """
        shard, pace = self._shard, self._pace
        with self._part():
            stop = shard.next_stop(clock, pace.events)
            if self._judged is not None:
                stop = max(shard.clock, self._judged.watch.next_stop(stop))
            before = shard.event_count()
            partial = shard.advance({}, stop)
            pace.note(shard.event_count() - before, partial.size)
            self._publish(partial, stop)

    def _publish(self, partial: Partial, clock: int) -> None:
        self._publisher.absorb([(0, partial)], self._entered(clock), clock)
        if self._judged is not None:
            self._judged.advance(clock)

    def _entered(self, clock: int) -> NDArray[np.int64]:
        entered = [waiting.release(clock) for waiting in self._entries]
        for position, instants in enumerate(entered):
            self._missed.entered(position, instants)
        out = entered[0]
        for more in entered[1:]:
            out = merged(out, more)
        return out
