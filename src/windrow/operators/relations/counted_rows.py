"""An operator whose rows are there as often as the counts of its inputs say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.relations import count_kernels as kernels
from windrow.operators.relations.changes import Changes, Vector, no_changes
from windrow.operators.relations.held_rows import SMALLEST_CAPACITY, HeldRows, grown
from windrow.windows.codes import Codes

__all__ = ["CountedRows"]

# What a change needs on its way: it is sorted with those of other inputs, and its result listed.
_BYTES_A_CHANGE = 64


class CountedRows:
    """rule: one of count_kernels. types: those of the columns of all inputs."""

    def __init__(self, rule: int, types: Sequence[pa.DataType], inputs: int) -> None:
        self._rule = rule
        self._nothing = no_changes(types)
        self._rows = HeldRows(types, inputs)
        self._shown = np.zeros(SMALLEST_CAPACITY, np.int64)

    def advance(self, inputs: Sequence[Changes]) -> Changes:
        """Count the changes of all inputs; returns those of the result, net."""
        sizes = [changes.size for changes in inputs]
        if not sum(sizes):
            return self._nothing
        codes = np.concatenate([self._rows.acquire(c.columns, c.size) for c in inputs])
        at = np.concatenate([changes.at for changes in inputs])
        weight = np.concatenate([changes.weight for changes in inputs])
        input_of = np.repeat(np.arange(len(inputs)), sizes)
        events = (at, input_of, codes, weight)
        if sum(size > 0 for size in sizes) > 1:
            order = np.argsort(at, kind="stable")
            events = (at[order], input_of[order], codes[order], weight[order])
        return self._counted(*events)

    def _counted(self, at: Vector, input_of: Vector, codes: Codes, weight: Vector) -> Changes:
        if self._rows.capacity > self._shown.size:
            self._shown = grown(self._shown, self._rows.capacity, 0)
        out = (np.empty_like(at), np.empty_like(codes), np.empty_like(at))
        size = kernels.count_changes(
            self._rule, at, input_of, codes, weight, self._rows.counts, self._shown, *out
        )
        changes = self._rows.changes(out[0][:size], out[1][:size], out[2][:size])
        self._rows.release(codes)
        return changes

    @property
    def nbytes(self) -> int:
        """Bytes of all rows that any input holds."""
        return self._rows.nbytes + self._shown.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes while this many changes are counted."""
        return self._rows.growth_bytes(changes) + 2 * self._shown.nbytes + _BYTES_A_CHANGE * changes
