"""What the operators of a query take: the one that runs it, or each node of its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windrow.plan.relations.exchange_algebra import Sent
from windrow.plan.relations.show import show_relation
from windrow.plan.relations.tree_plan import TreePlan
from windrow.spark.worker.tree_nodes import measured_nodes, nodes_of

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan
    from windrow.spark.monitoring.status import QueryStatus

__all__ = ["operator_bytes"]


def operator_bytes(plan: RunnablePlan, status: QueryStatus) -> list[dict[str, Any]]:
    """One row for each operator that holds anything, over all buckets.

    Nodes of a tree are numbered as EXPLAIN draws them, the result first, and the last stage.
    """
    if not isinstance(plan, TreePlan):
        name = " and ".join(status.algorithms) or plan.algorithm
        return [{"operator": name, "bytes": status.window_bytes}] if status.window_bytes else []
    if not status.tree:
        return []
    sizes, _ = measured_nodes(plan, status.tree)
    stages = plan.stages if len(sizes) > 1 else (plan,)
    drawn = [
        (node, own.get(node, 0))
        for stage, own in reversed([*zip(stages, sizes, strict=True)])
        for node in nodes_of(stage)
        if not isinstance(node, Sent)
    ]
    return [
        {"operator": f"{number} {show_relation(node).splitlines()[0].strip()}", "bytes": size}
        for number, (node, size) in enumerate(drawn, 1)
        if size
    ]
