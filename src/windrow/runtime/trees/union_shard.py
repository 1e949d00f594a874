"""The shard of a query that is a union of blocks: its publisher adds up what they give."""

from __future__ import annotations

from dataclasses import replace

from windrow.operators.partial import Partial
from windrow.rows.faults import FaultError
from windrow.runtime.trees.fused_leaf import FusedLeaf
from windrow.runtime.trees.tree_shard import TreeShard

__all__ = ["UnionShard"]


class UnionShard(TreeShard):
    """A tree of one leaf, whose states are the output; no row of its relation is formed here."""

    _updates = 0  # that its parts gave in the last step

    def _run(self, until: int) -> Partial:
        (leaf,) = self._leaves.values()
        assert isinstance(leaf, FusedLeaf)
        try:
            first, *others = leaf.partials(until)
        except FaultError as fault:
            raise fault.in_words(self._named) from None
        self._ran_until, self._has_run = until, True
        self._updates = first.size + sum(each.size for each in others)
        return replace(first, also=tuple(others))

    def nothing(self) -> Partial:
        """What parts give that have no rows."""
        return UnionShard(self.plan).advance({}, self.clock)

    def _rebuild(self) -> None:
        """The parts are all there is."""

    @property
    def step_changes(self) -> int:
        """The updates of all parts."""
        return self._updates
