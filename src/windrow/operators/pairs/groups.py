"""Groups and distinct values of joined rows as codes.

A column of one input is coded when its row comes; what reads several is coded with every block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.code_tuples import SPARE_CODES, SweptTuples
from windrow.operators.lanes import Vector
from windrow.operators.pairs.rows import RowCodes
from windrow.plan.expressions import ColumnRef, Expr
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import QueryShape
from windrow.windows.codes import Codes, KeyCoder
from windrow.windows.kernels import EMPTY

__all__ = ["DistinctCodes", "GroupCodes"]

Slots = NDArray[np.int32]
Evaluate = Callable[[Expr], pa.Array]
NO_CODES: Codes = np.empty(0, np.int32)


class BlockCodes:
    """One code for several columns of joined rows; a code stays until a sweep finds it unused."""

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self.coder = KeyCoder(types)
        self._is_held = np.zeros(0, np.bool_)
        self._live = 0

    def encode(self, columns: Sequence[pa.Array]) -> Codes:
        """The codes of rows."""
        codes = self.coder.acquire(columns)
        if self._is_held.size < self.coder.capacity:
            self._is_held = np.pad(self._is_held, (0, self.coder.capacity - self._is_held.size))
        fresh = np.unique(codes[~self._is_held[codes]])
        self.coder.retain(fresh)
        self._is_held[fresh] = True
        self.coder.release(codes)
        return codes

    @property
    def is_due(self) -> bool:
        """Whether a sweep pays."""
        return self.coder.size > 2 * self._live + SPARE_CODES

    def sweep(self, live: Codes) -> None:
        """Forget all codes but these."""
        self._live = live.size
        dead = self._is_held.copy()
        dead[live] = False
        self.coder.release(np.flatnonzero(dead).astype(np.int32))
        self._is_held &= ~dead

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.coder.nbytes + self._is_held.nbytes


class GroupCodes:
    """The groups of joined rows."""

    def __init__(self, shape: QueryShape) -> None:
        columns = shape.group_columns
        inputs = sorted({part.source for part in columns if isinstance(part, ColumnRef)})
        self._columns = columns
        self._of_input = {
            input_index: [
                part
                for part in columns
                if isinstance(part, ColumnRef) and part.source == input_index
            ]
            for input_index in inputs
        }
        self._by_row = {
            input_index: RowCodes([part.type.arrow for part in parts], skips_null=False)
            for input_index, parts in self._of_input.items()
        }
        self._joined = [part for part in columns if not isinstance(part, ColumnRef)]
        types = [part.type.arrow for part in self._joined]
        self._by_block = BlockCodes(types) if self._joined else None
        parts = len(self._by_row) + bool(self._joined)
        self._folded = SweptTuples(parts) if parts > 1 else None
        self._waiting: list[Codes] = []

    def append(self, input_index: int, slots: Vector, rows: PreparedRows, capacity: int) -> None:
        """Rows of this input have come."""
        if input_index in self._by_row:
            columns = [rows.column(part) for part in self._of_input[input_index]]
            self._by_row[input_index].append(slots, columns, capacity)

    def release(self, input_index: int, slots: Vector) -> None:
        """Rows of this input have left."""
        if input_index in self._by_row:
            self._by_row[input_index].release(slots)

    def of(self, slots: Slots, evaluate: Evaluate) -> Codes:
        """The groups of joined rows; none where there are no groups."""
        parts = [codes.of(slots[input_index]) for input_index, codes in self._by_row.items()]
        if self._by_block is not None:
            parts.append(self._by_block.encode([evaluate(part) for part in self._joined]))
        if self._folded is not None:
            return self._folded.encode(parts)
        return parts[0] if parts else NO_CODES

    def columns(self, groups: Codes) -> list[pa.Array]:
        """The values of the group columns, constants left out."""
        found: dict[Expr, pa.Array] = {}
        parts = self._parts(groups)
        for (input_index, codes), part in zip(self._by_row.items(), parts, strict=False):
            found |= zip(self._of_input[input_index], codes.coder.columns(part), strict=True)
        if self._by_block is not None:
            found |= zip(self._joined, self._by_block.coder.columns(parts[-1]), strict=True)
        return [found[part] for part in self._columns]

    def hold(self, waiting: Codes) -> None:
        """Groups that are yet to be put out keep their meaning, though their rows may have left."""
        waiting = np.unique(waiting)
        before = self._waiting
        self._waiting = self._parts(waiting)[: len(self._by_row)] if self._by_row else []
        for codes, part in zip(self._by_row.values(), self._waiting, strict=True):
            codes.coder.retain(part)
        if before:
            for codes, part in zip(self._by_row.values(), before, strict=True):
                codes.coder.release(part)

    @property
    def capacity(self) -> int:
        """Every group is below this."""
        if self._folded is not None:
            return self._folded.capacity()
        coders = [codes.coder for codes in self._by_row.values()]
        if self._by_block is not None:
            coders.append(self._by_block.coder)
        return coders[0].capacity if coders else 1

    def sweep(self, live: Callable[[], Codes]) -> None:
        """Forget groups but those that are live, when there may be many."""
        if self._folded is not None and self._folded.is_due:
            self._folded.sweep(live())
        if self._by_block is not None and self._by_block.is_due:
            self._by_block.sweep(np.unique(self._parts(live())[-1]))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        beside = [each for each in (self._by_block, self._folded) if each is not None]
        return sum(codes.nbytes for codes in (*self._by_row.values(), *beside))

    def _parts(self, groups: Codes) -> list[Codes]:
        return [groups] if self._folded is None else self._folded.parts(groups)


class DistinctCodes:
    """The values of one COUNT(DISTINCT) as codes; EMPTY for NULL."""

    def __init__(self, argument: Expr) -> None:
        self._argument = argument
        types = [argument.type.arrow]
        self._by_row: RowCodes | None = None
        self._by_block: BlockCodes | None = None
        if isinstance(argument, ColumnRef):
            self._by_row = RowCodes(types, skips_null=True)
        else:
            self._by_block = BlockCodes(types)

    def append(self, input_index: int, slots: Vector, rows: PreparedRows, capacity: int) -> None:
        """Rows of this input have come."""
        argument = self._argument
        if (
            self._by_row is not None
            and isinstance(argument, ColumnRef)
            and argument.source == input_index
        ):
            self._by_row.append(slots, [rows.column(argument)], capacity)

    def release(self, input_index: int, slots: Vector) -> None:
        """Rows of this input have left."""
        argument = self._argument
        if (
            self._by_row is not None
            and isinstance(argument, ColumnRef)
            and argument.source == input_index
        ):
            self._by_row.release(slots)

    def of(self, slots: Slots, evaluate: Evaluate) -> Codes:
        """The values of joined rows."""
        if self._by_row is not None and isinstance(self._argument, ColumnRef):
            return self._by_row.of(slots[self._argument.source])
        assert self._by_block is not None
        column = evaluate(self._argument)
        codes = self._by_block.encode([column])
        if column.null_count:
            codes[column.is_null().to_numpy(zero_copy_only=False)] = EMPTY
        return codes

    def sweep(self, live: Callable[[], Codes]) -> None:
        """Forget values but those that are live, when there may be many."""
        if self._by_block is not None and self._by_block.is_due:
            self._by_block.sweep(np.unique(live()))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for each in (self._by_row, self._by_block) if each is not None)
