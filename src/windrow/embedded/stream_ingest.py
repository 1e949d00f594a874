"""The way of rows into one stream: checked, placed by their times, and counted in the ledger."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Sized
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.backlog import Backlog, joined_rows
from windrow.deferred import deferred
from windrow.embedded.kept_rows import KeptRows
from windrow.errors import WindrowError
from windrow.event_time import MAX_EVENT_TIME, MIN_EVENT_TIME, START_OF_TIME
from windrow.governor.fading_rate import FadingRate
from windrow.rows.bad_rows import BadRow, BadRows, cut, shown_rows
from windrow.rows.conversion import batch_of
from windrow.rows.file_rows import FileRows
from windrow.rows.gathered_batches import GatheredBatches
from windrow.rows.gathered_rows import GatheredRows
from windrow.rows.given_rows import is_columns, rows_given
from windrow.rows.row_reader import PlainRow
from windrow.rows.shared_rows import StreamRows, cast_times
from windrow.runtime.ledger import LEDGER_COUNTS, Ledger
from windrow.schema import StreamSchema
from windrow.windows.completeness import Completeness, TimeBounds
from windrow.windows.instants import WaitingInstants
from windrow.windows.plausible_times import PlausibleTimes

if TYPE_CHECKING:
    from windrow.carryover.carryover import CarriedStream, not_carried
    from windrow.connectors.dead_letters.places import opened_letters
else:
    CarriedStream = deferred("windrow.carryover.carryover", "CarriedStream")
    not_carried = deferred("windrow.carryover.carryover", "not_carried")
    opened_letters = deferred("windrow.connectors.dead_letters.places", "opened_letters")

__all__ = ["LATE_ROWS_KEPT", "StreamIngest", "count_of", "late_bytes", "wall_clock_us"]

Instants = NDArray[np.int64]

# Late rows are counted without end; of the rows themselves the newest are kept.
LATE_ROWS_KEPT = 10_000
# The same late rows in bytes: a part of the session's budget, and this much in any case.
LATE_PARTS = 32
LATE_FLOOR = 1 << 17
# Times of rows are kept for the ledger until the clocks have passed; looked through when doubled.
TIMES_LET_BE = 4_096
# So many batches may come before the rate of the stream is worked out anew.
RATES_LET_BE = 64
# Of rows with bad times at most so many of one push are shown.
BAD_TIMES_KEPT = 100

NO_TIME = "it has no time, or one outside the years 1 to 2199"
TOO_FAR_AHEAD = "its time is too far ahead"


def late_bytes(memory: int) -> int:
    """Bytes of late rows that are kept for each stream, in a session with that budget."""
    return max(memory // LATE_PARTS, LATE_FLOOR)


class StreamIngest:
    """One stream of a session; of its late rows the newest are kept, up to so many bytes."""

    def __init__(
        self, schema: StreamSchema, late_limit: int = LATE_FLOOR, *, is_by_arrival: bool = False
    ) -> None:
        self.schema = schema
        self.time_place = [column.name for column in schema.columns].index(schema.time)
        self.completeness = Completeness(schema.lateness_us, is_by_arrival=is_by_arrival)
        self.newest_row_us: int | None = None
        self.kept = None
        if schema.options.keep_us:
            self.kept = KeptRows(schema.time, schema.options.keep_us)
        self.first_us: int | None = None  # the time of the first row that was neither bad nor late
        self._ledger = Ledger()
        self.gathered = GatheredRows(schema)
        self.batches = GatheredBatches(schema, late_limit)
        self._late: Backlog[pa.Table] = Backlog(joined_rows)
        self._late_limit, self._late_from = late_limit, 0
        self._times_kept = 0
        self._bad = BadRows()
        into = schema.bad_rows_into
        self._folder = None if into is None else opened_letters(schema.name, into)
        self._judge = PlausibleTimes(schema.most_ahead_us, schema.most_ahead_of_rows_us)
        self._suspects: list[pa.RecordBatch] = []  # rows that wait to be confirmed
        self._times = WaitingInstants()
        self._rate = FadingRate()
        self._came: list[tuple[int, int, int]] = []  # earliest, latest and number of rows
        # Rows up to here are not too far ahead: the clock on the wall and the stream only move on.
        self.believed_until_us = START_OF_TIME
        counted: tuple[object, ...] = (self._ledger, self._times, self._rate)
        counted += (self.gathered, self.batches)
        if self.kept is not None:
            counted += self.kept.parts
        self._parts = (self, self.completeness, self._judge, self._late, self._bad, *counted)
        # Kinds of rows that do not count, of which nobody was told yet; then those that were told.
        self.news: tuple[str, ...] = ()
        self._told: frozenset[str] = frozenset()

    @property
    def nbytes(self) -> int:
        """Bytes of rows that came late, are not converted yet or are kept, and of their times."""
        kept = 0 if self.kept is None else self.kept.nbytes
        gathered = self.gathered.nbytes + self.batches.nbytes
        return kept + self._late.nbytes + gathered + self._times.nbytes

    @property
    def gathered_count(self) -> int:
        """How many rows were pushed and wait to be taken with others."""
        return len(self.gathered.rows) + self.batches.count

    def takes_all(self, batch: pa.RecordBatch) -> bool:
        """Whether surely no row of a batch, after those that wait, is late, bad or far ahead."""
        column, waiting = batch.column(self.time_place), self.batches
        if column.null_count:
            return False
        times = np.frombuffer(column.buffers()[1], np.int64, len(column), 8 * column.offset)
        bounds, (ahead_us, ties_us) = TimeBounds.of(times), self.completeness.margins
        late_us = max(self.completeness.through, waiting.newest_us - ahead_us) - ties_us
        waiting.newest_us = max(waiting.newest_us, bounds.last_us)
        most_us = min(self.believed_until_us, MAX_EVENT_TIME - 1)
        return bounds.first_us > max(late_us, MIN_EVENT_TIME - 1) and bounds.last_us <= most_us

    @property
    def has_many_times(self) -> bool:
        """Whether so many times wait that those which the clock has passed should be counted."""
        return self._times.count > 2 * self._times_kept + TIMES_LET_BE

    def count_applied(self, clock: int) -> None:
        """Count the rows whose times the clock of the slowest query has passed."""
        self._ledger.applied += self._times.drop(clock)[0]
        self._times_kept = self._times.count

    def plain_time(self, row: PlainRow) -> int | None:
        """The time of a row that was read, where nothing is to be judged of it; else None."""
        at_us: int | None = row[self.time_place]
        if at_us is None or not MIN_EVENT_TIME <= at_us < MAX_EVENT_TIME:
            return None
        return at_us if at_us <= self.believed_until_us else None

    def converted_gathered(self) -> pa.RecordBatch:
        """The gathered rows, converted one by one: a value does not fit although its type does."""
        try:
            return self.converted(self.gathered.as_dicts())
        except WindrowError:
            self.gathered.forget(len(self.gathered.rows))
            raise

    @property
    def parts(self) -> tuple[object, ...]:
        """All that changes when rows are taken, set aside or refused."""
        return self._parts

    def converted(self, rows: Any) -> pa.RecordBatch:
        """Rows as columns of the stream's types.

        What the stream's policy refuses is counted as rejected, what it sets aside as bad_value.
        """
        if isinstance(rows, FileRows):
            self.set_aside(rows.bad)
            return rows.batch
        try:
            rows = rows_given(self.schema, rows)
            converted = batch_of(self.schema, rows)
        except WindrowError:
            self.reject(rows)
            raise
        self.set_aside([converted.bad[place] for place in sorted(converted.bad)])
        return converted.batch

    def set_aside(self, rows: Sequence[BadRow]) -> None:
        """Count rows that cannot be held, and keep some of them."""
        self._ledger.rows_in += len(rows)
        self._ledger.bad_value += len(rows)
        self._keep(rows)
        if rows:
            self._note("bad")

    def bad_rows(self) -> pa.Table:
        """The newest of the rows with bad values or times, in order of arrival."""
        return self._bad.table()

    def place(self, batch: pa.RecordBatch, pushes: Instants | None = None) -> StreamRows:
        """The rows whose time is neither bad nor late; others are set aside and counted.

        pushes: the number of the push of each row; None: all are of one.
        """
        rows = self._placed(batch, pushes)
        self._times.add(rows.times)
        if self.kept is not None:
            self.kept.add(rows, self.completeness.through)
        return rows

    def _note(self, kind: str) -> None:
        """A row does not count; of the first of its kind somebody should be told."""
        if kind not in self._told:
            self._told, self.news = self._told | {kind}, (*self.news, kind)

    def told(self) -> str:
        """What to say about the news; they are none any more."""
        kinds, self.news = self.news, ()
        name, ledger = self.schema.name, self._ledger
        late = f"{ledger.late} late: session.late({name!r}) shows them; a stream may have lateness="
        bad = f"{ledger.bad_value + ledger.bad_time} bad: session.bad_rows({name!r}) shows them"
        said = {"late": late, "bad": bad}
        parts = "; ".join(said[kind] for kind in kinds)
        return (
            f"stream {name!r} has rows that count in no answer, and session.ledger() counts them: "
            f"{parts}. Later ones are not told"
        )

    def refuse(self, batch: pa.RecordBatch, pushes: Instants | None = None) -> Instants:
        """Count refused rows; they advance time like any others.

        The times of those that would have been accepted.
        """
        times = self._placed(batch, pushes).times
        self._ledger.rejected += times.size
        return times

    def complete_before(self, batch: pa.RecordBatch) -> int:
        """How far these rows complete the stream, as far as that is before each of them.

        No row that is not late now would be late by it: what is so old may leave first.
        """
        through = self.completeness.through
        times = _timed(batch, self.schema.time)[0].times
        times = self._judge.believed(times, self.completeness.newest, self._now_us())
        times = times[times > through]
        if not times.size:
            return through
        newest, earliest = int(times.max()), int(times.min())
        return max(through, min(newest - self.schema.lateness_us, earliest) - 1)

    def _placed(self, batch: pa.RecordBatch, pushes: Instants | None) -> StreamRows:
        """The rows that are neither bad nor late; the stream moves on by them."""
        self._ledger.rows_in += batch.num_rows
        rows, bounds, is_good = _timed(batch, self.schema.time)
        if is_good is not None:
            self._set_time_aside(batch.filter(pa.array(~is_good)), NO_TIME)
            pushes = None if pushes is None else pushes[is_good]
        if rows.times.size and bounds.last_us > self.believed_until_us:
            rows, pushes = self._without_far_ahead(rows, pushes)
            bounds = TimeBounds.of(rows.times)
        late = self.completeness.late_among(rows.times, bounds, pushes)
        if late is not None:
            self._set_late_aside(rows.batch.filter(pa.array(late)))
            rows = rows.filtered(~late)
            bounds = TimeBounds.of(rows.times)
        times = rows.times
        if times.size:
            if self.first_us is None:
                self.first_us = int(times[0])
            newest_us = bounds.last_us
            self._came.append((bounds.first_us, newest_us, times.size))
            if self.newest_row_us is None or newest_us > self.newest_row_us:
                self.newest_row_us = newest_us
            if len(self._came) > RATES_LET_BE:
                self._count_came()
        return rows

    def _count_came(self) -> None:
        """Let the rate know of the rows that came since it was last asked."""
        for batch in self._came:
            self._rate.add(*batch)
        self._came = []

    @property
    def rate(self) -> float:
        """Rows a second of event time, lately."""
        self._count_came()
        return self._rate.rows_per_second

    def rate_for(self, range_us: int) -> float:
        """Rows a second, as far as they tell something of a window of this range."""
        self._count_came()
        return self._rate.rate_for(range_us)

    def reject(self, rows: Any) -> None:
        """Count rows of a push that cannot be read: nothing of it was taken, and time stays."""
        self.count_rejected(count_of(rows))

    def count_rejected(self, count: int) -> None:
        """The same, of so many rows."""
        self._ledger.rows_in += count
        self._ledger.rejected += count

    def ledger(self, clock: int) -> Ledger:
        """What became of every row, with the clock of the slowest query on the stream."""
        ledger = self._ledger
        if self.completeness.is_finished and self._suspects:
            # Nothing comes any more that could confirm them.
            suspects, self._suspects, self._judge.waiting_us = self._suspects, [], []
            for rows in suspects:
                self._set_time_aside(rows, TOO_FAR_AHEAD)
        times = copy(self._times)
        applied = ledger.applied + times.drop(clock)[0]
        # At once: a row that is neither waiting nor applied would be lost to the ledger.
        self._times.__dict__, ledger.applied = vars(times), applied
        ledger.waiting = self._times.count + sum(rows.num_rows for rows in self._suspects)
        return replace(ledger)

    @property
    def is_new(self) -> bool:
        """Whether nothing has come of it."""
        return not self._ledger.rows_in and self.newest_row_us is None

    def stands_at(self, carried: CarriedStream) -> bool:
        """Whether it has come exactly as far as one that is handed over."""
        through = (self.completeness.through, self.completeness.newest)
        return through == (carried.complete_us, carried.newest_us)

    def carryover(self, clock: int) -> CarriedStream:
        """How it stands for a query that has come to this clock."""
        if self._suspects:
            why = f"rows of stream {self.schema.name!r} wait until others confirm their times"
            raise not_carried(self.schema.name, why, "push the rows that follow, and try again")
        ledger = self.ledger(clock)
        times = np.array(self._times.listed(), np.int64)
        done = self.completeness
        return CarriedStream(self.schema, done.through, done.newest, self.first_us, ledger, times)

    def carry_on(self, carried: CarriedStream) -> None:
        """Stand where one stood that is handed over; nothing has come of this one."""
        self.completeness.through = carried.complete_us
        self.completeness.newest = carried.newest_us
        self.first_us = carried.first_us
        if carried.ledger.rows_in:
            self.newest_row_us = carried.newest_us
        for name in LEDGER_COUNTS:
            setattr(self._ledger, name, getattr(carried.ledger, name))
        self._times.add(np.sort(carried.times))

    def late_rows(self) -> pa.Table:
        """The newest of the late rows, in order of arrival."""
        late = self._late.since(self._late_from)
        return pa.concat_tables([self.schema.arrow.empty_table(), *late])

    def _without_far_ahead(
        self, rows: StreamRows, pushes: Instants | None
    ) -> tuple[StreamRows, Instants | None]:
        """The rows that are not too far ahead, after those that waited and are believed now."""
        newest_us, now_us = self.completeness.newest, self._now_us()
        verdict = self._judge.judge(rows.times, newest_us, now_us)
        if verdict is None:
            self.believed_until_us = self._judge.believed_until(newest_us, now_us)
            return rows, pushes
        self.believed_until_us = START_OF_TIME
        batch = pa.concat_batches([*self._suspects, rows.batch])
        waited = batch.num_rows - rows.batch.num_rows
        self._suspects = [batch.take(pa.array(verdict.waiting))]
        self._set_time_aside(batch.take(pa.array(verdict.aside)), TOO_FAR_AHEAD)
        accepted = cast_times(batch.take(pa.array(verdict.accepted)), self.schema.time)
        if pushes is None:
            return accepted, None
        # Rows that waited come in with the first push of those that confirm them.
        return accepted, np.concatenate([np.full(waited, pushes[0]), pushes])[verdict.accepted]

    def _now_us(self) -> int:
        return wall_clock_us()

    def _set_time_aside(self, rows: pa.RecordBatch, why: str) -> None:
        self._ledger.bad_time += rows.num_rows
        if rows.num_rows:
            self._note("bad")
        if self._folder is None:
            rows = rows.slice(max(0, rows.num_rows - BAD_TIMES_KEPT))
        self._keep([BadRow(why, self.schema.time, row=cut(repr(row))) for row in shown_rows(rows)])

    def _keep(self, rows: Sequence[BadRow]) -> None:
        self._bad.add(rows)
        if self._folder is not None:
            self._folder.add(rows)

    def _set_late_aside(self, rows: pa.RecordBatch) -> None:
        self._ledger.late += rows.num_rows
        self._note("late")
        newest = rows.slice(max(0, rows.num_rows - LATE_ROWS_KEPT))
        self._late.append(joined_rows([pa.Table.from_batches([newest])]))
        kept = min(LATE_ROWS_KEPT, self._late.end - self._late_from)
        self._keep_late(kept)
        while self._late.nbytes > self._late_limit and kept:
            kept //= 2
            self._keep_late(kept)

    def _keep_late(self, count: int) -> None:
        self._late_from = self._late.end - count
        self._late.drop_before(self._late_from)


def _timed(
    batch: pa.RecordBatch, time: str
) -> tuple[StreamRows, TimeBounds, NDArray[np.bool_] | None]:
    """The rows that have a time that an event can have, and which these are, if not all."""
    if not batch.column(time).null_count:
        rows = cast_times(batch, time)
        bounds = TimeBounds.of(rows.times)
        if bounds.first_us >= MIN_EVENT_TIME and bounds.last_us < MAX_EVENT_TIME:
            return rows, bounds, None
    column = batch.column(time).cast(pa.int64())
    in_range = pc.and_(pc.greater_equal(column, MIN_EVENT_TIME), pc.less(column, MAX_EVENT_TIME))
    is_good = pc.fill_null(in_range, False)
    rows = cast_times(batch.filter(is_good), time)
    return rows, TimeBounds.of(rows.times), is_good.to_numpy(zero_copy_only=False)


def wall_clock_us() -> int:
    """The clock on the wall, which says how far ahead a row may be."""
    return time.time_ns() // 1_000


def count_of(rows: Any) -> int:
    """How many rows were given; one, where nobody can say."""
    if isinstance(rows, Mapping):
        return _longest(rows) if is_columns(rows) else 1
    if isinstance(rows, tuple) and not any(isinstance(row, Mapping) for row in rows):
        return 1  # the values of one row
    return len(rows) if isinstance(rows, Sized) and not isinstance(rows, str) else 1


def _longest(columns: Mapping[str, Any]) -> int:
    return max(len(each) for each in columns.values() if isinstance(each, Sized))
