"""How the rows of a query may be partitioned into buckets that never see each other's rows.

Counts, sums and extremes of a group combine over buckets. Different values do not: one that two
buckets have seen would be counted twice, so that a group, or else a value, must stay in one bucket.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from windrow.plan.expressions import Call, Expr, inputs_of
from windrow.plan.model import Negation, PlanInput, QueryPlan
from windrow.plan.show import show_aggregate

__all__ = ["Partitioning", "partitioning"]


@dataclass(frozen=True)
class Partitioning:
    """How rows are partitioned.

    kind: 'key' (equal keys to one bucket, `keys` per input), 'any' (a row may go anywhere, partial
    answers combine) or 'one' (one bucket sees all rows); `reason` says why.
    """

    kind: str
    keys: tuple[tuple[Expr, ...], ...]
    reason: str


def partitioning(plan: QueryPlan) -> Partitioning:
    """The finest way to deal rows out that keeps every answer right."""
    for entry in plan.inputs:
        if entry.window.traits.counts_whole_stream:
            return _one(f"{entry.alias} [ROWS ...] counts the rows of its whole stream")
    if plan.negations:
        return _of_negation(plan)
    return _of_join(plan) if len(plan.inputs) > 1 else _of_one_window(plan)


def _of_one_window(plan: QueryPlan) -> Partitioning:
    window = plan.inputs[0].window
    own = tuple(part for part in plan.group_by if inputs_of(part))
    if window.traits.counts_by_partition:
        keys = tuple(part for part in window.partition_by if _stays(plan, [part]))
        if not keys:
            return _by_value(plan, "PARTITION BY")
        return Partitioning("key", (keys,), "rows are counted for each PARTITION BY")
    if own:
        return Partitioning("key", (own,), "groups are independent")
    if _distinct_arguments(plan):
        return _by_value(plan, "GROUP BY")
    return Partitioning("any", ((),), "no row depends on another; partial answers combine")


def _of_join(plan: QueryPlan) -> Partitioning:
    candidates = [[_key(entry, variable) for entry in plan.inputs] for variable in _shared(plan)]
    if not candidates:
        return _one(_without_shared_key(plan))
    return _by_keys(plan, candidates, "join key", "rows join only with rows of an equal key")


def _of_negation(plan: QueryPlan) -> Partitioning:
    """Rows that may match must meet, and they do where the key of the match is that of the join."""
    candidates = []
    for keys in _joined_keys(plan):
        matched = [_matched(negation, keys[negation.of]) for negation in plan.negations]
        found = [key for key in matched if key is not None]
        if len(found) == len(plan.negations):
            candidates.append([*keys, *found])
    if not candidates:
        return _one(_without_common_key(plan))
    return _by_keys(plan, candidates, "key", "rows meet only rows of an equal key")


def _joined_keys(plan: QueryPlan) -> list[list[Expr]]:
    """What partitions the joined inputs: a variable of all, or any key of a single one."""
    if len(plan.joined) > 1:
        return [[_key(entry, variable) for entry in plan.joined] for variable in _shared(plan)]
    return [[key] for key in dict.fromkeys(plan.negations[0].of_keys)]


def _matched(negation: Negation, of_key: Expr) -> Expr | None:
    """The negated input's key that equals that of the input which it keeps out."""
    if of_key not in negation.of_keys:
        return None
    return negation.keys[negation.of_keys.index(of_key)]


def _shared(plan: QueryPlan) -> list[int]:
    first, *others = plan.joined
    return sorted(set(first.variables).intersection(*(entry.variables for entry in others)))


def _by_keys(plan: QueryPlan, candidates: list[list[Expr]], what: str, reason: str) -> Partitioning:
    """Dealt by those keys, each given for all inputs, that windows and different values allow."""
    for input_index, entry in enumerate(plan.inputs):
        candidates = [keys for keys in candidates if _is_counted_within(entry, keys[input_index])]
        if not candidates:
            return _one(f"{entry.alias} counts rows by PARTITION BY across {what}s")
    candidates = [keys for keys in candidates if _stays(plan, keys)]
    if not candidates:
        return _by_value(plan, what)
    return Partitioning("key", tuple(zip(*candidates, strict=True)), reason)


def _without_shared_key(plan: QueryPlan) -> str:
    if not any(entry.keys for entry in plan.inputs):
        return "the join has no equality, so any rows may join"
    return "no join key is common to all inputs"


def _without_common_key(plan: QueryPlan) -> str:
    for negation in plan.negations:
        if not negation.keys:
            alias = plan.inputs[negation.input].alias
            return f"{alias} is negated without an equality, so any rows may match"
    return "no key is common to the join and to all negated inputs"


def _is_counted_within(entry: PlanInput, key: Expr) -> bool:
    """Whether all rows that are counted together have one value of the key."""
    window = entry.window
    return not window.traits.counts_by_partition or _uncast(key) in window.partition_by


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
        if not aggregate.traits.laws.is_mergeable and aggregate.argument is not None
    ]


def _by_value(plan: QueryPlan, what: str) -> Partitioning:
    distinct = next(part for part in plan.aggregates if not part.traits.laws.is_mergeable)
    shown = show_aggregate(distinct, plan)
    return _one(f"no {what} separates the values of {shown}, so one may be counted twice")


def _key(entry: PlanInput, variable: int) -> Expr:
    return entry.keys[entry.variables.index(variable)]


def _uncast(expression: Expr) -> Expr:
    """What the expression is computed from: equal there means equal after the casts."""
    while isinstance(expression, Call) and expression.function == "cast":
        expression = expression.arguments[0]
    return expression


def _one(reason: str) -> Partitioning:
    return Partitioning("one", (), reason)
