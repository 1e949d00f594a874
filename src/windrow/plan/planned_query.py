"""What a query says of itself by its plan, on any runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.plan.answer_shape import AnswerShape, answer_shape
from windrow.plan.history_plan import HistoryPlan

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["PlannedQuery"]


class PlannedQuery:
    """A query with the plan that it runs by."""

    plan: RunnablePlan | HistoryPlan

    @property
    def text(self) -> str:
        """The query as it was written."""
        return self.plan.text

    @property
    def shape(self) -> AnswerShape:
        """Its groups and values, and how often it answers."""
        return answer_shape(self.plan)
