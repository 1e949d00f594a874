"""The way of rows through a session: gathered, given room, then applied to all that read them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.embedded.governing import Governing
from windrow.embedded.history_room import Histories
from windrow.embedded.inlet import Inlet, late_bytes
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.query import EmbeddedQuery
from windrow.errors import AdmissionError, BindingError, WindrowError
from windrow.output.broken_off import broken_off, history_broken_off
from windrow.plan.nearest import nearest
from windrow.rows.shared_rows import RowPool
from windrow.runtime.ledger import Ledger
from windrow.schema import StreamSchema
from windrow.windows.completeness import clock_of
from windrow.windows.marks import Mark
from windrow.windows.row_store import RowStore, StoreMark

__all__ = ["Intake"]


# So many rows are refused before it is asked again whether there is room.
REFUSED_AT_ONCE = 256


@dataclass
class Step:
    """Rows on their way to everything that reads their stream; no stream: time alone moves.

    Until it is decided, nothing has happened: the marks say how to get back to that. From then on
    it happens: whatever breaks it off, it goes on where it was, before anything else is done.
    missed: the times of rows that were refused.
    """

    number: int
    stream: str | None
    undo: Mark
    stores: list[tuple[RowStore, StoreMark]]
    batch: pa.RecordBatch | None = None
    missed: NDArray[np.int64] | None = None
    is_decided: bool = False
    queries: list[EmbeddedQuery] = field(default_factory=list)  # that ran when it was decided
    is_resumed: bool = False
    problem: WindrowError | None = None


class Intake:
    """The streams of a session with their rows; `running` returns the queries that read them."""

    def __init__(
        self,
        lock: threading.RLock,
        running: Callable[[], list[EmbeddedQuery]],
        histories: Histories,
        memory: int,
    ) -> None:
        self._lock = lock
        self._running = running
        self._histories = histories
        self.inlets: dict[str, Inlet] = {}
        self.pool = RowPool()
        self._memory = memory
        beside = (lambda: histories.nbytes, self._set_aside_bytes)
        self.governing = Governing(memory, self.pool, running, *beside)
        self._undo: Mark | None = None
        self._is_making_room = False
        self._step: Step | None = None
        self._steps = 0

    def declare(self, schema: StreamSchema) -> None:
        """One more stream."""
        self.inlets[schema.name] = Inlet(schema, late_bytes(self._memory))

    def _set_aside_bytes(self) -> int:
        """Bytes of rows that were late or are not converted yet, and of their times."""
        return sum(inlet.nbytes for inlet in self.inlets.values())

    def inlet(self, stream: str) -> Inlet:
        """The stream of that name."""
        inlet = self.inlets.get(stream)
        if inlet is None:
            close = nearest(stream, self.inlets)
            raise BindingError(
                "WB106",
                f"there is no stream {stream!r}",
                hint=f"did you mean {close!r}?" if close else "declare it with session.stream()",
            )
        return inlet

    def push(self, stream: str, rows: object) -> None:
        """Rows in any form; a few at a time are gathered until there are enough, or one looks."""
        inlet = self.inlet(stream)
        if inlet.gather(rows):
            if inlet.has_gathered_enough:
                self.settle()
            return
        self.settle()
        with self._all_or_nothing(inlet):
            batch = inlet.converted(rows)
        self._take(inlet, batch)

    def advance(self, stream: str, instant_us: int) -> None:
        """The stream is complete through that instant."""
        inlet = self.inlet(stream)
        self.settle()
        _raise_first([self._move_to(inlet, instant_us)])

    def finish(self) -> None:
        """All streams are complete."""
        self.settle()
        inlets = self.inlets.values()
        step = self._begin(None, Mark(*(part for inlet in inlets for part in inlet.parts)))
        for inlet in inlets:
            inlet.completeness.finish()
        _raise_first([self._decide(step)])

    @one_at_a_time
    def settle(self) -> None:
        """Interrupted steps are completed, and buffered rows are applied."""
        self._recover()
        for inlet in self.inlets.values():
            if inlet.gathered:
                self._take_gathered(inlet)

    def clock_of(self, streams: tuple[str, ...]) -> int:
        """The instant through which all of these streams are complete."""
        return clock_of(self.inlets[stream].completeness for stream in streams)

    def clock(self, stream: str) -> int:
        """The instant through which every query that reads the stream has worked."""
        clocks = [query.clock for query in self._running() if stream in query.plan.streams]
        return min(clocks, default=self.inlets[stream].completeness.through)

    def ledgers(self) -> dict[str, Ledger]:
        """Per stream what became of its rows."""
        found = {}
        for name, inlet in self.inlets.items():
            with self._all_or_nothing(inlet):
                found[name] = inlet.ledger(self.clock(name))
        return found

    def _take_gathered(self, inlet: Inlet) -> None:
        """Rows that were pushed one by one; they stay where they are until they are taken."""
        with self._all_or_nothing(inlet):
            batch = inlet.converted_gathered()
        self._take(inlet, batch, is_gathered=True)

    def _take(self, inlet: Inlet, rows: pa.RecordBatch, *, is_gathered: bool = False) -> None:
        """Apply rows, in slices for which there is room; each is over before the next begins.

        Where there is none, a slice is refused, and the next is tried: time has moved on by then.
        What goes wrong with one slice is said when all are done.
        """
        taken = 0
        problems: list[WindrowError | None] = []
        self.governing.note_size(inlet.schema.name, rows)
        if not rows.num_rows:
            problems.append(self._take_slice(inlet, rows, is_gathered=is_gathered))
        while taken < rows.num_rows:
            rest = rows.slice(taken)
            count = self._room_for(inlet, rest, problems)
            if count:
                slice_ = rest.slice(0, count)
                problems.append(self._take_slice(inlet, slice_, is_gathered=is_gathered))
            else:
                count = min(rest.num_rows, REFUSED_AT_ONCE)
                if not any(isinstance(each, AdmissionError) for each in problems):
                    problems.append(self.governing.refusal())
                refused = rest.slice(0, count)
                problems.append(self._refuse(inlet, refused, is_gathered=is_gathered))
            taken += count
        _raise_first(problems)

    def _room_for(
        self, inlet: Inlet, rows: pa.RecordBatch, problems: list[WindrowError | None]
    ) -> int:
        """How many of the rows may be taken now."""
        self._is_making_room = True
        move_on = partial(self._move_on, inlet, rows, problems)
        count = self.governing.make_room(inlet.schema.name, rows.num_rows, move_on)
        self._is_making_room = False
        return count

    def _take_slice(
        self, inlet: Inlet, rows: pa.RecordBatch, *, is_gathered: bool
    ) -> WindrowError | None:
        stream = inlet.schema.name
        step = self._begin(stream, Mark(*inlet.parts))
        step.batch = inlet.accept(rows)
        if is_gathered:
            inlet.forget_gathered(rows.num_rows)
        self._share(stream, step.batch)
        return self._decide(step)

    def _refuse(
        self, inlet: Inlet, rows: pa.RecordBatch, *, is_gathered: bool
    ) -> WindrowError | None:
        """Refused rows: everything that reads them is notified, and time advances."""
        step = self._begin(inlet.schema.name, Mark(*inlet.parts))
        step.missed = inlet.refuse(rows)
        if is_gathered:
            inlet.forget_gathered(rows.num_rows)
        self._note_first(inlet)
        return self._decide(step)

    def _move_on(
        self, inlet: Inlet, rows: pa.RecordBatch, problems: list[WindrowError | None]
    ) -> None:
        """Let go of what is too old by the time of rows, before there must be room for them."""
        instant_us = inlet.complete_before(rows)
        if instant_us > inlet.completeness.through:
            problems.append(self._move_to(inlet, instant_us))

    def _move_to(self, inlet: Inlet, instant_us: int) -> WindrowError | None:
        """The stream is complete through that instant."""
        step = self._begin(inlet.schema.name, Mark(*inlet.parts))
        inlet.completeness.advance(instant_us)
        return self._decide(step)

    def _share(self, stream: str, batch: pa.RecordBatch) -> None:
        """Rows that several queries read are taken once, before any of them runs."""
        self._note_first(self.inlets[stream])
        for query in self._running():
            query.expect()
        self.pool.take(stream, batch)

    def _note_first(self, inlet: Inlet) -> None:
        """The first row of a stream has come: lives may count from there."""
        if inlet.first_us is not None:
            for query in self._running():
                if inlet.schema.name == query.plan.streams[0]:
                    query.begin(inlet.first_us)

    @contextmanager
    def _all_or_nothing(self, inlet: Inlet) -> Iterator[None]:
        """The counts of a stream change as a whole, or with a WindrowError that reports it."""
        self._undo = Mark(*inlet.parts)
        try:
            yield
        except WindrowError:
            self._undo = None
            raise
        self._undo = None

    def _begin(self, stream: str | None, undo: Mark) -> Step:
        self._steps += 1
        stores = [] if stream is None else self.pool.mark(stream)
        step = self._step = Step(self._steps, stream, undo, stores)
        return step

    def _decide(self, step: Step) -> WindrowError | None:
        """From here on the step is made, whatever happens; what a query has failed with."""
        step.queries, step.is_decided = self._running(), True
        return self._finish_step(step)

    def _recover(self) -> None:
        """Complete an interrupted step, or undo it if it was not committed."""
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
            _raise_first([self._finish_step(step)])
            return
        for store, mark in step.stores:
            store.rewind(mark)
        step.undo.rewind()
        self._step = None

    def _finish_step(self, step: Step) -> WindrowError | None:
        """Run all queries on the stream (None: on any); one that fails does not stop the others."""
        for store, _ in step.stores:
            store.keep()
        self._feed_histories(step)
        for query in step.queries:
            if query.is_running and (step.stream is None or step.stream in query.plan.streams):
                self._run(query, step)
        for query in step.queries:
            if not query.is_running:
                query.tell_end()
        if step.stream is not None:
            inlet = self.inlets[step.stream]
            with self._all_or_nothing(inlet):
                inlet.settle_times(self.clock, step.stream)
        self.governing.after_step()
        self._step = None
        return step.problem

    def _run(self, query: EmbeddedQuery, step: Step) -> None:
        batches = {}
        if step.stream is not None and step.batch is not None:
            batches = {step.stream: step.batch}
        try:
            clock = self.clock_of(query.plan.streams)
            query.apply(step.number, batches, clock, self._missed_by(query, step))
        except WindrowError as error:
            step.problem = step.problem or error
        except Exception as problem:
            if not step.is_resumed:
                raise
            failure = broken_off(query.name, problem)
            query.give_up(failure)
            step.problem = step.problem or failure

    def _missed_by(self, query: EmbeddedQuery, step: Step) -> dict[int, NDArray[np.int64]]:
        """The times of rows that were refused, by the inputs of a query that lack them."""
        if step.missed is None:
            return {}
        inputs = enumerate(query.plan.inputs)
        return {place: step.missed for place, each in inputs if each.stream.name == step.stream}

    def _feed_histories(self, step: Step) -> None:
        for name in self.inlets if step.stream is None else (step.stream,):
            try:
                self._histories.apply(step.number, self.inlets[name], step.batch, step.missed)
            except WindrowError as error:
                step.problem = step.problem or error
            except Exception:
                if not step.is_resumed:
                    raise
                self._histories.give_up(name)
                step.problem = step.problem or history_broken_off(name)


def _raise_first(problems: list[WindrowError | None]) -> None:
    for problem in problems:
        if problem is not None:
            raise problem
