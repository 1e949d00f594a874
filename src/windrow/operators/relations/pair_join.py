"""Joins by listing pairs: inner, left and full ones, and semi and anti joins with a residual."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.relations import join_kernels, match_kernels
from windrow.operators.relations.changes import Changes, Vector, merged_changes, no_changes
from windrow.operators.relations.expressions_of_rows import columns_by_field, true_rows
from windrow.operators.relations.held_rows import SMALLEST_CAPACITY, grown
from windrow.operators.relations.join_arrays import (
    EventArrays,
    InputArrays,
    JoinedArrays,
    MatchArrays,
    PairArrays,
)
from windrow.operators.relations.join_input import JoinInput, JoinKeys, KeyedRows
from windrow.operators.relations.operator import NO_LIMIT, RelationOperator, StepTooLargeError
from windrow.operators.relations.row_coder import RowCoder
from windrow.plan.expressions import ColumnRef, Expr, walk
from windrow.plan.relations.algebra import Join
from windrow.plan.relations.join_condition import JoinCondition
from windrow.windows.codes import Codes
from windrow.windows.kernels import EMPTY

__all__ = ["PairJoin"]

# Pairs that are listed, tested and given at once: whatever a join finds, no more than these wait.
BLOCK_PAIRS = 1 << 18
_FIRST_BLOCK = 1 << 10
# Bytes of a pair on its way, and of each of its columns.
_BYTES_A_PAIR = 80
_BYTES_A_VALUE = 32
_COUNTS_LEFT = ("left", "full", "semi", "anti")


class PairJoin(RelationOperator):
    """Lists pairs with equal keys block by block; the residual chooses among them."""

    def __init__(self, node: Join, condition: JoinCondition) -> None:
        self._node, self._residual = node, condition.residual
        self._types = [field.type.arrow for field in node.fields]
        self._nothing = no_changes(self._types)
        self._is_single = node.kind in ("semi", "anti")
        self._counts = (node.kind in _COUNTS_LEFT, node.kind == "full")
        # Of a semi join a row that matches nothing is no result either.
        keeps = (self._counts[0] and node.kind != "semi", self._counts[1])
        self._keys = JoinKeys(condition)
        self._inputs = [
            JoinInput(
                part.fields,
                KeyedRows(part.fields, condition, number),
                self._keys,
                keeps_all=keeps[number],
            )
            for number, part in enumerate(node.inputs)
        ]
        self._matches = [MatchArrays.of_size(SMALLEST_CAPACITY * each) for each in self._counts]
        read = _columns_of(condition.residual)
        self._read = [
            frozenset(place for place, field in enumerate(part.fields) if field.id in read)
            for part in node.inputs
        ]
        fields = [field for part in node.inputs for field in part.fields]
        self._fields_read = [field for field in fields if field.id in read]
        self._room = min(BLOCK_PAIRS, _FIRST_BLOCK)
        self._limit = NO_LIMIT

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """What the pairs of changed rows with all rows of the other input change."""
        del until
        if not any(changes.size for changes in inputs):
            return self._nothing
        batch = zip(self._inputs, inputs, strict=True)
        begun = [each.begin(changes) for each, changes in batch]
        events = EventArrays.of_size(sum(each[0].size for each in begun))
        join_kernels.merge_events(*begun, events)
        parts = self._joined(events)
        for each in self._inputs:
            each.end()
        return merged_changes(parts, self._types) if parts else self._nothing

    def restrict(self, limit: int) -> None:
        """Pairs are given up once they are more than this."""
        self._limit = limit

    @property
    def nbytes(self) -> int:
        """Bytes of the rows of both inputs, their keys and what is known of their matches."""
        matches = sum(array.nbytes for arrays in self._matches for array in arrays)
        return sum(each.nbytes for each in self._inputs) + self._keys.nbytes + matches

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes: larger tables, and the block of pairs that may be next."""
        matches = sum(array.nbytes for arrays in self._matches for array in arrays)
        tables = sum(each.growth_bytes(changes) for each in self._inputs) + 2 * matches
        pair = _BYTES_A_PAIR + _BYTES_A_VALUE * len(self._types)
        block = min(2 * self._room, BLOCK_PAIRS)
        return tables + self._keys.growth_bytes(changes) + pair * block

    def _joined(self, events: EventArrays) -> list[Changes]:
        """The changes of the join, block by block."""
        left, right = (each.arrays() for each in self._inputs)
        self._grow_matches()
        progress = np.zeros(join_kernels.PROGRESS_ENTRIES, np.int64)
        progress[join_kernels.WALKING] = join_kernels.NOT_BEGUN
        matched = np.zeros(match_kernels.PROGRESS_ENTRIES, np.int64)
        matched[match_kernels.INSTANT] = START_OF_TIME
        parts: list[Changes] = []
        size = 0
        while progress[join_kernels.EVENT] < events.at.size:
            pairs = self._next_pairs(events, left, right, progress)
            reached = int(progress[join_kernels.EVENT])
            if self._counts[0]:
                found = self._matched(reached, events, pairs, matched)
            else:
                weight = events.weight[pairs.event] * pairs.copies
                found = JoinedArrays(events.at[pairs.event], weight, pairs.left, pairs.right)
            if found.at.size:
                parts.append(self._decoded(found))
                size += found.at.size
            if size > self._limit:
                raise StepTooLargeError(size)
        return parts

    def _next_pairs(
        self, events: EventArrays, left: InputArrays, right: InputArrays, progress: Vector
    ) -> PairArrays:
        """A block of pairs for which the residual is true."""
        block = PairArrays.of_size(self._room)
        size = join_kernels.list_pairs(events, left, right, self._is_single, progress, block)
        if size == self._room:
            # Small where few rows match, so that few changes cost little.
            self._room = min(2 * self._room, BLOCK_PAIRS)
        pairs = block.taken(slice(size))
        if self._residual is None or not size:
            return pairs
        columns: list[pa.Array] = []
        for each, read, codes in zip(
            self._inputs, self._read, (pairs.left, pairs.right), strict=True
        ):
            columns += each.rows.coder.columns(codes, read)
        leaf = columns_by_field(self._fields_read, columns)
        return pairs.taken(true_rows(self._residual, leaf, size))

    def _matched(
        self, reached: int, events: EventArrays, pairs: PairArrays, progress: Vector
    ) -> JoinedArrays:
        """What the pairs make of rows with and without matches, and the pairs if they are given."""
        waiting = int(progress[match_kernels.LEFT_SIZE] + progress[match_kernels.RIGHT_SIZE])
        done = reached - int(progress[match_kernels.EVENT])
        pair_rows = pairs.event.size * (2 if self._is_single else 3)
        output = JoinedArrays.of_size(waiting + done + pair_rows + 1)
        rules = (not self._is_single, *self._counts, self._node.kind == "semi")
        size = match_kernels.match_pairs(
            reached, events, pairs, rules, *self._matches, progress, output
        )
        return output.first(size)

    def _decoded(self, found: JoinedArrays) -> Changes:
        columns = self._columns(0, found.left)
        if not self._is_single:
            columns += self._columns(1, found.right)
        return Changes(found.at, found.weight, columns)

    def _columns(self, number: int, codes: Codes) -> tuple[pa.Array, ...]:
        return columns_or_null(self._inputs[number].rows.coder, codes)

    def _grow_matches(self) -> None:
        for number, each in enumerate(self._inputs):
            arrays = self._matches[number]
            if self._counts[number] and each.rows.capacity > arrays.held.size:
                self._matches[number] = MatchArrays(
                    *(grown(array, each.rows.capacity, 0) for array in arrays)
                )


def _columns_of(expression: Expr | None) -> frozenset[str]:
    parts = () if expression is None else walk(expression)
    return frozenset(part.column for part in parts if isinstance(part, ColumnRef))


def columns_or_null(coder: RowCoder, codes: Codes) -> tuple[pa.Array, ...]:
    """The rows of codes; where there is none, NULL in every column."""
    missing = codes == EMPTY
    if not missing.any():
        return coder.columns(codes)
    places = np.cumsum(~missing) - 1
    index = pa.array(places, mask=missing)
    return tuple(column.take(index) for column in coder.columns(codes[~missing]))
