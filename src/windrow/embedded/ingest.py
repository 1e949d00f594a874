"""The way of rows through a session, in five stages, each whole before the next.

check    values and types: whatever is refused here changes nothing
place    times: bad, late and far-ahead rows are set aside; the watermark moves
apply    shared rows and operators take them, and run to the clock
publish  answers, changes and the result
account  ledger, bytes, governor
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.embedded.governing import Governing
from windrow.embedded.idle_streams import IdleStreams
from windrow.embedded.ingest_steps import raise_first
from windrow.embedded.live_ingest import LiveIngest
from windrow.embedded.pushed_rows import PushedRows
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.row_admission import ORDINARY_ROW_BYTES
from windrow.embedded.step import Step
from windrow.embedded.stream_ingest import StreamIngest, count_of, late_bytes, wall_clock_us
from windrow.embedded.stream_refusals import ended_stream, no_stream
from windrow.embedded.tables import Tables
from windrow.errors import AdmissionError, WindrowError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.plan.tables_read import tables_of
from windrow.rows.file_rows import FileRows
from windrow.rows.gathered_batches import SMALL_ROWS
from windrow.rows.given_table_rows import GivenVersions
from windrow.rows.row_reader import PlainRow
from windrow.rows.shared_rows import RowPool
from windrow.rows_warning import warn_of_rows
from windrow.runtime.ledger import Ledger
from windrow.schema import StreamSchema
from windrow.table_schema import TableSchema
from windrow.windows.completeness import Completeness
from windrow.windows.marks import Mark

if TYPE_CHECKING:
    from windrow.carryover.carryover import CarriedStream
    from windrow.embedded.history_registry import Histories
    from windrow.runtime.tables.table_store import TableChange

__all__ = ["Ingest"]


# So many rows are refused before it is asked again whether there is room.
REFUSED_AT_ONCE = 256

# A number that no step has.
UNKNOWN = -1
# Nothing follows a step.
_ALONE = nullcontext()


class Ingest(LiveIngest):
    """The streams of a session with their rows; `running` gives the queries that read them."""

    _governing_kind: type[Governing] = Governing

    def __init__(
        self,
        lock: threading.RLock,
        running: Callable[[], list[EmbeddedQuery]],
        histories: Histories,
        memory: int,
        *,
        is_by_arrival: bool = False,
    ) -> None:
        super().__init__()
        self.lock = lock
        self.is_by_arrival = is_by_arrival
        self._idle, self._may_be_idle = IdleStreams(), False
        self._all_complete: tuple[Completeness, ...] = ()  # by arrival: that of every stream
        self._running = running
        self._histories = histories
        self.streams: dict[str, StreamIngest] = {}
        self.tables = Tables()
        self.pool = RowPool()
        self.memory = memory
        beside = (self._bytes_beside, self._set_aside_bytes)
        self.governing = self._governing_kind(memory, self.pool, running, *beside)
        self._undo: Mark | None = None
        self._is_making_room = False
        self._step: Step | None = None
        self.steps = 0  # that were begun
        self.news = 0  # pushes and steps that were begun
        self.has_batches = False  # whether small batches wait
        # By arrival: the newest time of all streams, gathered rows included, after so many steps.
        self._newest_us, self._newest_at = START_OF_TIME, 0
        self._are_apart = False  # by arrival, whether some streams have moved and others have not

    def declare(self, schema: StreamSchema) -> None:
        """One more stream."""
        made = self._new_stream(schema, late_bytes(self.memory))
        if self.is_by_arrival:
            newest = [each.completeness.newest for each in self.streams.values()]
            made.completeness.advance(max(newest, default=START_OF_TIME))
            self._all_complete = (*self._all_complete, made.completeness)
        self._idle.watch(schema.name, schema.options.idle_after_us, self._now_us())
        self._may_be_idle = self._idle.may_be_any
        self.streams[schema.name] = made

    def _new_stream(self, schema: StreamSchema, late_bytes: int) -> StreamIngest:
        return StreamIngest(schema, late_bytes, is_by_arrival=self.is_by_arrival)

    def _now_us(self) -> int:
        return wall_clock_us()

    def _bytes_beside(self) -> int:
        """Bytes that are not governed, but count."""
        return self._histories.nbytes + self.tables.nbytes + self.live_bytes

    def _set_aside_bytes(self) -> int:
        """Bytes of rows that were late or are not converted yet, and of their times."""
        return sum(stream.nbytes for stream in self.streams.values())

    def stream(self, name: str) -> StreamIngest:
        """The stream of that name."""
        found = self.streams.get(name)
        if found is None:
            raise no_stream(name, self.streams, is_table=self.tables.get(name) is not None)
        return found

    def open_stream(self, name: str) -> StreamIngest:
        """The stream of that name, which must not have ended."""
        found = self.streams.get(name) or self.stream(name)
        if found.completeness.through >= END_OF_TIME:
            raise ended_stream(name)
        return found

    def push(self, stream: str, rows: object) -> None:
        """Rows in any form; a few at a time are gathered until there are enough, or one looks."""
        into = self.streams.get(stream)
        if into is None or into.completeness.through >= END_OF_TIME:
            into = self.open_stream(stream)  # says why not
        if self._may_be_idle or self._step is not None or self._undo is not None:
            self._recover_before(stream)
        gathered = into.gathered
        read = gathered.readers.get(type(rows))
        row = None if read is None else read(rows)
        self.news += 1
        if row is not None and (not self.is_by_arrival or self._comes_in_order(into, row)):
            if into.batches.pieces:
                self.flush()
            is_full = gathered.add(row)
            if self.is_by_arrival:
                self._newest_us, self._newest_at = row[into.time_place], self.steps
            if is_full:
                self.flush()
        elif row is not None or self.is_by_arrival or not self._gathers(into, rows):
            self._push_batch(into, rows)
        elif gathered.is_full or into.batches.is_full:
            self.flush()
        if self.listening:
            self.tell()

    def _recover_before(self, stream: str) -> None:
        """Before a push: what was broken off is undone, without what comes after it."""
        self.flush()
        if self._may_be_idle:
            self._came(stream)

    def _came(self, stream: str) -> None:
        self._idle.came(stream, self._now_us())

    def _push_batch(self, into: StreamIngest, rows: object) -> None:
        """Rows that are converted and applied by themselves."""
        self.flush()
        self._expect_batch()
        batch = self._converted(into, rows)
        try:
            self._take(into, PushedRows(batch))
        finally:
            if into.news and not isinstance(rows, FileRows):  # a job tells at its end
                warn_of_rows(into.told())

    def _gathers(self, stream: StreamIngest, rows: object) -> bool:
        """Whether a push of few rows waits for others; where memory is short none does."""
        batches = stream.batches
        batch = batches.fitting(rows)
        if batch is None and not batches.pieces and stream.gathered.take(rows):
            return True
        count = batch.num_rows if batch is not None else count_of(rows)
        # Who has subscribed is called after each push.
        if not 0 < count <= SMALL_ROWS or isinstance(rows, FileRows) or self.listening:
            return False
        if not self.governing.may_wait(stream.schema.name, count + batches.count):
            return False
        if stream.gathered.rows:
            self.flush()
        if batch is None:
            batch = self._converted(stream, rows)
        self.has_batches = True
        batches.add(batch, is_urgent=not stream.takes_all(batch))
        return True

    def _converted(self, stream: StreamIngest, rows: object) -> pa.RecordBatch:
        """Rows of any form as columns, before anything else happens to them."""
        try:
            with self._all_or_nothing(stream):
                return stream.converted(rows)
        finally:
            if stream.news and not isinstance(rows, FileRows):
                warn_of_rows(stream.told())

    def _comes_in_order(self, stream: StreamIngest, row: PlainRow) -> bool:
        """By arrival, whether a row is later than all before it, of every stream, and believed.

        Such rows can be applied together. One of equal time counts from then on: others go first.
        """
        at_us, newest_us = stream.plain_time(row), self.arrived_us
        if at_us is None or newest_us is None or at_us < newest_us:
            return False
        if at_us == newest_us:
            self.flush()
        self._newest_at = UNKNOWN  # until the row is gathered
        return True

    def advance(self, stream: str, instant_us: int) -> None:
        """The stream is complete through that instant."""
        into = self.stream(stream)
        self.flush()
        with self._followed_by_runs():
            raise_first([self._move_to(into, instant_us)])
        if self.listening:
            self.tell()

    def carry_on(self, streams: Mapping[str, CarriedStream]) -> None:
        """These streams stand where those of a carryover do."""
        self.steps += 1
        for name, carried in streams.items():
            self.streams[name].carry_on(carried)
            if self.is_by_arrival:
                self._move_others(self.streams[name])

    def finish(self) -> None:
        """All streams are complete."""
        self.flush()
        self._expect_batch()
        streams = self.streams.values()
        step = self._begin(None, Mark(*(part for each in streams for part in each.parts)))
        for each in streams:
            each.completeness.finish()
        step.is_last = True
        raise_first([self._decide(step)])
        if self.listening:
            self.tell()

    def flush(self) -> None:
        """Finish or undo what was broken off, and apply rows that were gathered."""
        with self.lock:
            if self._step is not None or self._undo is not None or self._is_making_room:
                self._recover()
            waiting = self._gathering()
            if waiting or self._are_apart:
                with self._followed_by_runs() if self.with_runs else _ALONE:
                    self._take_waiting(waiting)
            if self.has_batches:
                self._take_batches()
            if self._may_be_idle:
                self._let_idle_go_on(self._now_us())
            for events in self.listening:
                events.keep_up()

    def _let_idle_go_on(self, now_us: int) -> None:
        """Streams that are silent by the clock on the wall get the heartbeats that are due."""
        queries = [query.plan.streams for query in self._running() if query.plan.streams]
        for name, to_us in self._idle.heartbeats(self.streams, queries, now_us).items():
            self._idle.record(name, to_us, now_us)
            raise_first([self._move_to(self.streams[name], to_us)])

    def change_table(
        self, name: str, given_for: Callable[[TableSchema], GivenVersions], rows: int
    ) -> None:
        """Rows or keys for a table: all take effect at once, or none does."""
        store = self.tables.named(name)
        self.flush()
        try:
            given = given_for(store.schema)
        except WindrowError:
            self.reject_change(store.name, rows)
            raise
        if not given.size:
            return
        times = self.newest_clock(), self._newest_event()
        changes = self.tables.changes_of(store, given, *times)
        self._check_table_room(changes, given.size)
        self._expect_batch()
        step = self._begin(None, Mark())
        step.changes = changes
        raise_first([self._decide(step)])
        if self.listening:
            self.tell()

    def _check_table_room(self, changes: list[TableChange], rows: int) -> None:
        """Refuse a change for which there is no room."""
        name = changes[0].store.name
        readers = sum(name in tables_of(query.plan) for query in self._running())
        held, budget = self.governing.nbytes, self.memory
        self.tables.check_room(changes, rows, held, budget, readers)

    def reject_change(self, table: str, rows: int) -> None:
        """Count rows for a table that cannot be read."""
        store = self.tables.stores[table]
        refused, given_rows = store.ledger.rejected + rows, store.ledger.rows_in + rows
        store.ledger = replace(store.ledger, rejected=refused, rows_in=given_rows)

    def ledgers(self) -> dict[str, Ledger]:
        """Per stream what became of its rows."""
        found = {}
        for name, stream in self.streams.items():
            with self._all_or_nothing(stream):
                found[name] = stream.ledger(self.clock(name))
        return found | {name: store.ledger for name, store in self.tables.stores.items()}

    @property
    def arrived_us(self) -> int | None:
        """By arrival, the newest time of all streams, gathered rows included."""
        if not self.is_by_arrival:
            return None
        if self._newest_at != self.steps:
            gathered = [each.gathered.rows[-1][each.time_place] for each in self._gathering()]
            self._newest_us = max([self._newest_event(), *gathered])
            self._newest_at = self.steps
        return self._newest_us

    def _gathering(self) -> list[StreamIngest]:
        """The streams of which rows were pushed one by one and wait."""
        return [stream for stream in self.streams.values() if stream.gathered.rows]

    def _take_waiting(self, waiting: Sequence[StreamIngest]) -> None:
        if self.is_by_arrival:
            self._take_in_order(waiting)
            return
        for stream in waiting:
            self._take_gathered(stream)

    def _take_in_order(self, waiting: Sequence[StreamIngest]) -> None:
        """By arrival: rows of several streams, each later than the one pushed before it.

        A stream's own rows move that stream alone, so that those of the others are not late by
        them; then all streams are as complete as the newest.
        """
        self._are_apart = True
        problems: list[WindrowError | None] = []
        for stream in waiting:
            try:
                self._take_gathered(stream)
            except WindrowError as problem:
                problems.append(problem)
        newest = max(self.streams.values(), key=lambda stream: stream.completeness.newest)
        if any(each.through < newest.completeness.newest for each in self._all_complete):
            problems.append(self._move_to(newest, newest.completeness.newest))
        self._are_apart = False
        raise_first(problems)

    def _take_gathered(self, stream: StreamIngest) -> None:
        """Rows that were pushed one by one; they stay where they are until they are taken."""
        try:
            batch = stream.gathered.converted()
        except (pa.ArrowException, OverflowError, ValueError, TypeError):
            with self._all_or_nothing(stream):
                batch = stream.converted_gathered()
        pushes = stream.gathered.pushes()[: batch.num_rows]
        try:
            self._take(stream, PushedRows(batch, pushes))
        finally:
            if stream.news:
                warn_of_rows(stream.told())

    def _take_batches(self) -> None:
        """Small batches; they stay where they are until they are taken. No run follows them."""
        for stream in self.streams.values():
            if stream.batches.pieces:
                try:
                    self._take(stream, PushedRows(*stream.batches.joined()))
                finally:
                    if stream.news:
                        warn_of_rows(stream.told())
        self.has_batches = False

    def _take(self, stream: StreamIngest, rows: PushedRows) -> None:
        """Apply rows, in slices for which there is room; each is over before the next begins.

        Where there is none, a slice is refused, and the next is tried: time has moved on by then.
        What goes wrong with one slice is said when all are done.
        """
        name, count = stream.schema.name, rows.batch.num_rows
        granted = self.governing.granted.get(name, 0)
        if 0 < count <= granted and rows.batch.nbytes <= count * ORDINARY_ROW_BYTES:
            self.governing.granted[name] = granted - count
            problem = self._take_slice(stream, rows, is_granted=True)
            if problem is not None:
                raise problem
            return
        problems: list[WindrowError | None] = []
        self.governing.note_size(name, rows.batch)
        if not rows.size:
            problems.append(self._take_slice(stream, rows))
        while rows.size:
            count = self._room_for(stream, rows.batch, problems)
            taken = count or min(rows.size, REFUSED_AT_ONCE)
            rows = self._cut_to(taken, stream, rows)
            taken = rows.whole_pushes(taken)
            if count:
                problems.append(self._take_slice(stream, rows.slice(0, taken)))
            else:
                if not any(isinstance(each, AdmissionError) for each in problems):
                    problems.append(self.governing.refusal())
                problems.append(self._refuse(stream, rows.slice(0, taken)))
            rows = rows.slice(taken)
        self.governing.grant(name)
        raise_first(problems)

    def _cut_to(self, count: int, stream: StreamIngest, rows: PushedRows) -> PushedRows:
        """The same rows, such that a first slice of `count` makes no other of its push late."""
        if stream.batches.pieces and count < stream.batches.pieces[0][1]:
            stream.batches.sort_first()
            return PushedRows(*stream.batches.joined())
        return rows.cut_to(count, stream.schema.time)

    def _room_for(
        self, stream: StreamIngest, rows: pa.RecordBatch, problems: list[WindrowError | None]
    ) -> int:
        """How many of the rows may be taken now."""
        self._is_making_room = True
        move_on = partial(self._move_on, stream, rows, problems)
        count = self.governing.make_room(stream.schema.name, rows.num_rows, move_on)
        self._is_making_room = False
        return count

    def _take_slice(
        self, stream: StreamIngest, rows: PushedRows, *, is_granted: bool = False
    ) -> WindrowError | None:
        """One step; is_granted: nothing needs to be counted or decided for it."""
        step = self._begin(stream.schema.name, Mark(*stream.parts, *self._all_complete))
        step.is_granted = is_granted
        is_first = stream.first_us is None
        step.rows = stream.place(*rows)
        if self.is_by_arrival and not rows.is_gathered:
            self._move_others(stream)
        if rows.pushes is not None:
            (stream.batches if stream.batches.pieces else stream.gathered).forget(
                rows.batch.num_rows
            )
        if is_first:
            self._note_first(stream)
        for shared in step.shared:
            shared.append(step.rows, step.shares)
        return self._decide(step)

    def _refuse(self, stream: StreamIngest, rows: PushedRows) -> WindrowError | None:
        """Rows for which there is no room: all that reads them is told, and time goes on."""
        step = self._begin(stream.schema.name, Mark(*stream.parts, *self._all_complete))
        step.missed = stream.refuse(*rows)
        if self.is_by_arrival and not rows.is_gathered:
            self._move_others(stream)
        if rows.pushes is not None:
            (stream.batches if stream.batches.pieces else stream.gathered).forget(
                rows.batch.num_rows
            )
        self._note_first(stream)
        return self._decide(step)

    def _move_on(
        self, stream: StreamIngest, rows: pa.RecordBatch, problems: list[WindrowError | None]
    ) -> None:
        """Evict what is too old by the time of rows, before there must be room for them."""
        instant_us = stream.complete_before(rows)
        for other in self.streams.values() if self._are_apart else ():
            if other.gathered.rows and other is not stream:
                instant_us = min(instant_us, (other.plain_time(other.gathered.rows[0]) or 0) - 1)
        if instant_us > stream.completeness.through:
            problems.append(self._move_to(stream, instant_us))

    def _move_to(self, stream: StreamIngest, instant_us: int) -> WindrowError | None:
        """The stream is complete through that instant."""
        step = self._begin(stream.schema.name, Mark(*stream.parts, *self._all_complete))
        stream.completeness.advance(instant_us)
        if self.is_by_arrival:
            self._move_others(stream)
        return self._decide(step)

    def _move_others(self, stream: StreamIngest) -> None:
        """By arrival all streams are as complete as the one that has moved."""
        for completeness in self._all_complete:
            completeness.advance(stream.completeness.newest)
