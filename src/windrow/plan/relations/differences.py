"""In what two plans differ where one is a tree: the lines of their drawings."""

from __future__ import annotations

from difflib import unified_diff

from windrow.event_time import show_span
from windrow.plan.differences import plan_differences
from windrow.plan.model import QueryPlan
from windrow.plan.relations.show import show_relation
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan

__all__ = ["differences"]

LINES_SHOWN = 6


def differences(before: RunnablePlan, now: RunnablePlan) -> list[str]:
    """Each fact as it was and as it is now; none for plans that mean the same rows."""
    if isinstance(before, QueryPlan) and isinstance(now, QueryPlan):
        return plan_differences(before, now)
    if not (isinstance(before, TreePlan) and isinstance(now, TreePlan)):
        return [f"kind of query: {_kind(before)}, now {_kind(now)}"]
    lines = unified_diff(_drawing(before), _drawing(now), n=0, lineterm="")
    changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    shown = [f"{'then' if line[0] == '-' else 'now'}: {line[1:].strip()}" for line in changed]
    every = [f"EVERY: {_every(before)}, now {_every(now)}"]
    return [*(every if before.every_us != now.every_us else []), *shown[:LINES_SHOWN]]


def _kind(plan: RunnablePlan) -> str:
    return "a tree of relations" if isinstance(plan, TreePlan) else plan.kind


def _drawing(plan: TreePlan) -> list[str]:
    return show_relation(plan.bound).splitlines()


def _every(plan: TreePlan) -> str:
    return "none" if plan.every_us is None else show_span(plan.every_us)
