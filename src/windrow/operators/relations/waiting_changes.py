"""Changes that are known before their instant has come.

They are held in runs, each in time order, whose lengths fall by half at least: what is due is cut
off the front of every run, and runs are merged when two have become alike in length. So a change is
copied O(log n) times, however many wait.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.relations.changes import Changes, merged_changes

__all__ = ["WaitingChanges"]


class WaitingChanges:
    """types: of the columns."""

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = list(types)
        self._runs: list[Changes] = []

    def add(self, changes: Changes) -> None:
        """More of them, in time order."""
        if not changes.size:
            return
        self._runs.append(changes)
        while len(self._runs) > 1 and self._runs[-2].size < 2 * self._runs[-1].size:
            last = self._runs.pop()
            self._runs[-1] = merged_changes([self._runs[-1], last], self._types)

    def due(self, until: int) -> Changes:
        """Those up to and including `until`, in time order; they wait no longer."""
        found, kept = [], []
        for run in self._runs:
            end = int(np.searchsorted(run.at, until, side="right"))
            found.append(_part(run, 0, end))
            if end < run.size:
                kept.append(_part(run, end, run.size))
        self._runs = kept
        return merged_changes(found, self._types)

    @property
    def size(self) -> int:
        """How many wait."""
        return sum(run.size for run in self._runs)

    @property
    def nbytes(self) -> int:
        """Bytes held; a run that has lost more than half of its changes still holds all buffers."""
        return sum(run.nbytes for run in self._runs)


def _part(run: Changes, begin: int, end: int) -> Changes:
    columns = tuple(column.slice(begin, end - begin) for column in run.columns)
    return Changes(run.at[begin:end], run.weight[begin:end], columns)
