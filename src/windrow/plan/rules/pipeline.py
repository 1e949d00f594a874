"""The rules that a bound plan goes through, in this order: read the tuple and you know them all.

A rule takes a plan and gives one that means the same rows, with the same error wherever the first
has one. What binding must know to be right (types, join variables, which input a condition reads)
is no rule; nor is a choice that is made while a query runs, such as that of the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable

from windrow.plan.model import QueryPlan
from windrow.plan.rules.drop_repeated_conditions import drop_repeated_conditions
from windrow.plan.rules.drop_true_conditions import drop_true_conditions
from windrow.plan.rules.separate_sums import separate_sums

__all__ = ["RULES", "Rule", "rewritten"]

Rule = Callable[[QueryPlan], QueryPlan]

RULES: tuple[Rule, ...] = (
    drop_true_conditions,
    drop_repeated_conditions,
    separate_sums,
)


def rewritten(plan: QueryPlan, rules: tuple[Rule, ...] = RULES) -> QueryPlan:
    """The plan after all rules."""
    for rule in rules:
        plan = rule(plan)
    return plan
