"""A run of a query: its newest answer, and what happens to it, kept row by row.

The rows themselves go their ordinary way, in batches. This is beside it: whatever it does not know
it gives up, and the next reader asks the shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from windrow.event_time import END_OF_TIME
from windrow.events.answer import Answer
from windrow.events.cell_run import CellRun
from windrow.events.event import Event, Row, Shown
from windrow.events.event_group import EventGroup
from windrow.events.event_log import EventLog
from windrow.events.giving_up import GivesUpError
from windrow.events.pair_run import PairRun
from windrow.events.stream_feed import StreamFeed
from windrow.plan.model import QueryPlan

__all__ = ["EventRun"]

# About what Python takes for the note of what a key shows.
TOLD_BYTES = 160


class EventRun:
    """The newest answer of a query; group: those with which it moves."""

    __slots__ = ("_due", "_grouped", "_log", "_run", "answer", "group", "told")

    def __init__(self, plan: QueryPlan, feeds: Iterable[StreamFeed]) -> None:
        run = self._run = _run_of(plan)
        self.group = EventGroup(run, feeds)
        self._log: EventLog | None = None  # where it notes what happens, while somebody listens
        self._due: list[int] = []  # instants at which an answer is due
        self.told: dict[Any, Shown] | None = None  # what keys show by the changes that were noted
        # The answer at the clock; whoever takes it says of which instant it is.
        self.answer, self._grouped = run.whole_answer or self._grouped_answer, run.grouped_answer

    def load(self, rows: Mapping[int, pa.RecordBatch], clock: int) -> None:
        """The rows that a shard holds, and those that wait, at its clock."""
        for number, batch in rows.items():
            self._run.windows[number].load(self._run.inputs[number].held(batch), clock)
        self.group.move(clock)

    def catch_up(self, arrived_us: int | None = None) -> None:
        """Read what was gathered; arrived_us: by arrival, the newest time of all streams."""
        group = self.group
        if self._log is not None:
            group.is_torn = True
            complete = group.complete()
            if complete > group.clock or arrived_us is not None:
                self._move_by_instants(self._log, complete if arrived_us is None else arrived_us)
        group.catch_up(arrived_us)

    def join(self, groups: Iterable[EventGroup]) -> None:
        """Go together with the first group that takes it."""
        for group in groups:
            if group.joins(self.group):
                self.group = group
                group.is_torn = False
                return

    def leave(self) -> None:
        """It is read no more, and its group is torn until then."""
        self.group.leave(self._run)

    @property
    def listens(self) -> bool:
        """Whether it notes events."""
        return self._log is not None

    def listen(self, log: EventLog, due: list[int]) -> None:
        """From here on note the answers that are due; due: instants at which waiting rows enter."""
        self._log = log
        self._due += due
        self.group.listen(self._due)

    def note_changes(self) -> None:
        """From here on note the changes, too."""
        self.group.is_torn = True
        self.told = self._run.shows_all()  # changes of before are nobody's
        self.group.is_torn = False

    def _move_by_instants(self, log: EventLog, clock: int) -> None:
        """Stop at every instant at which an answer is due, or a row comes or goes."""
        run, due = self._run, self._due
        due.sort()
        place = 0
        while True:
            at = due[place] if place < len(due) else END_OF_TIME
            is_due = at <= clock
            if self.told is not None:
                at = min(at, run.next_change())
                is_due = is_due and at == due[place]
            if at > clock:
                break
            self.group.move(max(at, self.group.clock))
            while place < len(due) and due[place] <= at:
                place += 1
            self._note(log, at, is_due=is_due)
        del due[:place]

    def _note(self, log: EventLog, at_us: int, *, is_due: bool) -> None:
        """What was told changes once the event is noted, and not before."""
        shown: dict[Any, Shown] = {}
        changes: list[tuple[int, Row]] = []
        if self.told is not None:
            shown = self._run.shows()
            changes = _changes(self.told, shown)
        if changes or is_due:
            answer = self._answer_now() if is_due else None
            log.note(Event(at_us, changes, answer, shown=shown if changes else None))
        if changes:
            self._take_over(shown)

    def _take_over(self, shown: dict[Any, Shown]) -> None:
        assert self.told is not None
        for key, each in shown.items():
            if each is None:
                self.told.pop(key, None)
            else:
                self.told[key] = each

    def _grouped_answer(self) -> Answer:
        group = self.group
        was_torn, group.is_torn = group.is_torn, True
        answer = self._grouped()
        group.is_torn = was_torn  # in the middle of following, it is torn all the while
        return answer

    def _answer_now(self) -> Answer:
        answer = self.answer()
        answer.at_us = self.group.clock
        return answer

    @property
    def nbytes(self) -> int:
        """About its bytes."""
        return self._run.nbytes + TOLD_BYTES * len(self.told or ())


def _changes(told: dict[Any, Shown], shown: dict[Any, Shown]) -> list[tuple[int, Row]]:
    """The changes from the rows that keys have shown to those that they show now."""
    changes: list[tuple[int, Row]] = []
    for key, now in shown.items():
        old, before = told.get(key) or ({}, 0)
        row, after = now or ({}, 0)
        if old == row:
            both = min(before, after)
            before, after = before - both, after - both
        changes += [(-1, old)] * before
        changes += [(1, row)] * after
    return changes


def _run_of(plan: QueryPlan) -> CellRun:
    """By cells where these serve; else by the joined rows themselves."""
    try:
        return CellRun(plan)
    except GivesUpError:
        return PairRun(plan)
