"""Semi and anti joins without a residual: of the right input only the keys are held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.operators.relations import semi_kernels as kernels
from windrow.operators.relations.changes import Changes, Vector, merged_changes, no_changes
from windrow.operators.relations.held_kernels import unneeded_references
from windrow.operators.relations.held_rows import SMALLEST_CAPACITY, grown
from windrow.operators.relations.join_input import JoinInput, JoinKeys, KeyedRows
from windrow.operators.relations.operator import NO_LIMIT, RelationOperator, StepTooLargeError
from windrow.plan.relations.algebra import Join
from windrow.plan.relations.join_condition import JoinCondition
from windrow.windows.codes import Codes

__all__ = ["KeySemiJoin"]

# Rows that are given at once: however many left rows have one key, no more than these wait.
BLOCK_ROWS = 1 << 18
# Bytes of a right change on its way.
_BYTES_A_CHANGE = 40


class KeyArrays(NamedTuple):
    """Keys of the right input by their codes: how many rows have each, and which have changed."""

    totals: NDArray[np.int64]
    is_held: NDArray[np.uint8]
    is_noted: NDArray[np.uint8]
    was_there: NDArray[np.bool_]
    noted: Codes

    @classmethod
    def of_size(cls, size: int) -> KeyArrays:
        """None there, with room for that many."""
        flags = (np.zeros(size, np.uint8), np.zeros(size, np.uint8), np.zeros(size, np.bool_))
        return cls(np.zeros((size, 1), np.int64), *flags, np.zeros(size, np.int32))


class RowArrays(NamedTuple):
    """Changes of left rows."""

    at: Vector
    weight: Vector
    code: Codes

    @classmethod
    def of_size(cls, size: int) -> RowArrays:
        """Room for that many."""
        at, weight = np.empty(size, np.int64), np.empty(size, np.int64)
        return cls(at, weight, np.empty(size, np.int32))


class KeySemiJoin(RelationOperator):
    """Holds left rows in lists by their key, and counts right rows by theirs."""

    def __init__(self, node: Join, condition: JoinCondition) -> None:
        assert condition.residual is None
        self._types = [field.type.arrow for field in node.fields]
        self._nothing = no_changes(self._types)
        self._wants_match = node.kind == "semi"
        self._keys = JoinKeys(condition)
        self._left = JoinInput(
            node.left.fields,
            KeyedRows(node.left.fields, condition, 0),
            self._keys,
            keeps_all=not self._wants_match,
        )
        self._right = KeyedRows(node.right.fields, condition, 1)
        self._counted = KeyArrays.of_size(SMALLEST_CAPACITY)
        self._limit = NO_LIMIT

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """Left rows that enter or leave, or whose key comes or goes, net at each instant."""
        del until
        if not any(changes.size for changes in inputs):
            return self._nothing
        left = self._left.begin(inputs[0])
        right = self._right.matching(inputs[1])
        keys = self._keys.acquire(right.keys, None, right.changes.size)
        if self._keys.capacity > self._counted.noted.size:
            capacity = self._keys.capacity
            self._counted = KeyArrays(*(grown(array, capacity, 0) for array in self._counted))
        parts = self._joined(left, (right.changes.at, keys, right.changes.weight))
        surplus = np.empty(2 * keys.size, np.int32)
        counted = self._counted
        size = unneeded_references(keys, counted.totals, counted.is_held, surplus)
        self._keys.release(surplus[:size])
        self._left.end()
        return merged_changes(parts, self._types) if any(p.size for p in parts) else self._nothing

    def restrict(self, limit: int) -> None:
        """Rows are given up once they are more than this."""
        self._limit = limit

    @property
    def nbytes(self) -> int:
        """Bytes of left rows, and of the keys of both inputs."""
        counted = sum(array.nbytes for array in self._counted)
        return self._left.nbytes + self._keys.nbytes + counted

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes: larger tables, and one block of rows."""
        counted = sum(array.nbytes for array in self._counted)
        tables = self._left.growth_bytes(changes) + self._keys.growth_bytes(changes) + 2 * counted
        block = min(BLOCK_ROWS, changes + self._left.rows.capacity)
        return tables + _BYTES_A_CHANGE * (changes + block)

    def _joined(
        self, left: tuple[Vector, Codes, Vector], right: tuple[Vector, Codes, Vector]
    ) -> list[Changes]:
        rows, progress = self._left.arrays(), np.zeros(kernels.PROGRESS_ENTRIES, np.int64)
        progress[kernels.WALKING] = kernels.NOT_BEGUN
        room = min(BLOCK_ROWS, left[0].size + right[0].size + SMALLEST_CAPACITY)
        parts: list[Changes] = []
        given = 0
        while not kernels.is_done(left, right, progress):
            output = RowArrays.of_size(room)
            size = kernels.semi_join(
                self._wants_match, left, right, rows, self._counted, progress, output
            )
            found = output.at[:size], output.code[:size], output.weight[:size]
            parts.append(self._left.rows.changes(*found))
            given += size
            if given > self._limit:
                raise StepTooLargeError(given)
            room = min(2 * room, BLOCK_ROWS)
        return parts
