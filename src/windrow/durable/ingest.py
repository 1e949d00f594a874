"""The way of rows into a durable session: each stage is written down before it changes anything.

Rows that wait (pushed one by one, or a few at a time) are written in groups: before anything else
happens to them, and a tenth of a second after they came at the latest; with durability="always"
before push() returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.connectors.live import Position
from windrow.durable.bodies import bad_rows_header, batch_body, versions_body
from windrow.durable.governing import DurableGoverning, noted_refusal, refused_again
from windrow.durable.journal import Journal
from windrow.durable.progress import Progress
from windrow.embedded.ingest import Ingest
from windrow.embedded.pushed_rows import PushedRows
from windrow.embedded.stream_ingest import StreamIngest, count_of
from windrow.errors import AdmissionError, WindrowError
from windrow.rows.bad_rows import BadRow
from windrow.rows.file_rows import FileRows
from windrow.rows.given_table_rows import GivenVersions
from windrow.schema import StreamSchema
from windrow.table_schema import TableSchema

if TYPE_CHECKING:
    from windrow.runtime.tables.table_store import TableChange

__all__ = ["MISFITS", "DurableIngest", "DurableStream"]

# What Arrow raises for values that are of a type that fits, and do not fit themselves.
MISFITS = (pa.ArrowException, OverflowError, ValueError, TypeError)


class DurableStream(StreamIngest):
    """A stream whose rows are written before they count."""

    journal: Journal
    written_rows = 0  # of those that are gathered, from the first one on
    written_pieces = 0  # of the small batches likewise

    def _now_us(self) -> int:
        return self.journal.now_us()

    def set_aside(self, rows: Sequence[BadRow]) -> None:
        """Count rows that cannot be held, and keep some of them."""
        if not rows:
            return
        with self.journal.applying("set aside", stream=self.schema.name, **bad_rows_header(rows)):
            super().set_aside(rows)

    def reject(self, rows: Any) -> None:
        """Count rows of a push that cannot be read."""
        self.count_rejected(count_of(rows))

    def count_rejected(self, count: int) -> None:
        """The same, of so many rows."""
        with self.journal.applying("reject", stream=self.schema.name, rows=count):
            super().count_rejected(count)

    def _keep(self, rows: Sequence[BadRow]) -> None:
        if self.journal.is_open:
            super()._keep(rows)
        else:  # a replay: the folder of bad rows has them already
            self._bad.add(rows)

    @property
    def has_unwritten(self) -> bool:
        """Whether rows wait that are in no record yet."""
        waiting = len(self.gathered.rows) > self.written_rows
        return waiting or len(self.batches.pieces) > self.written_pieces

    @property
    def has_waiting(self) -> bool:
        """Whether rows wait to be applied."""
        return bool(self.gathered.rows or self.batches.pieces)

    def write_waiting(self) -> None:
        """Write rows that wait, in the order in which they came."""
        name, gathered, pieces = self.schema.name, self.gathered, self.batches.pieces
        first = self.written_rows
        if len(gathered.rows) > first:
            batch = gathered.converted(first)
            pushes = gathered.pushes()[first:]
            self.journal.note("rows", [batch_body(batch), pushes.tobytes()], stream=name)
            self.written_rows = len(gathered.rows)
        if len(pieces) > self.written_pieces:
            bodies = [memoryview(data) for data, _ in pieces[self.written_pieces :]]
            self.journal.note("small batches", bodies, stream=name)
            self.written_pieces = len(pieces)

    def drop_unwritten(self) -> None:
        """Rows that could not be written were never pushed."""
        self.gathered.drop_after(self.written_rows)
        self.batches.drop_after(self.written_pieces)


class DurableIngest(Ingest):
    """The streams of a durable session."""

    journal: Journal
    streams: dict[str, DurableStream]  # type: ignore[assignment]
    _governing_kind = DurableGoverning
    governing: DurableGoverning
    _tells_later = False  # what is applied now is to be told once it is whole
    piece = 0  # of the source of a table, which is given to it now; 0: the program gives it

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.progress = Progress()

    def attach(self, journal: Journal) -> None:
        """What happens is written there, and so is what is decided."""
        self.journal = journal
        self.governing.attach(journal.decisions, lambda: self.steps)

    def _check_table_room(self, changes: list[TableChange], rows: int) -> None:
        decisions, call = self.journal.decisions, f"table {self.steps}"
        if decisions.are_followed:
            refused_again(decisions.of(call))
            return
        with decisions.made_in(call):
            try:
                super()._check_table_room(changes, rows)
            except AdmissionError as refusal:
                noted_refusal(decisions, refusal)
                raise

    def _now_us(self) -> int:
        return self.journal.now_us()

    def _new_stream(self, schema: StreamSchema, late_bytes: int) -> StreamIngest:
        made = DurableStream(schema, late_bytes, is_by_arrival=self.is_by_arrival)
        made.journal = self.journal
        return made

    def push(self, stream: str, rows: object) -> None:
        """Rows in any form; with durability="always" they are written when it returns."""
        self.journal.check()
        super().push(stream, rows)
        if self.journal.syncs_always:
            self._write_at_once()

    def tell(self) -> None:
        """Call those who have subscribed, once what has happened is written and whole."""
        if self.journal.is_applying:
            self._tells_later = True
            return
        if self.journal.syncs_always and not self._is_telling:
            self._write_at_once()
        super().tell()

    def tell_after(self) -> None:
        """A record was applied."""
        if self._tells_later:
            self._tells_later = False
            self.tell()

    def _write_at_once(self) -> None:
        try:
            self.write_waiting()
        except MISFITS:
            self.flush()
        except WindrowError:
            for stream in self.streams.values():
                stream.drop_unwritten()
            self.has_batches = any(stream.batches.pieces for stream in self.streams.values())
            self.news += 1
            raise

    def write_waiting(self) -> None:
        """Write rows that wait in memory and are in no record yet."""
        if self.journal.writes:
            for stream in self.streams.values():
                if stream.has_unwritten:
                    stream.write_waiting()

    def flush(self) -> None:
        """Apply rows that wait, which are written before; what runs by the clock on the wall."""
        with self.lock:
            if not self.journal.is_applying:
                self.journal.check()
            if not self.journal.writes:
                super().flush()
                self.note_written()
                return
            if self._are_apart or any(each.has_waiting for each in self.streams.values()):
                self._write_all()
                self._written_first("flush", super().flush)
            elif self._may_be_idle and self._idle_is_due():
                self._written_first("flush", super().flush)

    def _written_first(self, kind: str, change: Callable[[], None], **told: Any) -> None:
        try:
            with self.journal.applying(kind, **told):
                change()
        finally:
            self.note_written()

    def write_quietly(self) -> None:
        """Write rows that wait; what does not fit its column is for the next flush."""
        with suppress(*MISFITS):
            self.write_waiting()

    def note_written(self) -> None:
        """What waits now is written: nothing is applied that is not, nor replayed."""
        for stream in self.streams.values():
            stream.written_rows = len(stream.gathered.rows)
            stream.written_pieces = len(stream.batches.pieces)

    def _write_all(self) -> None:
        """Write what waits; rows that only seemed to fit their columns go their own way."""
        for stream in self.streams.values():
            try:
                if stream.has_unwritten:
                    stream.write_waiting()
            except MISFITS:
                self._push_again(stream)

    def _push_again(self, stream: DurableStream) -> None:
        """Rows whose values do not fit although their types do: each is converted by itself."""
        rows = stream.gathered.as_dicts()[stream.written_rows :]
        stream.gathered.drop_after(stream.written_rows)
        problem: WindrowError | None = None
        for row in rows:
            try:
                self._push_batch(stream, [row])
            except WindrowError as error:
                problem = problem or error
        if problem is not None:
            raise problem

    def _idle_is_due(self) -> bool:
        queries = [query.plan.streams for query in self._running() if query.plan.streams]
        return bool(self._idle.heartbeats(self.streams, queries, self.journal.now_us()))

    def _came(self, stream: str) -> None:
        """Rows of a stream have come that may be idle: when is a part of what happened."""
        with self.journal.applying("came", stream=stream):
            super()._came(stream)

    def _take(self, stream: StreamIngest, rows: PushedRows) -> None:
        """Apply rows; those that did not wait are written here."""
        if not self.journal.writes:
            super()._take(stream, rows)
            return
        body = batch_body(rows.batch)
        with self.journal.applying("batch", [body], stream=stream.schema.name):
            super()._take(stream, rows)

    def take_read(self, stream: DurableStream, rows: FileRows) -> None:
        """Apply rows of a file, and those that were set aside: one more batch that is read."""
        self.flush()
        self._expect_batch()
        name, progress = stream.schema.name, self.progress
        batches = progress.batches + 1
        told = {"stream": name, "batches": batches, **bad_rows_header(rows.bad)}
        with self.journal.applying("file rows", [batch_body(rows.batch)], **told):
            # A snapshot may be taken as soon as all is applied.
            progress.batches = batches
            progress.read[name] = progress.read.get(name, 0) + 1
            stream.set_aside(rows.bad)
            super()._take(stream, PushedRows(rows.batch))

    def _moved(self, stream: str, position: Position) -> dict[str, Any]:
        """What a record has of a position: of many files or partitions few have changed."""
        before = self.positions.get(stream, {})
        changed = {key: value for key, value in position.items() if before.get(key) != value}
        return {"moved": changed, "gone": [key for key in before if key not in position]}

    def position_of(self, told: dict[str, Any]) -> Position:
        """The position that a record says."""
        gone, before = set(told["gone"]), self.positions.get(told["stream"], {})
        moved: Position = told["moved"]
        return {key: value for key, value in before.items() if key not in gone} | moved

    def take_polled(self, stream: str, rows: FileRows, position: Position) -> None:
        """Rows of a source and its position, in one record."""
        name = self.open_stream(stream).schema.name
        self.flush()
        told = {"stream": name, **self._moved(name, position), **bad_rows_header(rows.bad)}
        with self.journal.applying("polled", [batch_body(rows.batch)], **told):
            super().take_polled(name, rows, position)

    def stage(self, stream: str, rows: FileRows, position: Position) -> None:
        """Rows of a source and its position, which are applied later."""
        name = self.open_stream(stream).schema.name
        self.flush()
        told = {"stream": name, **self._moved(name, position), **bad_rows_header(rows.bad)}
        with self.journal.applying("staged", [batch_body(rows.batch)], **told):
            super().stage(name, rows, position)

    def release(self, stream: str, count: int) -> None:
        """Apply the first of the rows that are staged."""
        self.flush()
        with self.journal.applying("release", stream=stream, rows=count):
            super().release(stream, count)

    def end_stream(self, stream: str) -> None:
        """Nothing more comes of this stream."""
        if not self.have_ended([stream]):
            self.flush()
            with self.journal.applying("end stream", stream=stream):
                super().end_stream(stream)

    def hold(self, stream: str, *, is_held: bool) -> None:
        """While a stream is held it is not idle."""
        if self._idle.is_watched(stream) and self._idle.is_held(stream) != is_held:
            with self.journal.applying("hold", stream=stream, held=is_held):
                super().hold(stream, is_held=is_held)

    def hold_again(self) -> None:
        """What its sources have may be older than what has come, until they are read."""
        for name in [*self._idle.held]:
            if not self.have_ended([name]):
                self.hold(name, is_held=True)

    def take(self, stream: DurableStream, rows: PushedRows) -> None:
        """Apply rows of a record that were applied by themselves."""
        self._expect_batch()
        self._take(stream, rows)

    def note_came(self, stream: str) -> None:
        """Rows of a stream came at the time of the record."""
        self._came(stream)

    def advance(self, stream: str, instant_us: int) -> None:
        """The stream is complete through that instant."""
        name = self.stream(stream).schema.name
        self.flush()
        with self.journal.applying("advance", stream=name, to=instant_us):
            super().advance(stream, instant_us)

    def finish(self) -> None:
        """All streams are complete."""
        self.flush()
        with self.journal.applying("finish"):
            super().finish()

    def change_table(
        self, name: str, given_for: Callable[[TableSchema], GivenVersions], rows: int
    ) -> None:
        """Rows or keys for a table: all take effect at once, or none does."""
        if not self.journal.writes:
            super().change_table(name, given_for, rows)
            return
        store = self.tables.named(name)
        self.flush()
        try:
            given = given_for(store.schema)
        except WindrowError as error:
            refusal = error
            with self.journal.applying("reject change", table=store.name, rows=rows):
                self.reject_change(store.name, rows)
            raise refusal from None
        if given.size:
            body = versions_body(store.schema, given)
            told = {"table": store.name} | ({"piece": self.piece} if self.piece else {})
            with self.journal.applying("change", [body], **told):
                super().change_table(name, lambda _: given, rows)
                self.note_piece(store.name, self.piece)

    def note_piece(self, table: str, piece: int) -> None:
        """That piece of the source of a table is given to it."""
        if piece:
            self.progress.pieces[table] = piece
