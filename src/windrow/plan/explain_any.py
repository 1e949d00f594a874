"""EXPLAIN of any plan, before anything runs."""

from __future__ import annotations

from windrow.plan.explain import explain
from windrow.plan.figures import assumed_figures
from windrow.plan.history_explain import explain_history
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.relations.explain import explain_tree
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan

__all__ = ["explain_any"]


def explain_any(
    plan: RunnablePlan | HistoryPlan,
    rates: dict[str, float] | None = None,
    selectivity: float | None = None,
) -> str:
    """The plan as text; rates and selectivity: what to assume of the streams of one block."""
    if isinstance(plan, HistoryPlan):
        return explain_history(plan)
    if isinstance(plan, TreePlan):
        return explain_tree(plan)
    return explain(plan, assumed_figures(plan, rates, selectivity))
