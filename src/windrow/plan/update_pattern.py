"""How the rows of an answer come and go: what a consumer of its changes has to expect."""

from __future__ import annotations

from windrow.plan.model import QueryPlan

__all__ = ["update_pattern"]


def update_pattern(plan: QueryPlan) -> tuple[str, str]:
    """The pattern's name and what it means."""
    if plan.kind == "aggregate":
        return "replaced", "the row of a group is replaced at every change"
    kind = plan.inputs[0].window.kind
    if kind == "unbounded":
        return "monotonic", "rows are added and never taken back"
    if kind == "partition_rows":
        return "strict", "rows leave when newer rows of their partition come, in no order of time"
    return "weakest", "rows leave in the order in which they came"
