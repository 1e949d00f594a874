"""A warning of queries that grow without end."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from windrow.deferred import deferred

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")


__all__ = ["warn_of_growth"]


def warn_of_growth(name: str, plan: RunnablePlan) -> None:
    """Windows that never lose a row, below operators that keep all of them."""
    if isinstance(plan, TreePlan) and plan.growing:
        warnings.warn(
            f"query {name!r} keeps every row of {', '.join(plan.growing)} (UNBOUNDED): it grows "
            "until the memory budget refuses rows; write a window, such as [10 MINUTES]",
            RuntimeWarning,
            stacklevel=4,
        )
