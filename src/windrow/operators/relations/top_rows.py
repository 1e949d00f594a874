"""ORDER BY ... LIMIT and OFFSET, of the whole relation or of each partition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.operators.relations.changes import Changes, no_changes
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.order_words import Matrix
from windrow.operators.relations.ordered_kernels import EMPTY
from windrow.operators.relations.ordered_rows import CodedChanges, OrderedRows, has_numbers
from windrow.operators.relations.rest_kernels import FRONT, HEAD, REST_COLUMNS
from windrow.operators.relations.top_kernels import (
    BELOW_ZERO,
    NO_END,
    NODE,
    PREFIX_COLUMNS,
    InstantChanges,
    top_changes,
)
from windrow.plan.relations.algebra import TopRows

__all__ = ["TopRowsOperator"]

# Bytes of a change while its results are made: rows of output and lists of an instant.
_CHANGE_BYTES = 96
# How many times as long as the rows shown, with those before them, the front that is in order is.
_FRONT_OF_PREFIX = 4
_SHORTEST_FRONT = 16
# All rows are in order.
WHOLE_FRONT = 1 << 29


class TopRowsOperator(RelationOperator):
    """Keeps the first rows of each partition in order, where those shown end, and all others.

    Work: O(1) for most changes behind the rows shown, O(log n) amortised for any, and as many rows
    as enter and leave those shown.
    """

    def __init__(self, node: TopRows) -> None:
        fields = node.input.fields
        self._types = [field.type.arrow for field in fields]
        self._rows = OrderedRows(
            fields, node.partition, node.order, is_numbered=has_numbers(node.input)
        )
        end = NO_END if node.limit is None else node.offset + node.limit
        self._lengths = np.array([node.offset, end], np.int64)
        self._shortest = _shortest_front(end)
        self._rests = _no_rests(0, self._shortest)
        self._prefixes = np.zeros((2, 0, PREFIX_COLUMNS), np.int64)
        self._instant = _no_changes_of(0)

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """What enters and leaves the rows shown."""
        del until
        (changes,) = inputs
        if not changes.size:
            return no_changes(self._types)
        coded = self._rows.load(changes)
        self._reserve()
        out = self._applied(coded)
        codes = out[:, 1].astype(np.int32)
        columns = tuple(self._rows.columns(codes))
        self._rows.release(coded)
        return Changes(np.ascontiguousarray(out[:, 0]), np.ascontiguousarray(out[:, 2]), columns)

    def _applied(self, coded: CodedChanges) -> Matrix:
        arrays = (coded.at, coded.weight, coded.rows, coded.partitions)
        out = np.empty((coded.at.size, 3), np.int64)
        count, out = top_changes(
            arrays,
            self._rows.tree,
            self._rests,
            self._shortest,
            self._prefixes,
            self._lengths,
            self._instant,
            out,
        )
        assert count != BELOW_ZERO, "a row left that was not there"
        found: Matrix = out[:count]
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of everything that it remembers."""
        return self._rows.nbytes + self._own_bytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        batch = changes * _CHANGE_BYTES
        own = self._rows.grown_bytes(self._own_bytes, changes)
        return self._rows.growth_bytes(changes) + own + batch

    @property
    def _own_bytes(self) -> int:
        instant = sum(array.nbytes for array in self._instant)
        return self._prefixes.nbytes + self._rests.nbytes + instant

    def _reserve(self) -> None:
        partitions = self._rows.tree.heads.shape[0]
        if partitions > self._prefixes.shape[1]:
            prefixes = np.zeros((2, partitions, PREFIX_COLUMNS), np.int64)
            prefixes[:, :, NODE] = EMPTY
            prefixes[:, : self._prefixes.shape[1]] = self._prefixes
            self._prefixes = prefixes
            rests = _no_rests(partitions, self._shortest)
            rests[: self._rests.shape[0]] = self._rests
            self._rests = rests
        if self._rows.capacity > self._instant.net.size:
            self._instant = _no_changes_of(self._rows.capacity)


def _shortest_front(end: int) -> int:
    if end in (NO_END, 0):
        return WHOLE_FRONT
    return min(max(_FRONT_OF_PREFIX * end, _SHORTEST_FRONT), WHOLE_FRONT)


def _no_rests(partitions: int, shortest: int) -> NDArray[np.int32]:
    rests = np.zeros((partitions, REST_COLUMNS), np.int32)
    rests[:, HEAD] = EMPTY
    rests[:, FRONT] = shortest
    return rests


def _no_changes_of(rows: int) -> InstantChanges:
    return InstantChanges(
        net=np.zeros(rows, np.int64),
        shown=np.zeros(rows, np.int64),
        is_listed=np.zeros(rows, np.uint8),
        changed=np.empty(rows, np.int32),
        counters=np.zeros(1, np.int64),
        room=np.empty(rows, np.int32),
    )
