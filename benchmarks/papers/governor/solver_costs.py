"""Figure 8: solvers of groups up to 100 windows, by what is proven to be needed, and their times.

The bound is the best that is known of an instance: the optimum where DP runs, else what column
generation and the integer program have proven within their time.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

import numpy as np

from papers.governor.draws import drawn_turning
from papers.governor.group_costs import AP, DP, drawn_from_queries
from papers.governor.soundness import TOLERANCE, NotSoundError, checked_cost
from windrow.governor.groups.partitions import (
    SUBSETS_LIMIT,
    best_by_subsets,
    first_fit,
    ruin_recreate,
)
from windrow.governor.groups.turning import Grouping, Longs, TurningWindows, shared_bytes
from windrow.governor.groups.volume_bound import volume_bound

__all__ = ["EXACT", "FEW_TRIES", "MANY_TRIES", "PROOF_S", "SOLVERS", "solver_costs"]

FEW_TRIES, MANY_TRIES = "ruin-recreate, 1,000 tries", "ruin-recreate, 100,000 tries"
EXACT = "exact, 1 s"
SOLVERS = (AP, DP, FEW_TRIES, MANY_TRIES, EXACT)
FEW, MANY = 1_000, 100_000
# Time for the linear and the integer program, which begin with the groups of the many tries.
PROOF_S = 1.0


def solver_costs(
    queries_a_window: int | None,
) -> Callable[[int, np.random.Generator], dict[str, dict[str, float]]]:
    """An instance: how far each solver is above what is proven to be needed, and its CPU time.

    queries_a_window: None where growths, periods and exchange memory are drawn themselves.
    """

    def run(windows: int, generator: np.random.Generator) -> dict[str, dict[str, float]]:
        if queries_a_window is None:
            turning = drawn_turning(windows, generator)
        else:
            turning = drawn_from_queries(windows, windows * queries_a_window, generator)
        return _solved(turning, seed=int(generator.integers(1 << 31)))

    return run


def _solved(turning: TurningWindows, seed: int) -> dict[str, dict[str, float]]:
    timed = _Timed()
    first = timed.groups(AP, lambda: first_fit(turning))
    if turning.size <= SUBSETS_LIMIT:
        timed.groups(DP, lambda: best_by_subsets(turning))
    timed.groups(FEW_TRIES, lambda: ruin_recreate(turning, first, FEW, seed))
    tried = timed.groups(MANY_TRIES, lambda: ruin_recreate(turning, first, MANY, seed))
    # Only the proof needs HiGHS, which takes as long to import as all the rest.
    proof = importlib.import_module("windrow.governor.columns.proof")
    start = Grouping(tried, shared_bytes(turning, tried), volume_bound(turning), MANY_TRIES)
    proofs: list[Grouping] = []

    def prove() -> Longs:
        known, columns = proof.bounded(turning, start, PROOF_S / 2)
        proofs.append(proof.prove(turning, known, columns, PROOF_S / 2))
        return proofs[0].groups

    timed.groups(EXACT, prove)
    timed.cpu_ms[EXACT] += timed.cpu_ms[MANY_TRIES]
    return _measures(turning, timed, proofs[0])


class _Timed:
    """Groups by solver, and the CPU time that each took."""

    def __init__(self) -> None:
        self.found: dict[str, Longs] = {}
        self.cpu_ms: dict[str, float] = {}

    def groups(self, name: str, solver: Callable[[], Longs]) -> Longs:
        began_s = time.process_time()
        self.found[name] = solver()
        self.cpu_ms[name] = 1000 * (time.process_time() - began_s)
        return self.found[name]


def _measures(
    turning: TurningWindows, timed: _Timed, proven: Grouping
) -> dict[str, dict[str, float]]:
    bound = _bound(turning, proven, timed.found.get(DP))
    measures = {}
    for name, groups in timed.found.items():
        above = checked_cost(name, turning, groups, bound) / bound - 1
        measures[name] = {"above_bound_percent": 100 * above, "cpu_ms": timed.cpu_ms[name]}
    gap = proven.shared_bytes / proven.bound_bytes - 1
    measures[EXACT] |= {"is_proven": float(gap <= TOLERANCE), "proven_gap_percent": 100 * gap}
    return measures


def _bound(turning: TurningWindows, proven: Grouping, best: Longs | None) -> float:
    """The best bound that is known; none may be above what DP finds."""
    if best is None:
        return proven.bound_bytes
    optimum = shared_bytes(turning, best)
    if proven.bound_bytes > optimum * (1 + TOLERANCE):
        raise NotSoundError(f"the bound is {proven.bound_bytes}, the optimum {optimum}")
    return optimum
