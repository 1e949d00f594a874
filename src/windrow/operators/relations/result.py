"""The root of a tree: changes of its relation as what a publisher takes, rows counted by code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.group_updates import GroupUpdates
from windrow.operators.lanes import LaneLayout
from windrow.operators.partial import Partial
from windrow.operators.relations import result_kernels as kernels
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.held_rows import HeldRows
from windrow.operators.updated_groups import UpdatedGroups
from windrow.windows.codes import Codes

__all__ = ["TreeResult"]


class TreeResult:
    """The rows of the result, each different one once, with the number of its copies."""

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._rows = HeldRows(types)
        self._groups = UpdatedGroups(is_grouped=True)
        self._layout = LaneLayout.smallest(((),))

    def absorb(self, changes: Changes) -> Partial:
        """The copies of every row that changed, at the end of each instant at which it did."""
        codes = self._rows.acquire(changes.columns, changes.size)
        at, code, weight = self._rows.net(changes.at, codes, changes.weight)
        count = np.empty(at.size, np.int64)
        kernels.running_counts(code, weight, self._rows.counts, count)
        lanes = np.zeros((at.size, self._layout.lane_count), np.int64)
        updates = GroupUpdates(at, code, count, lanes, self._layout)
        partial = self._groups.partial(updates, self._columns)
        self._rows.release(codes)
        return partial

    def counted(self, changes: Changes) -> Changes:
        """Count changes; the same with one for each row and instant at which its count changes."""
        codes = self._rows.acquire(changes.columns, changes.size)
        at, code, weight = self._rows.net(changes.at, codes, changes.weight)
        np.add.at(self._rows.counts[:, 0], code, weight)
        found = self._rows.changes(at, code, weight)
        self._rows.release(codes)
        return found

    def held(self, at: int) -> Changes:
        """All rows, as if they had entered at that instant."""
        codes = np.flatnonzero(self._rows.counts[:, 0]).astype(np.int32)
        weight = self._rows.counts[codes, 0]
        return self._rows.changes(np.full(codes.size, at, np.int64), codes, weight)

    @property
    def row_count(self) -> int:
        """How many rows there are, equal ones counted as often."""
        return int(self._rows.counts[:, 0].sum())

    def rows(self) -> list[pa.Array]:
        """All rows, equal ones as often as there are."""
        counts = self._rows.counts[:, 0]
        codes = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
        return self._columns(codes)

    def _columns(self, codes: Codes) -> list[pa.Array]:
        return list(self._rows.coder.columns(codes))

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return self._rows.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes while this many changes are taken."""
        return self._rows.growth_bytes(changes)
