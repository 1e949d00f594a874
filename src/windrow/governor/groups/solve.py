"""The best partition into groups that there is time for."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping

import numpy as np

from windrow.governor.groups import kernels
from windrow.governor.groups.partitions import (
    HEAT,
    SUBSETS_LIMIT,
    best_by_subsets,
    first_fit,
    ruin_recreate,
)
from windrow.governor.groups.turning import Grouping, Longs, TurningWindows, shared_bytes
from windrow.governor.groups.volume_bound import volume_bound

__all__ = ["TIME_LIMIT_S", "continued", "solve", "solve_at_once", "solve_quickly"]

TIME_LIMIT_S = 1.0
# Seconds of a step over subsets, and of an iteration of ruin and recreate for each window.
SUBSET_STEP_S = 1.2e-9
ITERATION_S = 25e-9
QUICK_S = 0.003
# Shares of the time: for the bound of a linear program, at most, and then for ruin and recreate.
# Among more than FEW_WINDOWS there are mostly too many groups to prove anything: they have more of
# the latter. It has its time in slices: each continues from the best partition so far, cooler, and
# the clock is checked in between.
BOUND_SHARE = 0.4
FEW_WINDOWS = 50
ANNEALING_SHARE_FEW = 0.3
ANNEALING_SHARE_MANY = 0.5
SLICES = 6
# Beyond, the linear program takes seconds to give a bound.
COLUMNS_LIMIT = 400
# A cost within this share of the bound is the bound.
TOLERANCE = 1e-12


def solve(turning: TurningWindows, time_limit_s: float = TIME_LIMIT_S, seed: int = 0) -> Grouping:
    """The best partition by what fits the limit, with the best bound.

    Up to SUBSETS_LIMIT windows all subsets are searched. Beyond, a linear program yields a bound,
    ruin and recreate comes near to it, and an integer program may improve that or prove it best.
    All but ruin and recreate depend on how fast the machine is, and stop by its clock.
    """
    until_s = time.perf_counter() + time_limit_s
    if turning.size <= SUBSETS_LIMIT and _subsets_s(turning) <= time_limit_s:
        return _by_subsets(turning)
    found = solve_quickly(turning, seed)
    if _is_best(found) or time_limit_s <= 0:
        return found
    if turning.size > COLUMNS_LIMIT:
        return _annealed_slowly(turning, found, time_limit_s, seed)
    # HiGHS takes as long to import as all the rest: only who needs proofs pays for it.
    proof = importlib.import_module("windrow.governor.columns.proof")
    found, columns = proof.bounded(turning, found, time_limit_s * BOUND_SHARE)
    share = ANNEALING_SHARE_FEW if turning.size <= FEW_WINDOWS else ANNEALING_SHARE_MANY
    found = _annealed_slowly(turning, found, time_limit_s * share, seed)
    left_s = until_s - time.perf_counter()
    if left_s > 0:
        found = proof.prove(turning, found, columns, left_s)
    return found


def solve_quickly(turning: TurningWindows, seed: int = 0) -> Grouping:
    """A good partition within a few milliseconds; the same for the same seed on any machine."""
    if turning.size <= SUBSETS_LIMIT and _subsets_s(turning) <= QUICK_S:
        return _by_subsets(turning)
    at_once = solve_at_once(turning)
    return _annealed(turning, at_once, _iterations(turning, QUICK_S), seed, HEAT)


def solve_at_once(turning: TurningWindows) -> Grouping:
    """First fit, which takes some microseconds."""
    return _grouping(turning, first_fit(turning), volume_bound(turning), "ap")


def continued(turning: TurningWindows, known: Mapping[str, int]) -> Grouping:
    """Groups by number that windows had before; who does not fit any more is placed elsewhere."""
    groups = np.full(turning.size, -1, np.int64)
    numbers: dict[int, int] = {}  # of groups that still have windows, without gaps
    for members in _known_members(turning, known):
        for place in _fitting(turning, members):
            group = known[turning.windows[place]]
            groups[place] = numbers.setdefault(group, len(numbers))
    if turning.size:
        kernels.place_rest(turning.growth_us, turning.period_us, turning.exchange, groups)
    return _grouping(turning, groups, volume_bound(turning), "kept")


def _known_members(turning: TurningWindows, known: Mapping[str, int]) -> list[list[int]]:
    members: dict[int, list[int]] = {}
    for place, name in enumerate(turning.windows):
        if name in known:
            members.setdefault(known[name], []).append(place)
    return list(members.values())


def _fitting(turning: TurningWindows, members: list[int]) -> list[int]:
    """Those that can stay together: the least patient have to go, until the others fit."""
    members = sorted(members, key=lambda place: int(turning.period_us[place]))
    while members and sum(turning.growth_us[members]) > turning.period_us[members[0]]:
        members = members[1:]
    return members


def _by_subsets(turning: TurningWindows) -> Grouping:
    groups = best_by_subsets(turning)
    return _grouping(turning, groups, shared_bytes(turning, groups), "dp")


def _annealed_slowly(
    turning: TurningWindows, found: Grouping, time_limit_s: float, seed: int
) -> Grouping:
    began_s = time.perf_counter()
    iterations = _iterations(turning, time_limit_s / SLICES)
    for each in range(SLICES):
        if _is_best(found) or time.perf_counter() - began_s > time_limit_s:
            break
        found = _annealed(turning, found, iterations, seed + 1 + each, _heat(each))
    return found


def _annealed(
    turning: TurningWindows,
    found: Grouping,
    iterations: int,
    seed: int,
    heat: tuple[float, float],
) -> Grouping:
    groups = ruin_recreate(turning, found.groups, iterations, seed, heat)
    better = _grouping(turning, groups, found.bound_bytes, "ruin-recreate")
    return better if better.shared_bytes < found.shared_bytes else found


def _grouping(turning: TurningWindows, groups: Longs, bound: float, solver: str) -> Grouping:
    cost = shared_bytes(turning, groups)
    return Grouping(groups, cost, min(cost, bound), solver)


def _is_best(found: Grouping) -> bool:
    return found.shared_bytes - found.bound_bytes <= TOLERANCE * found.shared_bytes


def _heat(each: int) -> tuple[float, float]:
    """From where to where a slice cools, so that all together cool from the first to the last."""
    factor = (HEAT[1] / HEAT[0]) ** (1 / SLICES)
    return HEAT[0] * factor**each, HEAT[0] * factor ** (each + 1)


def _subsets_s(turning: TurningWindows) -> float:
    return float(3 ** max(0, turning.size - 1) * SUBSET_STEP_S / 2)


def _iterations(turning: TurningWindows, seconds: float) -> int:
    return int(seconds / (ITERATION_S * max(1, turning.size)))
