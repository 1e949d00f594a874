"""What an answer looks like to somebody who draws it: groups, values, and how often it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.plan.expressions import GroupRef
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.model import QueryPlan

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")

__all__ = ["AnswerShape", "answer_shape"]


@dataclass(frozen=True)
class AnswerShape:
    """groups: columns that tell the rows of an instant apart; values: aggregates that are numbers.

    every_us: the time between two answers; None: there is one at every arrival.
    """

    groups: tuple[str, ...]
    values: tuple[str, ...]
    every_us: int | None


def answer_shape(plan: RunnablePlan | HistoryPlan) -> AnswerShape:
    """The shape of a query's answers; rows of a select have neither groups nor values."""
    if isinstance(plan, TreePlan) or (isinstance(plan, QueryPlan) and plan.kind == "select"):
        return AnswerShape((), (), plan.every_us)
    groups = [each.name for each in plan.select if isinstance(each.expression, GroupRef)]
    values = [
        each.name
        for each in plan.select
        if each.name not in groups and (each.type.is_numeric or each.type.name == "BOOLEAN")
    ]
    return AnswerShape(tuple(groups), tuple(values), plan.every_us)
