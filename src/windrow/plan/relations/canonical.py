"""The plan of a tree without what does not count: equal for plans that mean the same rows."""

from __future__ import annotations

from dataclasses import replace

from windrow.plan.fingerprint import canonical_block
from windrow.plan.relations.algebra import AtMostOne, Relation, Values
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.tree_plan import TreePlan
from windrow.plan.relations.union_blocks import UnionBlock

__all__ = ["canonical_tree"]


def canonical_tree(plan: TreePlan) -> TreePlan:
    """The plan with nothing of its text but the names of columns."""
    return replace(
        plan,
        text="",
        bound=Values((), ()),
        relation=_canonical(plan.relation),
        closing=None if plan.closing is None else _canonical(plan.closing),
        combined=None if plan.combined is None else canonical_block(plan.combined),
    )


def _canonical(relation: Relation) -> Relation:
    if isinstance(relation, UnionBlock):
        blocks = tuple(_block(part) for part in relation.parts)
        return replace(relation, plan=canonical_block(relation.plan), parts=blocks)
    if isinstance(relation, Block):
        return _block(relation)
    if isinstance(relation, AtMostOne):
        relation = replace(relation, text="")
    parts = [_canonical(part) for part in relation.inputs]
    return relation.with_inputs(*parts) if parts else relation


def _block(block: Block) -> Block:
    return replace(block, plan=canonical_block(block.plan))
