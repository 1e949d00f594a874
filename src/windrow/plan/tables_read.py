"""Which tables a plan reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.plan.model import QueryPlan

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["tables_of"]


def tables_of(plan: RunnablePlan) -> tuple[str, ...]:
    """The tables that a plan reads, also by its views; one block reads none."""
    return () if isinstance(plan, QueryPlan) else plan.tables
