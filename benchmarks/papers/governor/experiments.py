"""The experiments behind figures 2 to 7, and figure 8, which the paper does not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from papers.governor.group_costs import group_costs
from papers.governor.solver_costs import solver_costs
from papers.governor.width_errors import width_errors

__all__ = [
    "EXPERIMENTS", "FIGURES", "FULL", "GROUPS", "QUICK", "SOLVERS", "WIDTHS", "Effort",
    "Experiment", "Found",
]  # fmt: skip

# Of one instance: by contender, each measure by its name.
Found = Mapping[str, Mapping[str, float]]
# Kinds of experiments: widths of windows, groups of windows, and solvers of groups.
WIDTHS, GROUPS, SOLVERS = "widths", "groups", "solvers"
_TITLES = {
    WIDTHS: "accumulated error",
    GROUPS: "shared memory",
    SOLVERS: "shared memory above the lower bound",
}


@dataclass(frozen=True)
class Experiment:
    """What figures show; run: one instance of so many windows.

    queries: in all, or 0 where `name` says how they are drawn.
    """

    kind: str
    figures: tuple[int, ...]
    name: str
    run: Callable[[int, np.random.Generator], Found]
    queries: int = 0

    @property
    def title(self) -> str:
        """What is shown, in words."""
        return _TITLES[self.kind]


@dataclass(frozen=True)
class Effort:
    """Numbers of windows and of instances, by the kind of experiment."""

    windows: Mapping[str, tuple[int, ...]]
    instances: Mapping[str, int]

    def once(self) -> Effort:
        """One instance of the fewest and of the most windows, after which all is compiled."""
        windows = {kind: (numbers[0], numbers[-1]) for kind, numbers in self.windows.items()}
        return Effort(windows, dict.fromkeys(self.instances, 1))


QUERIES_A_WINDOW = 30

EXPERIMENTS = (
    *(
        Experiment(WIDTHS, (figure,), f"{queries} queries", width_errors(queries), queries)
        for figure, queries in ((2, 300), (3, 600))
    ),
    *(
        Experiment(GROUPS, figures, f"{queries} queries", group_costs(queries), queries)
        for figures, queries in (((4, 6), 300), ((5, 7), 600))
    ),
    Experiment(
        SOLVERS, (8,), f"{QUERIES_A_WINDOW} queries a window", solver_costs(QUERIES_A_WINDOW)
    ),
    Experiment(SOLVERS, (8,), "growths and periods at random", solver_costs(None)),
)
FIGURES = tuple(sorted({figure for each in EXPERIMENTS for figure in each.figures}))
FULL = Effort(
    {
        WIDTHS: (5, 10, 20, 40, 60, 80, 100),
        GROUPS: tuple(range(3, 18, 2)),
        SOLVERS: (10, 17, 30, 50, 70, 100),
    },
    {WIDTHS: 100, GROUPS: 200, SOLVERS: 10},
)
QUICK = Effort(
    {WIDTHS: (5, 20), GROUPS: (5, 9), SOLVERS: (10, 30)}, {WIDTHS: 5, GROUPS: 10, SOLVERS: 2}
)
