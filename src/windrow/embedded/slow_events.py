"""What happened to the answer of a query, read off its answers and its result after a push."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.events.answer import answer_of
from windrow.events.subscriptions import Event
from windrow.followers import Follower

if TYPE_CHECKING:
    from windrow.embedded.query import EmbeddedQuery

__all__ = ["SlowEvents"]

Row = dict[str, Any]
# Columns of answers() before the select list.
ANSWER_COLUMNS = 3


class SlowEvents:
    """Reads for those who have subscribed to a query while no run does it.

    follower: of the query. told_us: answers up to here were given already. rows: the result at that
    time, if it is known. before: what happened before, and was not told. Changes are net of what
    was pushed at once.
    """

    def __init__(
        self,
        query: EmbeddedQuery,
        follower: Follower,
        told_us: int = START_OF_TIME,
        rows: Sequence[Row] | None = None,
        before: Sequence[Event] = (),
    ) -> None:
        self._query, self._told_us = query, told_us
        self._follower = follower
        self._rows = list(query.result().to_pylist() if rows is None else rows)
        self._before = list(before)

    def read(self) -> list[Event]:
        """What has happened since."""
        events, self._before = self._before, []
        answers = self._follower.answers()
        is_again = self._query.is_by_arrival  # then an answer at an instant may be given again
        for at_us, rows, level in _by_instants(answers):
            if at_us > self._told_us or (is_again and at_us == self._told_us):
                events.append(Event(at_us, [], answer_of(rows, at_us, level)))
                self._told_us = max(at_us, self._told_us)
        changes = self._changes()
        if changes:
            events.append(Event(self._query.clock, changes, None))
        return events

    def _changes(self) -> list[tuple[int, Row]]:
        rows = self._query.result().to_pylist()
        old, self._rows = self._rows, rows
        if old == rows:
            return []
        before, after = Counter(map(repr, old)), Counter(map(repr, rows))
        named = {repr(row): row for row in (*old, *rows)}
        gone = [(-1, named[key]) for key in (before - after).elements()]
        return gone + [(1, named[key]) for key in (after - before).elements()]

    def close(self) -> None:
        """It reads no more."""
        self._follower.close()


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
