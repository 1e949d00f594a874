"""How the rows of an answer come and go: what a consumer of its changes has to expect.

The patterns are those of Golab and Özsu: monotonic, weakest, weak and strict non-monotonic.
"""

from __future__ import annotations

from windrow.plan.model import QueryPlan

__all__ = ["keeps_results", "update_pattern"]


def update_pattern(plan: QueryPlan) -> tuple[str, str]:
    """The pattern's name and what it means."""
    if plan.kind == "aggregate":
        return "strict", "the row of a group is replaced at every change, at no known time"
    if keeps_results(plan):
        return _of_results(plan)
    traits = plan.inputs[0].window.traits
    if traits.is_endless:
        return "monotonic", "rows are added and never retracted"
    if traits.counts_by_partition:
        return "strict", "rows leave when newer rows of their partition arrive, in no time order"
    return "weakest", "rows leave in order of arrival"


def keeps_results(plan: QueryPlan) -> bool:
    """Whether rows of the answer end at times of their own, so that they are kept by themselves."""
    is_one_window = len(plan.inputs) == 1
    if plan.kind != "select" or (is_one_window and plan.inputs[0].window.traits.is_endless):
        return False
    return plan.distinct or not is_one_window


def _of_results(plan: QueryPlan) -> tuple[str, str]:
    if plan.negations:
        names = " or ".join(plan.inputs[each.input].alias for each in plan.negations)
        return (
            "strict",
            f"rows are retracted when a match arrives in {names}, and return when it expires",
        )
    counted = next((entry for entry in plan.inputs if entry.window.traits.counts_rows), None)
    if counted is not None:
        return "strict", f"rows end when newer rows of {counted.alias} arrive, at no known time"
    if plan.distinct:
        return "weak", "the expiry of a row is known when it appears, and extended by an equal one"
    return (
        "weak",
        "the expiry of a row is known when it appears: when the first of its parts leaves",
    )
