"""The way of rows through a session: gathered, given room, then applied to all that read them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pyarrow as pa

from windrow.embedded.governing import Governing
from windrow.embedded.history_room import Histories
from windrow.embedded.inlet import GATHERED_ROWS, Inlet
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.query import EmbeddedQuery
from windrow.engine.ledger import Ledger
from windrow.engine.shared_rows import RowPool
from windrow.errors import AdmissionError, BindingError, WindrowError
from windrow.plan.nearest import nearest
from windrow.schema import StreamSchema
from windrow.windows.completeness import clock_of

__all__ = ["Intake"]


class Intake:
    """The streams of a session with their rows; `running` gives the queries that read them."""

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
        self.governing = Governing(memory, self.pool, running, lambda: histories.nbytes)

    def declare(self, schema: StreamSchema) -> None:
        """One more stream."""
        self.inlets[schema.name] = Inlet(schema)

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
            if inlet.gathered >= GATHERED_ROWS:
                self.settle()
            return
        self.settle()
        self._take(stream, inlet.converted(rows))

    def advance(self, stream: str, instant_us: int) -> None:
        """The stream is complete through that instant."""
        inlet = self.inlet(stream)
        self.settle()
        inlet.completeness.advance(instant_us)
        self._apply(stream, None)

    def finish(self) -> None:
        """All streams are complete."""
        self.settle()
        for inlet in self.inlets.values():
            inlet.completeness.finish()
        self._apply(None, None)

    @one_at_a_time
    def settle(self) -> None:
        """Rows that were gathered are applied."""
        for name, inlet in self.inlets.items():
            if inlet.gathered:
                self._take(name, inlet.take_gathered())

    def clock_of(self, streams: tuple[str, ...]) -> int:
        """The instant through which all of these streams are complete."""
        return clock_of(self.inlets[stream].completeness for stream in streams)

    def clock(self, stream: str) -> int:
        """The instant through which every query that reads the stream has worked."""
        clocks = [query.clock for query in self._running() if stream in query.plan.streams]
        return min(clocks, default=self.inlets[stream].completeness.through)

    def ledgers(self) -> dict[str, Ledger]:
        """Per stream what became of its rows."""
        return {name: inlet.ledger(self.clock(name)) for name, inlet in self.inlets.items()}

    def _take(self, stream: str, rows: pa.RecordBatch) -> None:
        """Apply rows, in slices for which there is room; each is over before the next begins."""
        inlet, taken = self.inlets[stream], 0
        while taken < rows.num_rows or not rows.num_rows:
            try:
                count = self.governing.make_room(stream, rows.num_rows - taken)
            except AdmissionError:
                inlet.reject(rows.slice(taken))
                raise
            self._apply(stream, inlet.accept(rows.slice(taken, count)))
            taken += count
            if not rows.num_rows:
                return

    def _apply(self, stream: str | None, batch: pa.RecordBatch | None) -> None:
        """Run all queries on the stream (None: on any); one that fails does not stop the others."""
        batches = {}
        if stream is not None and batch is not None:
            batches = {stream: batch}
            self._take_shared(stream, batch)
        problem = self._feed_histories(stream, batch)
        running = self._running()
        for query in running:
            if stream is None or stream in query.plan.streams:
                try:
                    query.apply(batches, self.clock_of(query.plan.streams))
                except WindrowError as error:
                    problem = problem or error
        for query in [each for each in running if not each.is_running]:
            self.governing.ended(query)
        self.governing.after_step()
        if problem is not None:
            raise problem

    def _feed_histories(
        self, stream: str | None, batch: pa.RecordBatch | None
    ) -> WindrowError | None:
        problem: WindrowError | None = None
        for name in self.inlets if stream is None else (stream,):
            try:
                self._histories.apply(name, batch, self.inlets[name])
            except WindrowError as error:
                problem = problem or error
        return problem

    def _take_shared(self, stream: str, batch: pa.RecordBatch) -> None:
        """Rows that several queries read are taken once, before any of them runs."""
        first_us = self.inlets[stream].first_us
        for query in self._running():
            if first_us is not None and stream == query.plan.streams[0]:
                query.begin(first_us)
            query.expect()
        self.pool.take(stream, batch)
