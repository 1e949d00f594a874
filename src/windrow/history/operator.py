"""The history of one stream while rows come: it holds what is complete, and nothing of what is not.

Rows above the completeness wait outside. So all rows of the history are at or before its time, and
an interval that reaches as far as it is complete is never cut at its end, however finely it is
asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.history.answers.answer import Interval
from windrow.history.history import History
from windrow.history.past import Archive
from windrow.history.spec import SPLIT_ABOVE, HistorySpec, levels_of
from windrow.output.broken_off import history_broken_off
from windrow.plan.history_schema import HistorySchema
from windrow.windows.column_words import read_only
from windrow.windows.instant_spans import InstantSpans
from windrow.windows.kernels import is_sorted

__all__ = ["DueRows", "HistoryOperator", "Reach", "spec_of"]

Instants = NDArray[np.int64]

# Of rows that are refused together at most this many gaps without refusals are recorded.
MISSED_SPANS = 7


def spec_of(schema: HistorySchema) -> HistorySpec:
    """What the tree is made by; wrong levels and columns are refused here."""
    return HistorySpec(
        levels_of(schema.levels),
        schema.measures,
        schema.keys,
        SPLIT_ABOVE if schema.split_above is None else schema.split_above,
        schema.quantiles,
        schema.distincts,
    )


@dataclass(frozen=True)
class Reach:
    """Which part of an interval a history can speak of.

    asked: the whole interval. known: the part of it that lies in the time which the history knows,
    [known_from_us, known_to_us). missed: times of rows that were refused and are not in it.
    """

    asked: Interval
    known: Interval
    known_from_us: int
    known_to_us: int
    missed: InstantSpans

    def lacks_rows(self, interval: Interval | None = None) -> bool:
        """Whether rows of an interval were refused; None: of the requested one."""
        interval = interval or self.asked
        return self.missed.meets(interval.since_us, interval.until_us - 1)

    @property
    def is_whole(self) -> bool:
        """Whether it knows all of the interval, and every row of it."""
        return self.is_known_before and self.is_known_after and not self.lacks_rows()

    @property
    def is_known_before(self) -> bool:
        """Whether it knows the time from the start of the interval on."""
        return self.asked.since_us >= self.known_from_us

    @property
    def is_known_after(self) -> bool:
        """Whether it knows the time up to the end of the interval."""
        return self.asked.until_us <= self.known_to_us


@dataclass(frozen=True)
class DueRows:
    """Rows in order of time; no batch where there are none."""

    times: Instants
    batch: pa.RecordBatch | None

    @property
    def instants(self) -> Instants:
        """The times, each once."""
        return self.times[np.flatnonzero(np.diff(self.times, prepend=START_OF_TIME))]


class HistoryOperator:
    """A history, and rows that wait until they are complete.

    known_from_us: no row of older time is in the history.
    """

    def __init__(
        self, schema: HistorySchema, archive: Archive | None = None,
        known_from_us: int = START_OF_TIME,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.history = History(spec_of(schema), archive=archive)
        self.known_from_us = known_from_us
        self.rows = 0
        self._is_finished = False
        self._waiting: list[pa.RecordBatch] = []
        self.missed = InstantSpans()
        self._step = -1  # the last step that was begun
        self.step_made = -1  # the last that was made
        kept = [column.name for column in (*schema.keys, *schema.measures, *schema.distincts)]
        self._names = list(dict.fromkeys([schema.stream.time, *kept]))

    def check_whole(self) -> None:
        """Refuse to answer from a history that something broke off."""
        if not self.history.is_whole:
            raise history_broken_off(self.schema.stream.name)

    def begin_step(self, number: int, *others: object) -> None:
        """All changes from here on, also of the other objects, can be rolled back."""
        self.undo_step()
        self._step = number
        self.history.begin_step(self, self.missed, *others)

    def keep_step(self) -> None:
        """What was done since begin_step() stays, whatever happens."""
        self.step_made = self._step
        self.history.keep_step()

    def undo_step(self) -> None:
        """Roll back an interrupted step, if there is one."""
        if self.step_made == self._step:
            self.history.keep_step()
        else:
            self.history.undo_step()

    def append(self, batch: pa.RecordBatch) -> None:
        """Rows that were accepted, in any order; those of time that it does not know are left."""
        batch = batch.select(self._names)
        if batch.num_rows and self.known_from_us > START_OF_TIME:
            batch = batch.filter(pa.array(_times(batch) >= self.known_from_us))
        if batch.num_rows:
            self._waiting.append(batch)

    def miss(self, times: Instants) -> None:
        """Rows with these times were refused: what is asked about their time is not certain.

        A few spans of time are distinguished per push, those with the widest gaps between them.
        """
        times = np.sort(times[times >= self.known_from_us])
        if not times.size:
            return
        gaps = np.diff(times)
        widest = np.sort(np.argsort(gaps)[::-1][:MISSED_SPANS])
        breaks = widest[gaps[widest] > self.history.spec.granularities_us[0]]
        for first, last in zip(times[[0, *(breaks + 1)]], times[[*breaks, -1]], strict=True):
            self.missed.add(int(first), int(last))

    def drain_due(self, clock: int) -> DueRows:
        """The waiting rows that are complete at the clock, in order of time; they are in no place.

        They must be inserted next, in this order.
        """
        due, kept = [], []
        for batch in self._waiting:
            is_due = _times(batch) <= clock
            if is_due.all():
                due.append(batch)
                continue
            kept.append(batch.filter(pa.array(~is_due)))
            due.append(batch.filter(pa.array(is_due)))
        self._waiting = kept
        if not due:
            return DueRows(np.empty(0, np.int64), None)
        rows = pa.Table.from_batches(due).combine_chunks().to_batches()
        times = _times(rows[0]) if rows else np.empty(0, np.int64)
        if not rows or is_sorted(read_only(times)):
            return DueRows(times, rows[0] if rows else None)
        order = np.argsort(times, kind="stable")
        return DueRows(times[order], rows[0].take(pa.array(order)))

    def insert(self, rows: DueRows, first: int, end: int) -> None:
        """Put some of the rows that are due into the history, which does not move on yet."""
        if rows.batch is None or first >= end:
            return
        batch = rows.batch.slice(first, end - first)
        self.rows += batch.num_rows
        columns = {name: batch.column(name) for name in self._names}
        self.history.insert(rows.times[first:end], columns)

    def finish(self) -> None:
        """No further row will come: the time to come is known."""
        self._is_finished = True

    @property
    def known_to_us(self) -> int:
        """The first instant that it does not know; there is none once the stream has ended."""
        return END_OF_TIME if self._is_finished else self.history.now_us + 1

    def reach(self, since_us: int, until_us: int | None) -> Reach:
        """What it can say of an interval; until None: to where the stream is complete now."""
        until_us = self.history.now_us + 1 if until_us is None else until_us
        asked = Interval(since_us, max(since_us, until_us))
        known_from_us, known_to_us = self.known_from_us, self.known_to_us
        since_us = min(max(since_us, known_from_us), END_OF_TIME)
        until_us = max(since_us, min(asked.until_us, known_to_us))
        known = Interval(since_us, until_us)
        return Reach(asked, known, known_from_us, known_to_us, self.missed)

    def uncut(self, interval: Interval) -> Interval:
        """The interval, with ends that cut no node where it reaches over all rows."""
        now_us, step_us = self.history.now_us, self.history.spec.granularities_us[-1]
        since_us, until_us = interval.since_us, interval.until_us
        if since_us >= until_us or since_us > now_us:
            return interval
        if since_us == self.known_from_us:
            since_us = since_us // step_us * step_us
        if until_us > now_us:
            until_us = (now_us // step_us + 1) * step_us
        return Interval(since_us, until_us)

    @property
    def nbytes(self) -> int:
        """Bytes of the tree and of rows that wait."""
        waiting: int = sum(batch.nbytes for batch in self._waiting)
        return self.history.nbytes + waiting


def _times(batch: pa.RecordBatch) -> Instants:
    times: Instants = batch.column(0).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return times
