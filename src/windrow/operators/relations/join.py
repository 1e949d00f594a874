"""Joins of two changing relations: inner, left, full, semi and anti, by any condition."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.operators.relations.changes import Changes
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.pair_join import PairJoin
from windrow.operators.relations.semi_join import KeySemiJoin
from windrow.plan.relations.algebra import Join
from windrow.plan.relations.join_condition import split_condition

__all__ = ["JoinOperator"]


class JoinOperator(RelationOperator):
    """Lists pairs, or counts keys where all that matters is whether there is one."""

    def __init__(self, node: Join) -> None:
        condition = split_condition(node)
        by_keys = node.kind in ("semi", "anti") and condition.residual is None
        self._join = (KeySemiJoin if by_keys else PairJoin)(node, condition)

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The changes of the join."""
        return self._join.advance(inputs, until)

    @property
    def nbytes(self) -> int:
        """Bytes of what both inputs hold."""
        return self._join.nbytes

    def restrict(self, limit: int) -> None:
        """The most changes of a step."""
        self._join.restrict(limit)

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes."""
        return self._join.growth_bytes(changes)
