"""The inlet of a stream: takes rows in, judges their times, and keeps the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.backlog import Backlog, joined_rows
from windrow.connectors.parquet.bad_rows_folder import BadRowsFolder
from windrow.errors import WindrowError
from windrow.event_time import MAX_EVENT_TIME, MIN_EVENT_TIME
from windrow.governor.fading_rate import FadingRate
from windrow.rows.bad_rows import BadRow, BadRows, cut, shown_rows
from windrow.rows.conversion import RowChecker, batch_of
from windrow.rows.file_rows import FileRows
from windrow.rows.given_rows import is_columns, rows_given
from windrow.runtime.ledger import Ledger
from windrow.schema import StreamSchema
from windrow.windows.completeness import Completeness
from windrow.windows.instants import WaitingInstants
from windrow.windows.plausible_times import PlausibleTimes

__all__ = ["GATHERED_ROWS", "LATE_ROWS_KEPT", "Inlet", "late_bytes"]

Instants = NDArray[np.int64]

# Late rows are counted without end; of the rows themselves the newest are kept.
LATE_ROWS_KEPT = 10_000
# Rows pushed one by one are buffered: this many are converted together.
GATHERED_ROWS = 4096
GATHERED_ROW_BYTES = 400  # about the size of one as a dictionary, without its texts
# Or as many as have this many characters of text.
GATHERED_CHARACTERS = 1 << 20
# The same late rows in bytes: a part of the session's budget, and this much in any case.
LATE_PARTS = 32
LATE_FLOOR = 1 << 17
# Times of rows are kept for the ledger until the clocks have passed; looked through when doubled.
TIMES_LET_BE = 4_096
FEW_ROWS = 16
# At most this many rows with bad times are shown per push.
BAD_TIMES_KEPT = 100

NO_TIME = "it has no time, or one outside the years 1 to 2199"
TOO_FAR_AHEAD = "its time is too far ahead"


def late_bytes(memory: int) -> int:
    """Bytes of late rows that are kept for each stream, in a session with that budget."""
    return max(memory // LATE_PARTS, LATE_FLOOR)


class Inlet:
    """One stream of a session; of its late rows the newest are kept, up to a limit in bytes."""

    def __init__(self, schema: StreamSchema, late_limit: int = LATE_FLOOR) -> None:
        self.schema = schema
        self.completeness = Completeness(schema.lateness_us)
        self.first_us: int | None = None  # the time of the first row that was neither bad nor late
        self._ledger = Ledger()
        self._checker = RowChecker(schema)
        self._gathered: list[dict[str, Any]] = []
        self._gathered_characters = 0
        self._late: Backlog[pa.Table] = Backlog(joined_rows)
        self._late_limit, self._late_from = late_limit, 0
        self._times_kept = 0
        self._bad = BadRows()
        into = schema.bad_rows_into
        self._folder = None if into is None else BadRowsFolder(schema.name, into)
        self._judge = PlausibleTimes(schema.most_ahead_us, schema.most_ahead_of_rows_us)
        self._suspects: list[pa.RecordBatch] = []  # rows that wait to be confirmed
        self._times = WaitingInstants()
        self._rate = FadingRate()

    def gather(self, rows: Any) -> bool:
        """Take a few plain rows without converting them yet; False when they are not such rows."""
        if type(rows) is dict:
            rows = [rows]
        if type(rows) is not list or len(rows) > FEW_ROWS:
            return False
        if not all(map(self._checker.fits, rows)):
            return False
        self._gathered += [dict(row) for row in rows]
        texts = (value for row in rows for value in row.values() if type(value) is str)
        self._gathered_characters += sum(map(len, texts))
        return True

    @property
    def has_gathered_enough(self) -> bool:
        """Whether those that wait should be converted now."""
        is_wide = self._gathered_characters >= GATHERED_CHARACTERS
        return is_wide or len(self._gathered) >= GATHERED_ROWS

    @property
    def nbytes(self) -> int:
        """Bytes of rows that came late or are not converted yet, and of times for the ledger."""
        gathered = GATHERED_ROW_BYTES * len(self._gathered) + self._gathered_characters
        return self._late.nbytes + gathered + self._times.nbytes

    def settle_times(self, clock_of: Callable[[str], int], stream: str) -> None:
        """Count the rows whose times the clock of the slowest query has passed."""
        if self._times.count > 2 * self._times_kept + TIMES_LET_BE:
            self._ledger.applied += self._times.release(clock_of(stream)).size
            self._times_kept = self._times.count

    @property
    def gathered(self) -> int:
        """How many rows wait to be converted."""
        return len(self._gathered)

    def converted_gathered(self) -> pa.RecordBatch:
        """The gathered rows, converted; they stay gathered until they are forgotten."""
        try:
            return self.converted(self._gathered)
        except WindrowError:
            self.forget_gathered(len(self._gathered))
            raise

    def forget_gathered(self, count: int) -> None:
        """The first gathered rows were taken, or refused."""
        self._gathered = self._gathered[count:]
        if not self._gathered:
            self._gathered_characters = 0

    @property
    def parts(self) -> tuple[object, ...]:
        """All that changes when rows are taken, set aside or refused."""
        counted = (self._ledger, self._times, self._rate)
        return (self, self.completeness, self._judge, self._late, self._bad, *counted)

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

    def bad_rows(self) -> pa.Table:
        """The newest of the rows with bad values or times, in order of arrival."""
        return self._bad.table()

    def accept(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows whose time is neither bad nor late; others are set aside and counted."""
        batch, times = self._judged(batch)
        self._times.add(times)
        return batch

    def refuse(self, batch: pa.RecordBatch) -> Instants:
        """Count refused rows; they advance time like any others.

        The times of those that would have been accepted.
        """
        _, times = self._judged(batch)
        self._ledger.rejected += times.size
        return times

    def complete_before(self, batch: pa.RecordBatch) -> int:
        """How far these rows complete the stream, as far as that is before each of them.

        No row that is not late now would be late by it: what is so old may leave first.
        """
        through = self.completeness.through
        is_good = _has_good_time(batch, self.schema.time)
        times = self._times_of(batch if is_good is None else batch.filter(is_good))
        times = self._judge.believed(times, self.completeness.newest, wall_clock_us())
        times = times[times > through]
        if not times.size:
            return through
        newest, earliest = int(times.max()), int(times.min())
        return max(through, min(newest - self.schema.lateness_us, earliest) - 1)

    def _judged(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Instants]:
        """The rows that are neither bad nor late, and their times; the stream moves on by them."""
        self._ledger.rows_in += batch.num_rows
        batch = self._without_far_ahead(self._without_bad_times(batch))
        times = self._times_of(batch)
        late = self.completeness.judge(times)
        if late.any():
            self._set_late_aside(batch.filter(pa.array(late)))
            batch, times = batch.filter(pa.array(~late)), times[~late]
        if times.size:
            if self.first_us is None:
                self.first_us = int(times[0])
            self._rate.add(int(times.min()), int(times.max()), times.size)
        return batch, times

    @property
    def rate(self) -> float:
        """Rows a second of event time, lately."""
        return self._rate.rows_per_second

    def rate_for(self, range_us: int) -> float:
        """Rows a second, as far as they tell something of a window of this range."""
        return self._rate.rate_for(range_us)

    def reject(self, rows: Any) -> None:
        """Count rows of a push that cannot be read: nothing of it was taken, and time stays."""
        count = _count(rows)
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
        ledger.applied += self._times.release(clock).size
        ledger.waiting = self._times.count + sum(rows.num_rows for rows in self._suspects)
        return Ledger(**vars(ledger))

    def late_rows(self) -> pa.Table:
        """The newest of the late rows, in order of arrival."""
        late = self._late.since(self._late_from)
        return pa.concat_tables([self.schema.arrow.empty_table(), *late])

    def _times_of(self, batch: pa.RecordBatch) -> Instants:
        column = batch.column(self.schema.time).cast(pa.int64())
        times: Instants = column.to_numpy(zero_copy_only=False)
        return times

    def _without_bad_times(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        is_good = _has_good_time(batch, self.schema.time)
        if is_good is None:
            return batch
        self._set_time_aside(batch.filter(pc.invert(is_good)), NO_TIME)
        return batch.filter(is_good)

    def _without_far_ahead(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that are not too far ahead, after those that waited and are believed now."""
        verdict = self._judge.judge(
            self._times_of(batch), self.completeness.newest, wall_clock_us()
        )
        if verdict is None:
            return batch
        batch = pa.concat_batches([*self._suspects, batch])
        self._suspects = [batch.take(pa.array(verdict.waiting))]
        self._set_time_aside(batch.take(pa.array(verdict.aside)), TOO_FAR_AHEAD)
        return batch.take(pa.array(verdict.accepted))

    def _set_time_aside(self, rows: pa.RecordBatch, why: str) -> None:
        self._ledger.bad_time += rows.num_rows
        if self._folder is None:
            rows = rows.slice(max(0, rows.num_rows - BAD_TIMES_KEPT))
        self._keep([BadRow(why, self.schema.time, row=cut(repr(row))) for row in shown_rows(rows)])

    def _keep(self, rows: Sequence[BadRow]) -> None:
        self._bad.add(rows)
        if self._folder is not None:
            self._folder.add(rows)

    def _set_late_aside(self, rows: pa.RecordBatch) -> None:
        self._ledger.late += rows.num_rows
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


def _has_good_time(batch: pa.RecordBatch, time: str) -> pa.Array | None:
    """Which rows have a time that an event can have; None: all of them."""
    column = batch.column(time).cast(pa.int64())
    bounds = pc.min_max(column)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    if column.null_count == 0 and (
        low is None or (low >= MIN_EVENT_TIME and high < MAX_EVENT_TIME)
    ):
        return None
    in_range = pc.and_(pc.greater_equal(column, MIN_EVENT_TIME), pc.less(column, MAX_EVENT_TIME))
    return pc.fill_null(in_range, False)


def wall_clock_us() -> int:
    """The clock on the wall, which says how far ahead a row may be."""
    return time.time_ns() // 1_000


def _count(rows: Any) -> int:
    """How many rows were given; one, where nobody can say."""
    if isinstance(rows, Mapping):
        return _longest(rows) if is_columns(rows) else 1
    return len(rows) if isinstance(rows, Sized) and not isinstance(rows, str) else 1


def _longest(columns: Mapping[str, Any]) -> int:
    return max(len(each) for each in columns.values() if isinstance(each, Sized))
