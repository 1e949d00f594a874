"""Conditions that constants alone make true are not tested: WHERE 1 = 1, as programs write it.

A condition that reads no input counts for the rows of all of them, so that each row of each window
would be tested; and a history completes no answers of a query with a condition. One that is never
true stays: it is what the query asks for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.model import QueryPlan
from windrow.plan.rules.conditions_of_plan import with_fewer_conditions

__all__ = ["drop_true_conditions"]

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def drop_true_conditions(plan: QueryPlan) -> QueryPlan:
    """WHERE 1 = 1 AND x > 1 as WHERE x > 1."""
    return with_fewer_conditions(plan, lambda parts: [part for part in parts if not _truth(part)])


def _truth(condition: Expr) -> bool | None:
    """Whether constants make it true or false; None where they do neither, or only with others.

    A part that is no constant may have an error to tell: so TRUE OR x = 1 is not decided.
    """
    if isinstance(condition, Literal):
        return condition.value if isinstance(condition.value, bool) else None
    if not isinstance(condition, Call):
        return None
    if condition.function in _COMPARED:
        return _compared(condition)
    known = [_truth(part) for part in condition.arguments]
    if None in known or condition.function not in ("and", "or", "not"):
        return None
    if condition.function == "not":
        return not known[0]
    return all(known) if condition.function == "and" else any(known)


def _compared(call: Call) -> bool | None:
    """Two constants of one type; floats are left alone, as NaN has its own order here."""
    values = [part.value for part in call.arguments if isinstance(part, Literal)]
    if len(values) < 2 or not all(isinstance(value, (int, str, Decimal)) for value in values):
        return None
    return _COMPARED[call.function](*values)
