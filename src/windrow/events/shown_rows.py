"""The rows of an answer by their keys, in a list of which readers get copies.

Where they are many, a copy takes longer than all else. Two answers are kept that were handed out:
one of which nobody else has a reference, and which its reader has not changed, gets the rows that
are new since, and is handed out again.
"""

from __future__ import annotations

import sys
from typing import Any

from windrow.events.answer import Answer

__all__ = ["ShownRows"]

Row = dict[str, Any]
# A copy of fewer rows takes less time than to look for an answer that was given back.
MANY_ROWS = 64
# A reader has one answer while it asks for the next.
KEPT_ANSWERS = 2


class ShownRows:
    """Rows that come and go; the last takes the place of one that goes, so that there are no gaps.

    log: the places that have changed, in order.

    >>> shown = ShownRows()
    >>> for key in "abc":
    ...     shown.put(key, {"k": key})
    >>> shown.drop("a")
    >>> shown.answer()
    [{'k': 'c'}, {'k': 'b'}]
    """

    __slots__ = ("_given", "_keys", "log", "places", "rows")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._keys: list[Any] = []
        self.places: dict[Any, int] = {}
        self.log: list[int] = []
        # Answers that were handed out, and how long the log was.
        self._given: list[tuple[Answer, int]] = []

    def put(self, key: Any, row: Row) -> None:
        """The row of a key, new or instead of the one before."""
        place = self.places.get(key)
        if place is not None:
            self.rows[place] = row
            self.log.append(place)
            return
        self.places[key] = len(self.rows)
        self.log.append(len(self.rows))
        self._keys.append(key)
        self.rows.append(row)

    def drop(self, key: Any) -> None:
        """The key has no row, now."""
        place = self.places.pop(key, None)
        if place is None:
            return
        last, row = self._keys.pop(), self.rows.pop()
        if place < len(self.rows):
            self._keys[place], self.rows[place] = last, row
            self.places[last] = place
            self.log.append(place)

    def row_of(self, key: Any) -> Row:
        """The row of a key that has one."""
        return self.rows[self.places[key]]

    def answer(self) -> Answer:
        """The rows, for a reader who may do with the list what he likes."""
        rows, log, given = self.rows, self.log, self._given
        if len(rows) < MANY_ROWS or len(log) > len(rows):
            log.clear()
            given.clear()
            if len(rows) < MANY_ROWS:
                return Answer(rows)
        if len(given) < KEPT_ANSWERS:
            answer = Answer(rows)
            answer.is_changed = False
        else:
            answer, end = given.pop(0)
            if sys.getrefcount(answer) <= _ONLY_HERE and not answer.is_changed:
                _patch(answer, rows, log[end:])
            else:
                answer = Answer(rows)
                answer.is_changed = False
        given.append((answer, len(log)))
        return answer


def _patch(answer: Answer, rows: list[Row], places: list[int]) -> None:
    """An answer becomes equal to the rows again; places: those that have changed."""
    count = len(rows)
    if len(answer) > count:
        list.__delitem__(answer, slice(count, None))
    elif len(answer) < count:
        list.extend(answer, rows[len(answer) :])
    replace = list.__setitem__
    for place in places:
        if place < count:
            replace(answer, place, rows[place])


def _references() -> int:
    """How many references are counted of an answer that nobody has but who takes it from a list."""
    given = [(Answer(), 0)]
    answer, _ = given.pop(0)
    return sys.getrefcount(answer)


_ONLY_HERE = _references()
