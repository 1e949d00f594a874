"""Partitions that are proven best, or as near to that as there is time for.

A group of a partition that is cheaper than the best one known costs little more than the prices of
its windows: no more than what the best one known costs beyond the bound. If there are not too many
such groups, all are listed, and an integer program over them finds the best partition.
"""

from __future__ import annotations

import time

import numpy as np

from windrow.governor.columns import kernels
from windrow.governor.columns.generation import Columns, Scaled, generate, rows_of, scaled
from windrow.governor.columns.linear_program import Members, cover_exactly
from windrow.governor.groups.turning import (
    Grouping,
    Longs,
    TurningWindows,
    is_partition,
    shared_bytes,
)

__all__ = ["bounded", "prove"]

# Groups that are listed at the most, and for each second that is left: the integer program looks at
# its clock only after it has looked through all of them. Steps in listing them.
LISTED_LIMIT = 40_000
LISTED_PER_S = 6_000
LISTING_STEPS = 10_000_000
# A cost within this share of the bound is the bound: the programs' own tolerances are no finer.
TOLERANCE = 1e-7


def bounded(
    turning: TurningWindows, known: Grouping, time_limit_s: float
) -> tuple[Grouping, Columns]:
    """The known partition with the bound of the linear program, and what that has found.

    The bound is of true groups, whose sums are exact; it is as good as the program when that came
    to its end within the time.
    """
    windows = scaled(turning)
    columns = generate(windows, known.groups, time.perf_counter() + time_limit_s)
    bound = max(known.bound_bytes, columns.bound_bytes(windows))
    return _grouping(turning, known.groups, bound, known.solver), columns


def prove(
    turning: TurningWindows, known: Grouping, columns: Columns, time_limit_s: float
) -> Grouping:
    """A partition no dearer than the known one, and a bound no lower; equal when it is proven best.

    columns: what the linear program found, perhaps with another partition.
    """
    if known.shared_bytes - known.bound_bytes <= TOLERANCE * known.shared_bytes:
        return _grouping(turning, known.groups, np.inf, "exact")
    windows = scaled(turning)
    gap = known.shared_bytes / windows.bytes_per_cost - columns.bound
    limit = min(LISTED_LIMIT, int(time_limit_s * LISTED_PER_S))
    listed = _listed(windows, columns, gap, limit)
    members = columns.members if listed is None else listed
    groups, program_bound, is_proven = _cover(windows, members, known.groups, time_limit_s)
    bound = known.bound_bytes
    if listed is not None:
        bound = np.inf if is_proven else max(bound, program_bound * windows.bytes_per_cost)
    is_better = shared_bytes(turning, groups) < known.shared_bytes
    solver = "exact" if is_better or bound == np.inf else known.solver
    return _grouping(turning, groups if is_better else known.groups, bound, solver)


def _listed(windows: Scaled, columns: Columns, gap: float, limit: int) -> Members | None:
    """All groups that a cheaper partition can have, if there are not more than the limit."""
    members = np.zeros((limit, windows.cost.size), np.uint8)
    count, is_all = kernels.enumerate_groups(
        windows.growth_us, windows.period_us, windows.cost, columns.prices, windows.unit_us, gap,
        LISTING_STEPS, members,
    )  # fmt: skip
    return members[:count] if is_all else None


def _cover(
    windows: Scaled, members: Members, known: Longs, time_limit_s: float
) -> tuple[Longs, float, bool]:
    """The best partition that consists of parts of these groups, or the known one."""
    start = rows_of(known)
    rows = np.concatenate([start, members])
    taken, bound, is_proven = cover_exactly(
        rows, windows.cost[rows.argmax(axis=1)], np.arange(start.shape[0]), time_limit_s
    )
    return _partition(rows[taken]), bound, is_proven


def _partition(members: Members) -> Longs:
    """Each window in the dearest of the groups that it is in, so that others may become cheaper.

    The leader of a group is its first window, and windows stand in the order of falling cost.
    """
    members = members[np.argsort(members.argmax(axis=1), kind="stable")]
    _, groups = np.unique(members.argmax(axis=0), return_inverse=True)
    return groups.astype(np.int64)


def _grouping(turning: TurningWindows, groups: Longs, bound_bytes: float, solver: str) -> Grouping:
    """The partition with its cost; a bound above that, as of what is proven best, is the cost."""
    assert is_partition(turning, groups), "a partition with a group that is not valid"
    cost = shared_bytes(turning, groups)
    return Grouping(groups, cost, min(cost, bound_bytes), solver)
