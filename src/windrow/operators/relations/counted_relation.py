"""A relation that others read: its rows with their numbers of copies, and its changes, net."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.relations.changes import Changes
from windrow.operators.relations.held_rows import HeldRows

__all__ = ["CountedRelation"]


class CountedRelation:
    """Every different row once, with its count."""

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._rows = HeldRows(types)

    def absorb(self, changes: Changes) -> Changes:
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
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return self._rows.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes while this many changes are counted."""
        return self._rows.growth_bytes(changes)
