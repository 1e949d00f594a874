"""Conditions that are written twice are tested once."""

from __future__ import annotations

from windrow.plan.model import QueryPlan
from windrow.plan.rules.conditions_of_plan import with_fewer_conditions

__all__ = ["drop_repeated_conditions"]


def drop_repeated_conditions(plan: QueryPlan) -> QueryPlan:
    """WHERE x > 1 AND y = 2 AND x > 1 as WHERE x > 1 AND y = 2."""
    return with_fewer_conditions(plan, lambda parts: list(dict.fromkeys(parts)))
