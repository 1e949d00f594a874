"""Rows of a result that come (+1) and go (-1), gathered and put in order of time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.expiry.expiry_queue import Longs

__all__ = ["Changes", "Codes"]

Codes = NDArray[np.int32]


class Changes:
    """Gathers parts, each mostly in order already."""

    def __init__(self) -> None:
        self._parts: list[tuple[Longs, Codes, Longs]] = []

    def add(self, at: Longs, code: NDArray[np.integer], delta: Longs | int) -> None:
        """Rows with these codes come or go."""
        if at.size:
            deltas = np.full(at.size, delta, np.int64) if isinstance(delta, int) else delta
            self._parts.append((at, code.astype(np.int32), deltas))

    def drain(self) -> tuple[Longs, Codes, Longs]:
        """Instants, codes and deltas of all that was added, in order of time."""
        parts, self._parts = self._parts, []
        if not parts:
            return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
        at, code, delta = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(at, kind="stable")
        return at[order], code[order], delta[order]
