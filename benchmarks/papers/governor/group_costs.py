"""Figures 4 to 7: memory that windows share when they take turns, before and after adjusting.

Before, in the paper, windows may ask for their exchange memory at the same moment: it is the sum of
all. After, each group needs that of its dearest window.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from papers.governor.draws import drawn_tables
from papers.governor.soundness import checked_cost
from windrow.governor.figures import figures_of
from windrow.governor.groups.partitions import best_by_subsets, first_fit
from windrow.governor.groups.turning import TurningWindows, turning_windows
from windrow.governor.groups.volume_bound import volume_bound

__all__ = ["AP", "BEFORE", "DP", "PAPER_PERCENT", "drawn_from_queries", "group_costs"]

BEFORE, AP, DP = "before adjusting", "AP", "DP"
# The paper's claim: AP is never dearer than DP by more.
PAPER_PERCENT = 20.0


def group_costs(
    queries: int,
) -> Callable[[int, np.random.Generator], dict[str, dict[str, float]]]:
    """An instance of so many queries: memory in kB before, by DP and by AP."""

    def run(windows: int, generator: np.random.Generator) -> dict[str, dict[str, float]]:
        turning = drawn_from_queries(windows, queries, generator)
        best = checked_cost(DP, turning, best_by_subsets(turning), volume_bound(turning))
        costs = {
            BEFORE: math.fsum(turning.exchange),
            DP: best,
            AP: checked_cost(AP, turning, first_fit(turning), best),
        }
        found = {
            name: {"shared_kb": cost / 1000, "above_dp_percent": 100 * (cost / best - 1)}
            for name, cost in costs.items()
        }
        found[AP]["is_beyond_paper"] = float(found[AP]["above_dp_percent"] > PAPER_PERCENT)
        return found

    return run


def drawn_from_queries(
    windows: int, queries: int, generator: np.random.Generator
) -> TurningWindows:
    """Windows that need turns, by what queries drawn at random ask of them."""
    drawn = drawn_tables(windows, queries, generator)
    return turning_windows(figures_of(drawn.windows, drawn.demands))
