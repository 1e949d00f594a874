"""How the rows of a query may be dealt out to buckets that never see each other's rows."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.expressions import Expr
from windrow.plan.model import QueryPlan

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
    if len(plan.inputs) > 1:
        return _by_join_key(plan)
    window = plan.inputs[0].window
    if window.kind == "partition_rows":
        return Partitioning("key", (window.partition_by,), "rows are counted for each PARTITION BY")
    own = tuple(part for part in plan.group_by if _reads_input(plan, part))
    if own:
        return Partitioning("key", (own,), "groups are apart from each other")
    return Partitioning("any", ((),), "no row depends on another; partial answers combine")


def _reads_input(plan: QueryPlan, part: Expr) -> bool:
    """Whether the group column reads its input, and so tells rows apart."""
    return plan.group_sources[plan.group_by.index(part)] is not None


def _by_join_key(plan: QueryPlan) -> Partitioning:
    keys = tuple(entry.keys for entry in plan.inputs)
    for entry in plan.inputs:
        counted = entry.window.kind == "partition_rows"
        if counted and not set(entry.keys) <= set(entry.window.partition_by):
            return _one(f"{entry.alias} counts rows by PARTITION BY across join keys")
    return Partitioning("key", keys, "rows join only with rows of an equal key")


def _one(reason: str) -> Partitioning:
    return Partitioning("one", (), reason)
