"""Which leaf a block is run as."""

from __future__ import annotations

from windrow.operators.relations.session_bounds import SessionBounds
from windrow.plan.relations.blocks import Block, SessionBlock
from windrow.runtime.trees.fused_leaf import FusedLeaf
from windrow.runtime.trees.leaves import Leaf, ScanLeaf

__all__ = ["leaf_of"]


def leaf_of(block: Block, grid_us: int, *, by_number: bool = False) -> Leaf:
    """An empty leaf; grid_us > 1: its relation changes at multiples of it only.

    by_number: all that read it know its rows by their numbers.
    """
    if isinstance(block, SessionBlock):
        gap_us = block.plan.inputs[0].window.length_us
        return ScanLeaf(block.plan, grid_us, SessionBounds(block.mode, gap_us, block.bounds))
    if block.is_scan:
        return ScanLeaf(block.plan, grid_us, by_number=by_number)
    return FusedLeaf(block, grid_us)
