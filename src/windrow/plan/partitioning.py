"""How the rows of a query may be dealt out to buckets that never see each other's rows.

Counts, sums and extremes of a group combine over buckets. Different values do not: one that two
buckets have seen would be counted twice, so that a group, or else a value, must stay in one bucket.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from windrow.plan.expressions import Call, Expr, inputs_of
from windrow.plan.model import PlanInput, QueryPlan
from windrow.plan.show import show_aggregate

__all__ = ["Partitioning", "partitioning"]


@dataclass(frozen=True)
class Partitioning:
    """How rows are dealt out.

    kind: 'key' (equal keys to one bucket, `keys` per input), 'any' (a row may go anywhere, partial
    answers combine) or 'one' (one bucket sees all rows); `reason` says why.
    """

    kind: str
    keys: tuple[tuple[Expr, ...], ...]
    reason: str


def partitioning(plan: QueryPlan) -> Partitioning:
    """The finest way to deal rows out that keeps every answer right."""
    for entry in plan.inputs:
        if entry.window.kind == "rows":
            return _one(f"{entry.alias} [ROWS ...] counts the rows of its whole stream")
    return _of_join(plan) if len(plan.inputs) > 1 else _of_one_window(plan)


def _of_one_window(plan: QueryPlan) -> Partitioning:
    window = plan.inputs[0].window
    own = tuple(part for part in plan.group_by if inputs_of(part))
    if window.kind == "partition_rows":
        keys = tuple(part for part in window.partition_by if _stays(plan, [part]))
        if not keys:
            return _by_value(plan, "PARTITION BY")
        return Partitioning("key", (keys,), "rows are counted for each PARTITION BY")
    if own:
        return Partitioning("key", (own,), "groups are apart from each other")
    if _distinct_arguments(plan):
        return _by_value(plan, "GROUP BY")
    return Partitioning("any", ((),), "no row depends on another; partial answers combine")


def _of_join(plan: QueryPlan) -> Partitioning:
    shared = set(plan.inputs[0].variables).intersection(*(e.variables for e in plan.inputs))
    if not shared:
        return _one(_without_shared_key(plan))
    for entry in plan.inputs:
        shared = {variable for variable in shared if _is_counted_within(entry, variable)}
        if not shared:
            return _one(f"{entry.alias} counts rows by PARTITION BY across join keys")
    dealt = [v for v in sorted(shared) if _stays(plan, [_key(e, v) for e in plan.inputs])]
    if not dealt:
        return _by_value(plan, "join key")
    keys = tuple(tuple(_key(entry, variable) for variable in dealt) for entry in plan.inputs)
    return Partitioning("key", keys, "rows join only with rows of an equal key")


def _without_shared_key(plan: QueryPlan) -> str:
    if not any(entry.keys for entry in plan.inputs):
        return "the join has no equality, so that any rows may meet"
    return "no join key is common to all inputs"


def _is_counted_within(entry: PlanInput, variable: int) -> bool:
    """Whether all rows that are counted together have one value of the variable."""
    window = entry.window
    return window.kind != "partition_rows" or _uncast(_key(entry, variable)) in window.partition_by


def _stays(plan: QueryPlan, keys: Iterable[Expr]) -> bool:
    """Whether rows of one group with one value of a COUNT(DISTINCT) have one value of the key."""
    names = {form for key in keys for form in (key, _uncast(key))}
    if not names.isdisjoint(plan.group_by):
        return True
    return all(part in names for part in _distinct_arguments(plan))


def _distinct_arguments(plan: QueryPlan) -> list[Expr]:
    return [
        aggregate.argument
        for aggregate in plan.aggregates
        if aggregate.function == "count_distinct" and aggregate.argument is not None
    ]


def _by_value(plan: QueryPlan, what: str) -> Partitioning:
    distinct = next(part for part in plan.aggregates if part.function == "count_distinct")
    shown = show_aggregate(distinct, plan)
    return _one(f"no {what} keeps the values of {shown} apart, so that one may be counted twice")


def _key(entry: PlanInput, variable: int) -> Expr:
    return entry.keys[entry.variables.index(variable)]


def _uncast(expression: Expr) -> Expr:
    """What the expression is computed from: equal there means equal after the casts."""
    while isinstance(expression, Call) and expression.function == "cast":
        expression = expression.arguments[0]
    return expression


def _one(reason: str) -> Partitioning:
    return Partitioning("one", (), reason)
