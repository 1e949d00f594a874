"""The inlet of a stream: takes rows in, judges their times, and keeps the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.embedded.conversion import RowChecker, batch_of
from windrow.embedded.fading_rate import FadingRate
from windrow.embedded.given_rows import is_columns, rows_given
from windrow.engine.ledger import Ledger
from windrow.errors import WindrowError
from windrow.event_time import MAX_EVENT_TIME, MIN_EVENT_TIME
from windrow.schema import StreamSchema
from windrow.windows.completeness import Completeness
from windrow.windows.instants import WaitingInstants

__all__ = ["GATHERED_ROWS", "LATE_ROWS_KEPT", "Inlet"]

# Late rows are counted without end; of the rows themselves the newest are kept.
LATE_ROWS_KEPT = 10_000
# Rows pushed one by one are gathered: so many are converted together.
GATHERED_ROWS = 4096
FEW_ROWS = 16


class Inlet:
    """One stream of a session."""

    def __init__(self, schema: StreamSchema) -> None:
        self.schema = schema
        self.completeness = Completeness(schema.lateness_us)
        self.first_us: int | None = None  # the time of the first row that was neither bad nor late
        self._ledger = Ledger()
        self._checker = RowChecker(schema)
        self._gathered: list[dict[str, Any]] = []
        self._late: list[pa.RecordBatch] = []
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
        return True

    @property
    def gathered(self) -> int:
        """How many rows wait to be converted."""
        return len(self._gathered)

    def take_gathered(self) -> pa.RecordBatch:
        """The gathered rows, converted."""
        rows, self._gathered = self._gathered, []
        return self.converted(rows)

    def converted(self, rows: Any) -> pa.RecordBatch:
        """Rows as columns of the stream's types; those that cannot be are counted as rejected."""
        try:
            rows = rows_given(self.schema, rows)
            return batch_of(self.schema, rows)
        except WindrowError:
            self.reject(rows)
            raise

    def accept(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows whose time is neither bad nor late; others are set aside and counted."""
        self._ledger.rows_in += batch.num_rows
        batch = self._without_bad_times(batch)
        times = self._times_of(batch)
        late = self.completeness.judge(times)
        if late.any():
            self._set_late_aside(batch.filter(pa.array(late)))
            batch, times = batch.filter(pa.array(~late)), times[~late]
        self._times.add(times)
        if times.size:
            if self.first_us is None:
                self.first_us = int(times[0])
            self._rate.add(int(times.min()), int(times.max()), times.size)
        return batch

    @property
    def rate(self) -> float:
        """Rows a second of event time, lately."""
        return self._rate.rows_per_second

    def reject(self, rows: Any) -> None:
        """Count rows of a push that was refused."""
        count = _count(rows)
        self._ledger.rows_in += count
        self._ledger.rejected += count

    def ledger(self, clock: int) -> Ledger:
        """What became of every row, with the clock of the slowest query on the stream."""
        ledger = self._ledger
        ledger.applied += self._times.release(clock).size
        ledger.waiting = self._times.count
        return Ledger(**vars(ledger))

    def late_rows(self) -> pa.Table:
        """The newest of the late rows, in order of arrival."""
        return pa.Table.from_batches(self._late, self.schema.arrow)

    def _times_of(self, batch: pa.RecordBatch) -> np.ndarray[Any, np.dtype[np.int64]]:
        column = batch.column(self.schema.time).cast(pa.int64())
        times: np.ndarray[Any, np.dtype[np.int64]] = column.to_numpy(zero_copy_only=False)
        return times

    def _without_bad_times(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        column = batch.column(self.schema.time).cast(pa.int64())
        bounds = pc.min_max(column)
        low, high = bounds["min"].as_py(), bounds["max"].as_py()
        if column.null_count == 0 and (
            low is None or (low >= MIN_EVENT_TIME and high < MAX_EVENT_TIME)
        ):
            return batch
        in_range = pc.and_(
            pc.greater_equal(column, MIN_EVENT_TIME), pc.less(column, MAX_EVENT_TIME)
        )
        good = batch.filter(pc.fill_null(in_range, False))
        self._ledger.bad_time += batch.num_rows - good.num_rows
        return good

    def _set_late_aside(self, rows: pa.RecordBatch) -> None:
        self._ledger.late += rows.num_rows
        self._late.append(rows.slice(max(0, rows.num_rows - LATE_ROWS_KEPT)))
        excess = sum(each.num_rows for each in self._late) - LATE_ROWS_KEPT
        while excess >= self._late[0].num_rows:
            excess -= self._late.pop(0).num_rows
        if excess > 0:
            self._late[0] = self._late[0].slice(excess)


def _count(rows: Any) -> int:
    """How many rows were given; one, where nobody can say."""
    if isinstance(rows, Mapping):
        return _longest(rows) if is_columns(rows) else 1
    return len(rows) if isinstance(rows, Sized) and not isinstance(rows, str) else 1


def _longest(columns: Mapping[str, Any]) -> int:
    return max(len(each) for each in columns.values() if isinstance(each, Sized))
