"""One input of a join: its rows by their codes, each in the list of its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations import join_kernels as kernels
from windrow.operators.relations.changes import Changes, Vector
from windrow.operators.relations.expressions_of_rows import (
    columns_by_field,
    evaluated_where,
    true_rows,
)
from windrow.operators.relations.held_rows import SMALLEST_CAPACITY, HeldRows, grown
from windrow.operators.relations.join_arrays import InputArrays
from windrow.operators.relations.row_coder import RowCoder
from windrow.plan.expressions import Expr
from windrow.plan.relations.algebra import Field
from windrow.plan.relations.join_condition import JoinCondition
from windrow.windows.codes import Codes
from windrow.windows.kernels import EMPTY

__all__ = ["JoinInput", "JoinKeys", "KeyedChanges", "KeyedRows"]

Flags = NDArray[np.bool_]
_NO_CODES: Codes = np.empty(0, np.int32)


@dataclass(frozen=True)
class KeyedChanges:
    """Changes and the key columns of their rows; live: which rows can match at all, None: all."""

    changes: Changes
    keys: tuple[pa.Array, ...]
    live: Flags | None


class JoinKeys:
    """The codes of keys, which both inputs share; without keys there is one, 0, for all rows."""

    def __init__(self, condition: JoinCondition) -> None:
        self._coder = RowCoder([key.left.type.arrow for key in condition.keys])

    def acquire(self, keys: Sequence[pa.Array], live: Flags | None, size: int) -> Codes:
        """The code of each key, with a reference; NO_KEY where a row matches nothing."""
        if live is None or live.all():
            return self._coder.acquire(keys, size)
        codes = np.full(size, kernels.NO_KEY, np.int32)
        places = pa.array(live)
        found = [column.filter(places) for column in keys]
        codes[live] = self._coder.acquire(found, int(live.sum()))
        return codes

    def release(self, codes: Codes) -> None:
        """One user less of each."""
        self._coder.release(codes[codes != kernels.NO_KEY])

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._coder.capacity

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._coder.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes."""
        return self._coder.growth_bytes(rows)


class KeyedRows:
    """What a row of an input must be to match: its filter, and keys of which none is NULL."""

    def __init__(self, fields: Sequence[Field], condition: JoinCondition, number: int) -> None:
        self._fields = tuple(fields)
        self._filter = condition.filters[number]
        self._keys: list[Expr] = [(key.left, key.right)[number] for key in condition.keys]
        self._is_null_safe = [key.is_null_safe for key in condition.keys]

    def keyed(self, changes: Changes) -> KeyedChanges:
        """The changes, with the keys of their rows."""
        leaf = columns_by_field(self._fields, changes.columns)
        live = None
        if self._filter is not None:
            live = true_rows(self._filter, leaf, changes.size)
        keys = tuple(evaluated_where(key, leaf, changes.size, live) for key in self._keys)
        for key, is_null_safe in zip(keys, self._is_null_safe, strict=True):
            if key.null_count and not is_null_safe:
                valid: Flags = key.is_valid().to_numpy(zero_copy_only=False)
                live = valid if live is None else live & valid
        return KeyedChanges(changes, keys, live)

    def matching(self, changes: Changes) -> KeyedChanges:
        """The changes of rows that can match, with their keys."""
        keyed = self.keyed(changes)
        if keyed.live is None or keyed.live.all():
            return KeyedChanges(changes, keyed.keys, None)
        places = pa.array(keyed.live)
        keys = tuple(column.filter(places) for column in keyed.keys)
        return KeyedChanges(changes.taken(np.flatnonzero(keyed.live)), keys, None)


class JoinInput:
    """Applies changes to the rows of one input; keeps_all: also rows that match nothing count."""

    def __init__(
        self, fields: Sequence[Field], rows: KeyedRows, keys: JoinKeys, *, keeps_all: bool
    ) -> None:
        self.rows = HeldRows([field.type.arrow for field in fields])
        self._keyed_rows, self._keys, self._keeps_all = rows, keys, keeps_all
        self._key_of_row = np.full(SMALLEST_CAPACITY, kernels.UNKNOWN_KEY, np.int32)
        self._first_row = np.full(SMALLEST_CAPACITY, EMPTY, np.int32)
        self._next_row = np.full(SMALLEST_CAPACITY, EMPTY, np.int32)
        self._previous_row = np.full(SMALLEST_CAPACITY, EMPTY, np.int32)
        self._batch = _NO_CODES

    def begin(self, changes: Changes) -> tuple[Vector, Codes, Vector]:
        """Acquire the codes of the rows; returns the changes with them, net."""
        if not changes.size:
            self._batch = _NO_CODES
            return changes.at, _NO_CODES, changes.weight
        rows = self._keyed_rows
        keyed = rows.keyed(changes) if self._keeps_all else rows.matching(changes)
        changes = keyed.changes
        codes = self._batch = self.rows.acquire(changes.columns, changes.size)
        self._grow_rows()
        self._find_keys(codes, keyed)
        return self.rows.net(changes.at, codes, changes.weight)

    def arrays(self) -> InputArrays:
        """What kernels work on, once both inputs have begun."""
        if self._keys.capacity > self._first_row.size:
            self._first_row = grown(self._first_row, self._keys.capacity, EMPTY)
        lists = (self._first_row, self._next_row, self._previous_row)
        return InputArrays(self.rows.counts, self._key_of_row, *lists)

    def end(self) -> None:
        """The changes are applied: codes of rows that are not held are free."""
        free = self.rows.release(self._batch)
        if free.size:
            self._keys.release(self._key_of_row[free])
            self._key_of_row[free] = kernels.UNKNOWN_KEY
        self._batch = _NO_CODES

    @property
    def nbytes(self) -> int:
        """Bytes held, without the keys, which are shared."""
        return self.rows.nbytes + self._array_bytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes while this many changes are applied."""
        return self.rows.growth_bytes(changes) + 2 * self._array_bytes

    @property
    def _array_bytes(self) -> int:
        arrays = (self._key_of_row, self._first_row, self._next_row, self._previous_row)
        return sum(array.nbytes for array in arrays)

    def _grow_rows(self) -> None:
        capacity = self.rows.capacity
        if capacity > self._key_of_row.size:
            self._key_of_row = grown(self._key_of_row, capacity, kernels.UNKNOWN_KEY)
            self._next_row = grown(self._next_row, capacity, EMPTY)
            self._previous_row = grown(self._previous_row, capacity, EMPTY)

    def _find_keys(self, codes: Codes, keyed: KeyedChanges) -> None:
        """Rows that were not held before get their keys."""
        unknown = self._key_of_row[codes] == kernels.UNKNOWN_KEY
        keys, live, size = keyed.keys, keyed.live, int(unknown.sum())
        if not size:
            return
        if size < codes.size:
            places = pa.array(unknown)
            keys = tuple(column.filter(places) for column in keys)
            live = None if live is None else live[unknown]
            codes = codes[unknown]
        found = self._keys.acquire(keys, live, size)
        surplus = np.empty(size, np.int32)
        unneeded = kernels.assign_keys(codes, found, self._key_of_row, surplus)
        self._keys.release(surplus[:unneeded])
