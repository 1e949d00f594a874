"""The rows that hold at the instant: they come, and go, when their own times say so.

A row that enters at a holds from max(a, since) to until; one that leaves takes away what is left
of that. Both are changes known beforehand: only those whose instant has not come are remembered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.relations.changes import Changes, Vector, merged_changes
from windrow.operators.relations.expressions_of_rows import columns_by_field, evaluated
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.waiting_changes import WaitingChanges
from windrow.plan.expressions import Expr
from windrow.plan.relations.algebra import ValidRows
from windrow.rows.evaluate import Leaf

__all__ = ["ValidRowsOperator"]

_EVER = np.iinfo(np.int64).max


class ValidRowsOperator(RelationOperator):
    """Remembers the changes that are to come."""

    def __init__(self, node: ValidRows) -> None:
        self._node = node
        self._fields = node.input.fields
        self._types = [field.type.arrow for field in self._fields]
        self._waiting = WaitingChanges(self._types)

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The rows that begin and cease to hold until then."""
        (changes,) = inputs
        coming = self._coming(changes) if changes.size else changes
        is_due = coming.at <= until
        self._waiting.add(coming.taken(np.flatnonzero(~is_due)))
        now = coming if is_due.all() else coming.taken(np.flatnonzero(is_due))
        return merged_changes([self._waiting.due(until), now], self._types)

    def _coming(self, changes: Changes) -> Changes:
        """What the changes mean, each at its instant, in time order."""
        leaf = columns_by_field(self._fields, changes.columns)
        since, known = self._bound(self._node.since, leaf, changes.at, latest=True)
        until, also = self._bound(self._node.until, leaf, np.full_like(changes.at, _EVER))
        holds = known & also & (since < until)
        goes = holds & (until < _EVER)
        begins, ends = np.flatnonzero(holds), np.flatnonzero(goes)
        places = np.concatenate([begins, ends])
        at = np.concatenate([since[begins], until[ends]])
        weight = np.concatenate([changes.weight[begins], -changes.weight[ends]])
        order = np.argsort(at, kind="stable")
        rows = changes.taken(places[order])
        return Changes(at[order], weight[order], rows.columns)

    def _bound(
        self, bounds: Sequence[Expr], leaf: Leaf, found: Vector, *, latest: bool = False
    ) -> tuple[Vector, np.ndarray]:
        """The last of the instants, or the first, and where all of them are known."""
        known = np.ones(found.size, np.bool_)
        for bound in bounds:
            column = evaluated(bound, leaf, found.size)
            known &= column.is_valid().to_numpy(zero_copy_only=False)
            instants = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
            instants = self._on_grid(instants)
            found = np.maximum(found, instants) if latest else np.minimum(found, instants)
        return found, known

    def _on_grid(self, instants: Vector) -> Vector:
        grid = self._node.grid_us
        return instants if grid == 1 else -(-instants // grid) * grid

    @property
    def nbytes(self) -> int:
        """Bytes of the changes that wait."""
        return self._waiting.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes: two changes for each, and a merge of all that wait."""
        size = self._waiting.size
        row = self._waiting.nbytes // size if size else 64
        return self._waiting.nbytes + 4 * row * changes
