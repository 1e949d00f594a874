"""ERROR and DURATION bound to a plan: which answers may be inexact, and when a query lives."""

from __future__ import annotations

from dataclasses import replace

from windrow.aggregate_functions import Form
from windrow.errors import Place, UnsupportedError
from windrow.plan.model import SEVERAL, QueryPlan
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
        return "a sample is no answer: a row is in it or not, there is no error to bound"
    traits = [entry.window.traits for entry in plan.inputs]
    if not all(each.has_width and not each.closes for each in traits):
        return "only windows of time that slide can be narrowed"
    reason = _join_reason(plan) if len(plan.inputs) > 1 else None
    return reason or _aggregate_reason(plan)


def _join_reason(plan: QueryPlan) -> str | None:
    """Why joined rows that are missing cannot be told from cells by key; None where they can."""
    if plan.negations:
        return "a row that is missing may be one that others must not match"
    if plan.residual is not None or not _is_connected(plan):
        return "rows that join otherwise than by equality are not known by key"
    if plan.having is not None:
        return "HAVING would choose groups by answers that are not exact"
    if SEVERAL in plan.group_sources:
        return "a group that is made of several inputs is not known by key"
    if any(each.argument is not None and each.source is None for each in plan.aggregates):
        return "no bound is known for an argument that reads several inputs"
    return None


def _is_connected(plan: QueryPlan) -> bool:
    """Whether each input joins others by keys, all together."""
    reached: set[int] = set(plan.inputs[0].variables)
    left = [set(entry.variables) for entry in plan.inputs[1:]]
    while left:
        place = next((i for i, each in enumerate(left) if each & reached), None)
        if place is None:
            return False
        reached |= left.pop(place)
    return True


def _aggregate_reason(plan: QueryPlan) -> str | None:
    """Why the error of an aggregate could not be bounded; None where it can."""
    for aggregate in plan.aggregates:
        if not aggregate.traits.laws.is_bounded:
            shown = show_aggregate(aggregate, plan)
            return f"no bound is known for {shown} over rows that are missing"
        is_extreme = aggregate.traits.form is Form.EXTREME
        if is_extreme and aggregate.argument and not aggregate.argument.type.is_numeric:
            return "an error in percent makes sense for numbers only"
    return None
