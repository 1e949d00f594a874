"""Nodes of a tree by number: what workers measure of them, and the driver shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windrow.plan.relations.algebra import Relation, walk_relations
from windrow.plan.relations.tree_plan import TreePlan

__all__ = ["measured_nodes", "nodes_of"]


def nodes_of(plan: TreePlan) -> list[Relation]:
    """The nodes in an order that workers and the driver share."""
    return list(dict.fromkeys(walk_relations(plan.relation)))


def measured_nodes(
    plan: TreePlan, measured: Mapping[str, Any]
) -> tuple[list[dict[Relation, int]], dict[Relation, str]]:
    """By stage the bytes that nodes remember, and the algorithms by which blocks run."""
    if not measured:
        return [], {}
    stages = plan.stages if len(measured["sizes"]) > 1 else (plan,)
    pairs = zip(stages, measured["sizes"], strict=True)
    sizes = [dict(zip(nodes_of(stage), own, strict=True)) for stage, own in pairs]
    blocks = zip(stages[0].blocks, measured["blocks"], strict=True)
    return sizes, {block: name for block, name in blocks if name is not None}
