"""Joined rows, one by one: for joins with other conditions, their rows, and anti joins.

A step costs as much as there are pairs with the row that comes or goes; where these are too many
the run gives up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from windrow.events.cell_run import CellRun
from windrow.events.cell_text import row_changer
from windrow.events.giving_up import GivesUpError
from windrow.events.pair_layout import pair_layout
from windrow.events.row_text import EventRow
from windrow.plan.model import QueryPlan

__all__ = ["PairRun"]

# A row that meets more than this is for the shard, which takes pairs by blocks.
MOST_PAIRS = 2_000

Found = dict[Any, deque[EventRow]]
KeyOf = Callable[[EventRow], Any]

_NO_ROWS: tuple[EventRow, ...] = ()


class PairRun(CellRun):
    """The windows of a plan, the rows of each by their keys, and the cells of joined rows."""

    def __init__(self, plan: QueryPlan) -> None:
        pairs = pair_layout(plan)
        self._begin(pairs.cells, pairs.inputs)
        self._join = pairs.join
        self._keys = [_key_of(places) for places in pairs.keys]
        self._by_key: tuple[Found, Found] = ({}, {})
        cells = (pairs.cells, self.cells, self.changed)
        self._add, self._remove = row_changer(*cells, "+"), row_changer(*cells, "-")
        self._holds = [rows.lifetime.hold_us for rows in pairs.inputs]
        self.move_pairs = self._move_negated if pairs.is_negated else self._move_joined

    def _move_joined(self, clock: int) -> None:
        for number in (0, 1):
            for row in self._entering(number, clock):
                key = self._keys[number](row)
                self._change(number, row, key, is_new=True)
                _put(self._by_key[number], key, row)
        for number in (0, 1):
            for row in self._leaving(number, clock):
                key = self._keys[number](row)
                _take(self._by_key[number], key)
                self._change(number, row, key, is_new=False)

    def _change(self, number: int, row: EventRow, key: Any, *, is_new: bool) -> None:
        """The pairs of a row with those of the other window come or go."""
        others = self._by_key[1 - number].get(key)
        if others is None:
            return
        if len(others) > MOST_PAIRS:
            raise GivesUpError("many pairs")
        change, join = self._add if is_new else self._remove, self._join
        for other in others:
            joined = join(other, row) if number else join(row, other)
            if joined is not None:
                change(joined)

    def _move_negated(self, clock: int) -> None:
        """Rows of the first window count while the second has none of their key."""
        kept, against = self._by_key
        for row in self._entering(0, clock):
            key = self._keys[0](row)
            if key not in against:
                self._show(row, is_new=True)
            _put(kept, key, row)
        for row in self._entering(1, clock):
            key = self._keys[1](row)
            if key not in against:
                self._show_all(kept.get(key), is_new=False)
            _put(against, key, row)
        for row in self._leaving(1, clock):
            key = self._keys[1](row)
            _take(against, key)
            if key not in against:
                self._show_all(kept.get(key), is_new=True)
        for row in self._leaving(0, clock):
            key = self._keys[0](row)
            _take(kept, key)
            if key not in against:
                self._show(row, is_new=False)

    def _show_all(self, rows: deque[EventRow] | None, *, is_new: bool) -> None:
        if rows is not None and len(rows) > MOST_PAIRS:
            raise GivesUpError("many pairs")
        for row in rows or ():
            self._show(row, is_new=is_new)

    def _show(self, row: EventRow, *, is_new: bool) -> None:
        joined = self._join(row)
        if joined is not None:
            (self._add if is_new else self._remove)(joined)

    def _entering(self, number: int, clock: int) -> Sequence[EventRow]:
        """The rows that enter by the clock; they are held from here on."""
        window = self.windows[number]
        waiting = window.waiting
        if not waiting or waiting[0][0] > clock:
            return _NO_ROWS
        found: list[EventRow] = []  # `list[EventRow]()` takes twenty times as long
        while waiting and waiting[0][0] <= clock:
            found.append(waiting.popleft())
        window.live.extend(found)
        return found

    def _leaving(self, number: int, clock: int) -> Sequence[EventRow]:
        live, edge = self.windows[number].live, clock - self._holds[number]
        if not live or live[0][0] > edge:
            return _NO_ROWS
        found: list[EventRow] = []
        while live and live[0][0] <= edge:
            found.append(live.popleft())
        return found


def _key_of(places: tuple[int, ...]) -> KeyOf:
    """What reads the key of a row: a value, or several as a tuple."""
    return itemgetter(*places) if places else _no_key


def _no_key(_row: EventRow) -> Any:
    return _NO_ROWS


def _put(found: Found, key: Any, row: EventRow) -> None:
    rows = found.get(key)
    if rows is None:
        found[key] = deque((row,))
    else:
        rows.append(row)


def _take(found: Found, key: Any) -> None:
    """The first row of a key leaves: rows leave in the order in which they have entered."""
    rows = found[key]
    rows.popleft()
    if not rows:
        del found[key]
