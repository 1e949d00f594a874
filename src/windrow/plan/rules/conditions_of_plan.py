"""Conditions of a plan as the parts that AND ties together, for rules that leave some out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from windrow.plan.expressions import Call, Expr
from windrow.plan.model import QueryPlan
from windrow.plan.types import all_of

__all__ = ["with_fewer_conditions"]

Conditions = list[Expr]


def with_fewer_conditions(plan: QueryPlan, kept: Callable[[Conditions], Conditions]) -> QueryPlan:
    """The plan with those parts of each condition that are kept."""
    return replace(
        plan,
        inputs=tuple(replace(entry, filter=_fewer(entry.filter, kept)) for entry in plan.inputs),
        negations=tuple(
            replace(each, residual=_fewer(each.residual, kept)) for each in plan.negations
        ),
        residual=_fewer(plan.residual, kept),
        having=_fewer(plan.having, kept),
    )


def _fewer(condition: Expr | None, kept: Callable[[Conditions], Conditions]) -> Expr | None:
    if condition is None:
        return None
    parts = _conjuncts(condition)
    chosen = kept(parts)
    # Where all stay, so does the way they are nested: equal texts keep equal plans.
    return condition if len(chosen) == len(parts) else all_of(chosen)


def _conjuncts(condition: Expr) -> Conditions:
    found: Conditions = []
    waiting = [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call) and part.function == "and":
            waiting += reversed(part.arguments)
        else:
            found.append(part)
    return found
