"""Expressions over the rows of one batch: each evaluated once, its faults remembered."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import ColumnRef, Expr
from windrow.rows.evaluate import Leaf, error_at, evaluate_checked
from windrow.rows.faults import FaultError

__all__ = ["CheckedColumns", "leaf_of"]

Flags = NDArray[np.bool_]


class CheckedColumns:
    """Columns of a batch; takes_part: the rows whose faults count, None for all."""

    def __init__(self, batch: pa.RecordBatch, takes_part: Flags | None = None) -> None:
        self._batch, self._size = batch, batch.num_rows
        self._takes_part = takes_part
        self._plain: dict[Expr, pa.Array] = {}
        self._values: dict[tuple[Expr, pa.DataType], pa.Array] = {}
        self._faults: dict[Expr, Flags] = {}

    def _leaf(self, part: Expr) -> pa.Array:
        assert isinstance(part, ColumnRef)
        return self._batch.column(part.column)

    def plain(self, part: Expr) -> pa.Array:
        """The expression in its own type."""
        if type(part) is ColumnRef:  # most are: nothing is to be evaluated
            return self._batch.column(part.column)
        if part not in self._plain:
            found, faults = evaluate_checked(part, self._leaf, self._size)
            if faults is not None and self._takes_part is not None:
                faults = faults & self._takes_part
            if faults is not None and faults.any():
                self._faults[part] = faults
            self._plain[part] = found
        return self._plain[part]

    def value(self, part: Expr, kind: pa.DataType) -> pa.Array:
        """The expression in the type in which it is kept."""
        if type(part) is ColumnRef:
            column = self._batch.column(part.column)
            if column.type == kind:
                return column
        if (part, kind) not in self._values:
            self._values[part, kind] = self._kept(part, kind)
        return self._values[part, kind]

    def _kept(self, part: Expr, kind: pa.DataType) -> pa.Array:
        column = self.plain(part)
        if column.type == kind:
            return column
        if part.type.is_numeric:
            return column.cast(kind)
        # Of other types only COUNT is asked: whether there is a value.
        missing = column.is_null().to_numpy(zero_copy_only=False)
        return pa.array(np.zeros(self._size, np.int64), pa.int64(), mask=missing)

    def check(self) -> None:
        """Raise the first fault of all."""
        error = self.error_in(self._faults)
        if error is not None:
            raise error

    def error_in(self, parts: Iterable[Expr], takes_part: Flags | None = None) -> FaultError | None:
        """The error of the first of these that has a fault in a row that takes part."""
        for part in parts if self._faults else ():
            faults = self._faults.get(part)
            if faults is not None and takes_part is not None:
                faults = faults & takes_part
            if faults is not None and faults.any():
                return error_at(part, self._leaf, faults)
        return None


def leaf_of(batch: pa.RecordBatch) -> Leaf:
    """Columns of rows as expressions name them."""

    def column(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnRef)
        return batch.column(part.column)

    return column
