"""How the rows of an answer come and go: what a consumer of its changes has to expect.

The patterns are those of Golab and Özsu: monotonic, weakest, weak and strict non-monotonic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.plan.model import QueryPlan

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["keeps_results", "only_adds_rows", "update_pattern"]


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


def only_adds_rows(plan: RunnablePlan) -> bool:
    """Whether each row of its stream gives one row of the result, or none, and that for ever.

    Then its changes follow from the rows as they come: no row and no result need be remembered.
    """
    if not isinstance(plan, QueryPlan) or plan.kind != "select" or len(plan.inputs) != 1:
        return False
    window = plan.inputs[0].window
    is_plain = window.traits.is_endless and not window.slide_us and not window.partition_by
    has_more = plan.distinct or plan.negations or plan.on_error == "set_aside"
    is_timed = plan.duration is not None or plan.every_us is not None or plan.closes is not None
    return is_plain and not has_more and not is_timed and plan.error_percent is None


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
