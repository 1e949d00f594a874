"""ERROR and DURATION bound to a plan: which answers may be inexact, and when a query lives."""

from __future__ import annotations

from dataclasses import replace

from windrow.aggregate_functions import Form
from windrow.errors import Place, UnsupportedError
from windrow.plan.model import QueryPlan
from windrow.plan.show import show_aggregate
from windrow.plan.windows import common_closes
from windrow.sql.statements import Select

__all__ = ["can_have_error", "with_service"]


def with_service(plan: QueryPlan, select: Select) -> QueryPlan:
    """The plan with what its ERROR and DURATION clauses say."""
    if select.error_percent is not None:
        _check_error(plan, select.places.get("ERROR"))
    windows = [entry.window for entry in plan.inputs]
    closes = common_closes(windows) if plan.every_us is None else None
    return replace(
        plan, error_percent=select.error_percent, duration=select.duration, closes=closes
    )


def can_have_error(plan: QueryPlan) -> bool:
    """Whether ERROR could be written behind the query."""
    return _unbounded_reason(plan) is None


def _check_error(plan: QueryPlan, place: Place | None) -> None:
    reason = _unbounded_reason(plan)
    if reason is not None:
        raise UnsupportedError(
            "WU212",
            f"ERROR is not supported yet here: {reason}",
            hint="omit ERROR: the answers are then exact, and the window always has its full range",
            place=place,
        )


def _unbounded_reason(plan: QueryPlan) -> str | None:
    """Why the error of the answers could not be bounded; None where it can."""
    if plan.kind != "aggregate":
        return "a row is in the answer or it is not, there is no error to bound"
    if len(plan.inputs) > 1:
        return "no bound is known for joined rows that are missing"
    traits = plan.inputs[0].window.traits
    if not traits.has_width or traits.closes:
        return "only windows of time that slide can be narrowed"
    for aggregate in plan.aggregates:
        if not aggregate.traits.laws.is_bounded:
            shown = show_aggregate(aggregate, plan)
            return f"no bound is known for {shown} over rows that are missing"
        is_extreme = aggregate.traits.form is Form.EXTREME
        if is_extreme and aggregate.argument and not aggregate.argument.type.is_numeric:
            return "an error in percent makes sense for numbers only"
    return None
