"""The negated inputs of a query in a shard: keys as codes, conditions on pairs of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.operators.lanes import Vector
from windrow.operators.pairs.block import MergedEvents
from windrow.operators.pairs.conditions import ResidualFilter
from windrow.operators.pairs.probing import BLOCK
from windrow.operators.pairs.rows import SlotRows
from windrow.operators.pairs.unmatched import (
    UnmatchedByCondition,
    UnmatchedByKey,
    UnmatchedRows,
    place,
)
from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import NegationShape, QueryShape
from windrow.windows.codes import Codes, KeyCoder

__all__ = ["Negations"]

# The code of a key with NULL in it: it matches nothing, since no negated row has it.
NULL_CODE = 0


class Negations:
    """All negations of a query, one stage behind the other."""

    def __init__(self, shape: QueryShape, rows: Sequence[SlotRows], block: int = BLOCK) -> None:
        self._each = [NegatedInput(part, shape, rows, block) for part in shape.negations]

    def append(self, input_index: int, slots: Vector, rows: PreparedRows, capacity: int) -> None:
        """Rows of this input, counting or negated, have come; slots are below the capacity."""
        for each in self._each:
            each.append(input_index, slots, rows, capacity)

    def release(self, input_index: int, slots: Vector) -> None:
        """Rows of this input have left."""
        for each in self._each:
            each.release(input_index, slots)

    def passed(self, events: MergedEvents) -> Iterator[MergedEvents]:
        """The events of the rows that nothing matches, of joined inputs only."""
        return _through(events, [each.stage for each in self._each])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for each in self._each)


def _through(events: MergedEvents, stages: Sequence[UnmatchedRows]) -> Iterator[MergedEvents]:
    if not stages:
        yield events
        return
    for part in stages[0].passed(events):
        yield from _through(part, stages[1:])


class NegatedInput:
    """One negation: its stage, and the table of its keys."""

    def __init__(
        self, shape: NegationShape, query: QueryShape, rows: Sequence[SlotRows], block: int
    ) -> None:
        self._shape = shape
        keys = query.inputs[shape.negated].keys
        self._coder = KeyCoder([key.type.arrow for key in keys]) if keys else None
        self.stage: UnmatchedRows
        if shape.residual is None:
            self.stage = UnmatchedByKey(shape.of, shape.negated)
            return
        condition = _renumbered(shape.residual, shape)
        pair = ResidualFilter(condition, [rows[shape.of], rows[shape.negated]])
        self.stage = UnmatchedByCondition(shape.of, shape.negated, pair.kept, block)

    def append(self, input_index: int, slots: Vector, rows: PreparedRows, capacity: int) -> None:
        """Rows have come."""
        if input_index == self._shape.of:
            columns = [rows.batch.column(name) for name in self._shape.of_columns]
        elif input_index == self._shape.negated:
            columns = rows.keys[: len(self._shape.of_columns)]
        else:
            return
        codes = self._codes(columns, slots.size)
        self.stage.reserve_slots(capacity)
        self.stage.index.reserve(capacity, 1 if self._coder is None else self._coder.capacity + 1)
        place(self.stage, int(input_index == self._shape.negated), slots, codes)

    def release(self, input_index: int, slots: Vector) -> None:
        """Rows have left."""
        if self._coder is None or input_index not in (self._shape.of, self._shape.negated):
            return
        codes = self.stage.index.codes_of(int(input_index == self._shape.negated), 0, slots)
        self._coder.release(codes[codes != NULL_CODE] - 1)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.stage.nbytes + (0 if self._coder is None else self._coder.nbytes)

    def _codes(self, columns: list[pa.Array], size: int) -> Codes:
        if self._coder is None:
            return np.zeros(size, np.int32)
        present = _without_null(columns)
        if present is None:
            return self._coder.acquire(columns) + 1
        codes = np.full(size, NULL_CODE, np.int32)
        mask = pa.array(present)
        codes[present] = self._coder.acquire([column.filter(mask) for column in columns]) + 1
        return codes


def _without_null(columns: list[pa.Array]) -> NDArray[np.bool_] | None:
    """Where no column is NULL; None: everywhere."""
    if not any(column.null_count for column in columns):
        return None
    present = [pc.is_valid(column).to_numpy(zero_copy_only=False) for column in columns]
    together: NDArray[np.bool_] = np.logical_and.reduce(present)
    return together


def _renumbered(part: Expr, shape: NegationShape) -> Expr:
    """The condition over inputs 0, whose rows count, and 1, the negated one."""
    if isinstance(part, ColumnRef):
        return replace(part, source=int(part.source == shape.negated))
    if isinstance(part, Call):
        return replace(part, arguments=tuple(_renumbered(each, shape) for each in part.arguments))
    return part
