"""The join that finds one row by time: of the right rows with the key of a left row, the newest.

purpose  AsOfJoin: FOR SYSTEM_TIME AS OF, and ASOF JOIN
keeps    the rows of both inputs, by key in the order of their times, and the match of each left row
time     O(log n) for a change, and O(1) for each left row whose match changes by it
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.operators.relations.changes import Changes, Vector, no_changes
from windrow.operators.relations.expressions_of_rows import (
    columns_by_field,
    evaluated,
    true_rows,
)
from windrow.operators.relations.held_rows import SMALLEST_CAPACITY, HeldRows, grown
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.pair_join import columns_or_null
from windrow.operators.relations.row_coder import RowCoder
from windrow.plan.expressions import Expr
from windrow.plan.relations.algebra import AsOfJoin, Field, VersionScan
from windrow.windows.codes import Codes

__all__ = ["AsOfJoinOperator"]

NO_MATCH = -1
NO_KEY = -1
# Bytes of a row in the lists of its key, and of a match.
_BYTES_A_ROW = 200

# A row in the list of its key: its time, where rows of one time differ, and its code.
Entry = tuple[int, Any, int]
_time = itemgetter(0)


class AsOfJoinOperator(RelationOperator):
    """Recomputes the matches of left rows between a right row that changes and the next one."""

    def __init__(self, node: AsOfJoin) -> None:
        self._node = node
        self._types = [field.type.arrow for field in node.fields]
        self._keys = RowCoder([left.type.arrow for left, _ in node.keys])
        own, others = zip(*node.keys, strict=True) if node.keys else ((), ())
        self._left = _TimedRows(node.left.fields, own, node.times[0], self._keys)
        # Versions of one key have different times.
        is_tied = not isinstance(node.right, VersionScan)
        self._right = _TimedRows(
            node.right.fields, others, node.times[1], self._keys, is_tied=is_tied
        )
        self._matches: dict[int, int] = {}

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """What the changes of both inputs change in the pairs."""
        del until
        if not any(changes.size for changes in inputs):
            return no_changes(self._types)
        left, right = self._left.begin(inputs[0]), self._right.begin(inputs[1])
        found = _Pairs()
        for instant, lefts, rights in _by_instant(left, right):
            self._change_right(instant, rights, found)
            self._change_left(instant, lefts, found)
        given = self._given(found)
        self._left.end()
        self._right.end()
        return given

    def _change_right(self, instant: int, rights: list[tuple[int, int]], found: _Pairs) -> None:
        counted = (self._right.count(code, weight) for code, weight in rights)
        for key, time in dict.fromkeys(each for each in counted if each is not None):
            for code in self._between(key, time):
                before, now = self._matches[code], self._match(code)
                if before != now:
                    copies = self._left.copies(code)
                    found.add(instant, -copies, code, before)
                    found.add(instant, copies, code, now)
                    self._matches[code] = now

    def _between(self, key: int, time: int) -> list[int]:
        """The left rows whose match may be the right row of that time, or was."""
        lefts, rights = self._left.lists.get(key, []), self._right.lists.get(key, [])
        following = bisect_right(rights, time, key=_time)
        edge = bisect_right if self._node.is_strict else bisect_left
        begin = edge(lefts, time, key=_time)
        end = len(lefts)
        if following < len(rights):
            end = edge(lefts, rights[following][0], key=_time)
        return [code for _, _, code in lefts[begin:end]]

    def _change_left(self, instant: int, lefts: list[tuple[int, int]], found: _Pairs) -> None:
        for code, weight in lefts:
            self._left.count(code, weight)
            if code not in self._matches:
                self._matches[code] = self._match(code)
            found.add(instant, weight, code, self._matches[code])
            if not self._left.copies(code):
                del self._matches[code]

    def _match(self, code: int) -> int:
        key = int(self._left.key_of_row[code])
        rights = self._right.lists.get(key) if key != NO_KEY else None
        if not rights:
            return NO_MATCH
        edge = bisect_left if self._node.is_strict else bisect_right
        place = edge(rights, int(self._left.time_of_row[code]), key=_time)
        return rights[place - 1][2] if place else NO_MATCH

    def _given(self, found: _Pairs) -> Changes:
        at, weight = np.array(found.at, np.int64), np.array(found.weight, np.int64)
        left, right = np.array(found.left, np.int32), np.array(found.right, np.int32)
        right = self._with_condition(left, right)
        if self._node.kind == "inner":
            has_match = right != NO_MATCH
            at, weight, left, right = (each[has_match] for each in (at, weight, left, right))
        columns = self._left.rows.coder.columns(left)
        others = columns_or_null(self._right.rows.coder, right)
        return Changes(at, weight, (*columns, *others))

    def _with_condition(self, left: Codes, right: Codes) -> Codes:
        """The matches of which the condition is true; the others are none."""
        condition, places = self._node.condition, np.flatnonzero(right != NO_MATCH)
        if condition is None or not places.size:
            return right
        columns = [
            *self._left.rows.coder.columns(left[places]),
            *self._right.rows.coder.columns(right[places]),
        ]
        leaf = columns_by_field(self._node.fields, columns)
        is_true = true_rows(condition, leaf, places.size)
        out = right.copy()
        out[places[~is_true]] = NO_MATCH
        return out

    @property
    def nbytes(self) -> int:
        """Bytes of the rows of both inputs, in lists by key, and of matches."""
        return self._left.nbytes + self._right.nbytes + self._keys.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes."""
        tables = self._left.growth_bytes(changes) + self._right.growth_bytes(changes)
        return tables + self._keys.growth_bytes(changes)


class _Pairs:
    """Pairs that come and go, in order."""

    def __init__(self) -> None:
        self.at: list[int] = []
        self.weight: list[int] = []
        self.left: list[int] = []
        self.right: list[int] = []

    def add(self, at: int, weight: int, left: int, right: int) -> None:
        """So many copies of a pair."""
        self.at.append(at)
        self.weight.append(weight)
        self.left.append(left)
        self.right.append(right)


class _TimedRows:
    """One input: its rows by code, and of each key a list of them in order of time."""

    def __init__(
        self,
        fields: Sequence[Field],
        keys: Sequence[Expr],
        time: Expr,
        coder: RowCoder,
        *,
        is_tied: bool = False,
    ) -> None:
        self._fields, self._keys, self._time = tuple(fields), tuple(keys), time
        self._coder, self._is_tied = coder, is_tied
        self.rows = HeldRows([field.type.arrow for field in fields])
        self.key_of_row = np.full(SMALLEST_CAPACITY, NO_KEY, np.int32)
        self.time_of_row = np.zeros(SMALLEST_CAPACITY, np.int64)
        self._is_known = np.zeros(SMALLEST_CAPACITY, np.bool_)
        self._order_of_row: dict[int, Any] = {}
        self.lists: dict[int, list[Entry]] = {}
        self._batch: Codes = np.empty(0, np.int32)

    def begin(self, changes: Changes) -> tuple[Vector, Codes, Vector]:
        """The changes by the codes of their rows, net."""
        self._batch = codes = self.rows.acquire(changes.columns, changes.size)
        if not changes.size:
            return changes.at, codes, changes.weight
        self._grow()
        self._find_keys(codes, changes)
        return self.rows.net(changes.at, codes, changes.weight)

    def end(self) -> None:
        """The changes are applied: codes of rows that are not held are free."""
        free = self.rows.release(self._batch)
        if free.size:
            keys = self.key_of_row[free]
            self._coder.release(keys[keys != NO_KEY])
            self._is_known[free] = False
            for code in free.tolist() if self._is_tied else ():
                self._order_of_row.pop(code, None)
        self._batch = np.empty(0, np.int32)

    def copies(self, code: int) -> int:
        """How many copies of a row there are."""
        return int(self.rows.counts[code, 0])

    def count(self, code: int, weight: int) -> tuple[int, int] | None:
        """Count copies; the key and time of a row that came or left by it, if it has a key."""
        before = self.copies(code)
        self.rows.counts[code, 0] = before + weight
        key, time = int(self.key_of_row[code]), int(self.time_of_row[code])
        if key == NO_KEY or (before != 0) == (before + weight != 0):
            return None
        entry = (time, self._order_of_row.get(code), code)
        rows = self.lists.setdefault(key, [])
        if before:
            del rows[bisect_left(rows, entry)]
            if not rows:
                del self.lists[key]
        else:
            insort(rows, entry)
        return key, time

    def _find_keys(self, codes: Codes, changes: Changes) -> None:
        """Rows that were not held before get their keys and times."""
        unknown, first = np.unique(codes, return_index=True)
        first = first[~self._is_known[unknown]]
        if not first.size:
            return
        new, index = codes[first], pa.array(first)
        leaf = columns_by_field(self._fields, [column.take(index) for column in changes.columns])
        keys = [evaluated(key, leaf, new.size) for key in self._keys]
        times = evaluated(self._time, leaf, new.size).cast(pa.int64())
        live = times.is_valid().to_numpy(zero_copy_only=False).copy()
        for key in keys:
            live &= key.is_valid().to_numpy(zero_copy_only=False)
        places = pa.array(live)
        found = self._coder.acquire([key.filter(places) for key in keys], int(live.sum()))
        self.key_of_row[new] = NO_KEY
        self.key_of_row[new[live]] = found
        self.time_of_row[new[live]] = times.filter(places).to_numpy(zero_copy_only=False)
        self._is_known[new] = True
        if self._is_tied:
            orders = _orders(self.rows.coder.columns(new))
            self._order_of_row.update(zip(new.tolist(), orders, strict=True))

    def _grow(self) -> None:
        capacity = self.rows.capacity
        if capacity > self.key_of_row.size:
            self.key_of_row = grown(self.key_of_row, capacity, NO_KEY)
            self.time_of_row = grown(self.time_of_row, capacity, 0)
            self._is_known = grown(self._is_known, capacity, 0)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        arrays = self.key_of_row.nbytes + self.time_of_row.nbytes + self._is_known.nbytes
        held = int(np.count_nonzero(self.rows.counts[:, 0]))
        return self.rows.nbytes + arrays + _BYTES_A_ROW * held

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes."""
        return self.rows.growth_bytes(changes) + _BYTES_A_ROW * changes


def _orders(columns: Sequence[pa.Array]) -> list[tuple[Any, ...]]:
    """Where rows stand in the order of whole rows: NULL first, NaN last."""
    return list(zip(*([_order(x) for x in column.to_pylist()] for column in columns), strict=True))


def _order(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    return (2, 0) if isinstance(value, float) and math.isnan(value) else (1, value)


def _by_instant(
    left: tuple[Vector, Codes, Vector], right: tuple[Vector, Codes, Vector]
) -> Iterator[tuple[int, list[tuple[int, int]], list[tuple[int, int]]]]:
    """The instants of changes in order, with the codes and weights of both inputs at each."""
    instants = np.unique(np.concatenate([left[0], right[0]]))
    ends = [np.searchsorted(each[0], instants, side="right").tolist() for each in (left, right)]
    plain = [list(zip(each[1].tolist(), each[2].tolist(), strict=True)) for each in (left, right)]
    begun = [0, 0]
    for number, instant in enumerate(instants.tolist()):
        parts = []
        for own in (0, 1):
            end = ends[own][number]
            parts.append(plain[own][begun[own] : end])
            begun[own] = end
        yield instant, parts[0], parts[1]
