"""The query over the sessions that close: a second tree, of which only the answers are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from windrow.operators.partial import Partial
from windrow.operators.relations.changes import Changes, Vector
from windrow.operators.relations.result import TreeResult
from windrow.plan.relations.algebra import Relation
from windrow.runtime.trees.operator_tree import OperatorTree

__all__ = ["ClosedSessions", "ClosingTree"]

ChangesOf = Callable[[Relation], Changes]


class ClosedSessions(NamedTuple):
    """What a step tells of sessions that closed in it: at which instants, and what is final."""

    partial: Partial
    instants: Vector


class ClosingTree:
    """Its rows are there at the instant at which their sessions close, and at no other.

    is_first: whether a publisher has seen no other, whose codes it would take for these.
    """

    def __init__(
        self, relation: Relation, types: Sequence[pa.DataType], *, is_first: bool = True
    ) -> None:
        self._tree, self._result = OperatorTree(relation), TreeResult(types)
        self._width, self._is_first = len(types), is_first

    def advance(self, changes_of: ChangesOf, until: int, limit: int) -> Partial:
        """What changes up to `until`; changes_of: in a leaf."""
        partial = self._absorbed(self._tree.advance(changes_of, until, limit))
        return partial if self._is_first else replace(partial, codes=None)

    def rebuild(self, held_in: ChangesOf, at: int) -> None:
        """Know what leaves hold, as if it had come at that instant."""
        self._absorbed(self._tree.rebuild(held_in, at))

    def _absorbed(self, changes: Changes) -> Partial:
        shown = changes.columns[: self._width]
        return self._result.absorb(replace(changes, columns=shown))

    @property
    def nbytes(self) -> int:
        """Bytes of operators and rows."""
        return self._tree.nbytes + self._result.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes for this many changes."""
        shown = self._result.growth_bytes(self._tree.root_changes(changes))
        return max(self._tree.growth_bytes(changes), shown)
