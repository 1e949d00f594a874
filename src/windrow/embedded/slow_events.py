"""What happened to the answer of a query, read off its answers and its result after a push."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.events.answer import answer_of
from windrow.events.event import Event, Row
from windrow.events.event_log import EventLog
from windrow.followers import Follower

if TYPE_CHECKING:
    from windrow.embedded.query import EmbeddedQuery

__all__ = ["SlowEvents"]

# Columns of answers() before the select list.
ANSWER_COLUMNS = 3


class SlowEvents:
    """Reads for those who have subscribed to a query while no run does it.

    follower: of the query. log: where it notes what has happened. Changes are net of what was
    pushed at once. May be broken off at any line, and reads on from what was noted.
    """

    def __init__(self, query: EmbeddedQuery, follower: Follower, log: EventLog) -> None:
        self._query, self._follower, self._log = query, follower, log
        self._may_repeat = True  # the first answer may be one that was noted

    def read(self, *, with_changes: bool) -> None:
        """Note what has happened since."""
        may_repeat, self._may_repeat = self._may_repeat, True
        self._follower.answers(partial(self._note_answers, may_repeat=may_repeat))
        if with_changes:
            self._note_changes()
        self._may_repeat = False

    def _note_answers(self, answers: pa.Table, *, may_repeat: bool) -> None:
        is_again = self._query.is_by_arrival  # then an answer at an instant may be given again
        told_us, told = self._log.newest_answer
        for at_us, rows, level in _by_instants(answers):
            if at_us < told_us or (at_us == told_us and not is_again):
                continue
            if may_repeat and at_us == told_us and told is not None and _same(rows, told):
                continue
            self._log.note(Event(at_us, [], answer_of(rows, at_us, level)))

    def _note_changes(self) -> None:
        rows = self._query.result().to_pylist()
        old = self._log.rows_after(None)
        if old == rows:
            return
        before, after = Counter(map(repr, old)), Counter(map(repr, rows))
        named = {repr(row): row for row in (*old, *rows)}
        changes = [(-1, named[key]) for key in (before - after).elements()]
        changes += [(1, named[key]) for key in (after - before).elements()]
        if changes:
            self._log.note(Event(self._query.clock, changes, rows=rows))

    def close(self) -> None:
        """It reads no more."""
        self._follower.close()


def _same(rows: list[Row], others: list[Row]) -> bool:
    return Counter(map(repr, rows)) == Counter(map(repr, others))


def _by_instants(answers: pa.Table) -> list[tuple[int, list[Row], str]]:
    """The answers at each instant, in their order."""
    found: list[tuple[int, list[Row], str]] = []
    times = answers.column("at").cast(pa.int64()).to_pylist()
    levels = answers.column("level").to_pylist()
    rows = answers.select(answers.column_names[ANSWER_COLUMNS:]).to_pylist()
    for at_us, level, row in zip(times, levels, rows, strict=True):
        if not found or found[-1][0] != at_us:
            found.append((at_us, [], level))
        found[-1][1].append(row)
    return found
