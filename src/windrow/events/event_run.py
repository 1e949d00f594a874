"""A run of a query, row by row: it reads what its streams have gathered, and moves with the clock.

The rows themselves go their ordinary way, in batches. This is beside it: whatever it does not know
it gives up, and the next reader asks the shard.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any

import pyarrow as pa

from windrow.event_time import END_OF_TIME, MAX_EVENT_TIME, MIN_EVENT_TIME, START_OF_TIME
from windrow.events.answer import Answer
from windrow.events.cell_run import CellRun
from windrow.events.giving_up import GivesUpError
from windrow.events.pair_run import PairRun
from windrow.events.row_text import EventRow, Preparer
from windrow.events.subscriptions import Event
from windrow.plan.model import QueryPlan
from windrow.rows.gathered_rows import GatheredRows

__all__ = ["EventRun", "StreamFeed"]

_ENTERS = itemgetter(0)


class StreamFeed:
    """One stream as a run reads it: its gathered rows, and how far it is complete by them.

    ahead_us and ties_us are those of its Completeness. Rows later than believed_us must be judged.
    """

    __slots__ = (
        "ahead_us", "believed_us", "due", "gathered", "inputs", "name", "seen", "through",
        "ties_us", "time_place",
    )  # fmt: skip

    def __init__(
        self, name: str, gathered: GatheredRows, time_place: int, ahead_us: int, ties_us: int
    ) -> None:
        self.name, self.gathered, self.time_place = name, gathered, time_place
        self.ahead_us, self.ties_us = ahead_us, ties_us
        self.inputs: list[tuple[Preparer, deque[EventRow], Callable[[int], int]]] = []
        self.due: list[int] | None = None
        self.through = self.believed_us = START_OF_TIME
        self.seen = 0

    def begin(self, through: int, believed_us: int) -> None:
        """From here on it follows: all rows before are applied."""
        self.through, self.believed_us, self.seen = through, believed_us, 0

    def read(self) -> None:
        """Let the rows that were gathered since wait; those of one push make none of it late."""
        rows, pushes, place = self.gathered.rows, self.gathered.pushes, self.time_place
        through, push, ahead_us = self.through, -1, self.ahead_us
        for index in range(self.seen, len(rows)):
            row = rows[index]
            time = row[place]
            if pushes[index] != push:
                push, late_us = pushes[index], through - self.ties_us
            if time is None or time <= late_us or not MIN_EVENT_TIME <= time < MAX_EVENT_TIME:
                continue
            if time > self.believed_us:
                raise GivesUpError("a time that must be judged")
            if time - ahead_us > through:
                through = time - ahead_us
            for prepare, waiting, enter in self.inputs:
                made = prepare(row, time)
                if self.due is not None:
                    self.due.append(enter(time) if made is None else made[0])
                if made is None:
                    continue
                if not waiting or waiting[-1][0] <= made[0]:
                    waiting.append(made)
                else:
                    waiting.insert(bisect_right(waiting, made[0], key=_ENTERS), made)
        self.through, self.seen = through, len(rows)


class EventRun:
    """The newest answer of a query."""

    def __init__(self, plan: QueryPlan, feeds: Iterable[StreamFeed]) -> None:
        run = self._run = _run_of(plan)
        self.feeds = tuple(feeds)
        self.clock = START_OF_TIME
        self.is_torn = self.listens = self._to_changes = False
        self._due: list[int] = []  # instants at which an answer is due
        self._events: list[Event] = []
        self._move, self._rows = run.move, run.rows
        for feed in self.feeds:
            feed.inputs = [
                (run.inputs[i].prepare, run.waiting[i], run.inputs[i].enter)
                for i in plan.inputs_of[feed.name]
            ]

    def load(self, rows: Mapping[int, pa.RecordBatch], clock: int) -> None:
        """The rows that a shard holds, and those that wait, at its clock."""
        for number, batch in rows.items():
            layout = self._run.inputs[number]
            found = [row for row in layout.held(batch) if row[0] + layout.lifetime.hold_us > clock]
            self._run.waiting[number].extend(sorted(found, key=_ENTERS))
        self._move(clock)
        self.clock = clock

    def catch_up(self, arrived_us: int | None = None) -> None:
        """Read what was gathered; arrived_us: by arrival, the newest time of all streams."""
        self.is_torn = True
        clock = END_OF_TIME
        for feed in self.feeds:
            if len(feed.gathered.rows) != feed.seen:
                feed.read()
            if feed.through < clock:
                clock = feed.through
        if arrived_us is not None:  # rows may be of the very instant of the clock
            clock = arrived_us
        if clock > self.clock or arrived_us is not None:
            if self.listens:
                self._move_by_instants(clock)
            self._move(clock)
            self.clock = clock
        self.is_torn = False

    def listen(self, due: list[int]) -> None:
        """From here on note the answers that are due; due: instants at which waiting rows enter."""
        self.listens = True
        self._due += due
        for feed in self.feeds:
            feed.due = self._due

    def note_changes(self) -> None:
        """From here on note the changes, too."""
        self._run.changes()  # those of before are nobody's
        self._to_changes = True

    @property
    def told_rows(self) -> list[dict[str, Any]]:
        """The rows by the changes that were noted."""
        return list(self._run.told_rows())

    def told(self) -> list[Event]:
        """What has happened since this was last called."""
        events, self._events = self._events, []
        return events

    def _move_by_instants(self, clock: int) -> None:
        """Stop at every instant at which an answer is due, or a row comes or goes."""
        run, due = self._run, self._due
        due.sort()
        place = 0
        while True:
            at = due[place] if place < len(due) else END_OF_TIME
            is_due = at <= clock
            if self._to_changes:
                at = min(at, run.next_change())
                is_due = is_due and at == due[place]
            if at > clock:
                break
            self._move(at)
            self.clock = max(at, self.clock)
            while place < len(due) and due[place] <= at:
                place += 1
            changes = run.changes() if self._to_changes else []
            if changes or is_due:
                self._events.append(Event(at, changes, self.answer() if is_due else None))
        del due[:place]

    def answer(self) -> Answer:
        """The answer at the clock."""
        answer = Answer(self._rows())
        answer.at_us = self.clock
        return answer

    @property
    def nbytes(self) -> int:
        """About its bytes."""
        return self._run.nbytes


def _run_of(plan: QueryPlan) -> CellRun:
    """By cells where these serve; else by the joined rows themselves."""
    try:
        return CellRun(plan)
    except GivesUpError:
        return PairRun(plan)
