"""The linear and the integer program over groups: each window in one at least, at least cost.

All of HiGHS is here; importing it takes as long as all of windrow, so that whoever needs it does so
where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from highspy import Highs, HighsModelStatus, HighsSolution, ObjSense
from numpy.typing import NDArray

from windrow.governor.groups.turning import Bytes, Longs

__all__ = ["Covering", "Members", "cover_exactly"]

# Typed here, as HiGHS leaves its constructor without types.
_new_solver: Callable[[], Highs] = Highs
Members: TypeAlias = NDArray[np.uint8]


class Covering:
    """A linear program to which groups are added; it is solved from where it was."""

    def __init__(self, size: int) -> None:
        self._solver = _quiet_solver()
        self._solver.setOptionValue("presolve", "off")
        self._size = size
        self._known: set[bytes] = set()
        self.groups: list[Members] = []
        _add_rows(self._solver, size)

    def add(self, members: Members, costs: Bytes) -> int:
        """Add groups, given as rows of 0 and 1; returns how many were new."""
        fresh = []
        for row in range(members.shape[0]):
            key = members[row].tobytes()
            if key not in self._known:
                self._known.add(key)
                fresh.append(row)
        if fresh:
            _add_columns(self._solver, members[fresh], costs[fresh])
            self.groups.extend(members[fresh])
        return len(fresh)

    def solve(self, time_limit_s: float) -> Bytes | None:
        """The price of each window when the cost is least; None when there was no time."""
        # HiGHS counts the time of all runs of a model together.
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + time_limit_s)
        self._solver.run()
        if self._solver.getModelStatus() != HighsModelStatus.kOptimal:
            return None
        prices = np.array(self._solver.getSolution().row_dual, np.float64)
        return np.maximum(prices, 0.0)


def cover_exactly(
    members: Members, costs: Bytes, start: Longs, time_limit_s: float
) -> tuple[Longs, float, bool]:
    """The groups taken by an integer program, its lower bound, and whether they are proven best.

    start: places of groups that cover all windows, to begin with.
    """
    solver = _quiet_solver()
    options: dict[str, float] = {
        "time_limit": time_limit_s, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "threads": 1,
    }  # fmt: skip
    for name, value in options.items():
        solver.setOptionValue(name, value)
    _add_rows(solver, members.shape[1])
    _add_columns(solver, members, costs)
    count = members.shape[0]
    places = np.arange(count, dtype=np.int32)
    solver.changeColsBounds(count, places, np.zeros(count), np.ones(count))
    solver.changeColsIntegrality(count, places, np.ones(count, np.uint8))
    begin = HighsSolution()
    taken = np.zeros(count)
    taken[start] = 1.0
    begin.col_value = taken.tolist()
    solver.setSolution(begin)
    solver.run()
    values = np.array(solver.getSolution().col_value)
    is_proven = solver.getModelStatus() == HighsModelStatus.kOptimal
    if values.size != count:
        return start, 0.0, False
    return np.flatnonzero(values > 0.5), float(solver.getInfo().mip_dual_bound), is_proven


def _quiet_solver() -> Highs:
    solver = _new_solver()
    solver.setOptionValue("output_flag", False)
    solver.changeObjectiveSense(ObjSense.kMinimize)
    return solver


def _add_rows(solver: Highs, size: int) -> None:
    """One row for each window: it is covered at least once."""
    nothing = np.empty(0, np.int32)
    solver.addRows(
        size,
        np.ones(size),
        np.full(size, np.inf),
        0,
        np.zeros(size, np.int32),
        nothing,
        np.empty(0),
    )


def _add_columns(solver: Highs, members: Members, costs: Bytes) -> None:
    columns, rows = np.nonzero(members)
    starts = np.searchsorted(columns, np.arange(members.shape[0])).astype(np.int32)
    count = members.shape[0]
    solver.addCols(
        count,
        np.ascontiguousarray(costs, np.float64),
        np.zeros(count),
        np.full(count, np.inf),
        rows.size,
        starts,
        rows.astype(np.int32),
        np.ones(rows.size),
    )
