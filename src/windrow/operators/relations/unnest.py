"""Rows for the entries of arrays and maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.relations.changes import Changes, Vector, no_changes
from windrow.operators.relations.expressions_of_rows import columns_by_field, evaluated
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.relations.algebra import Unnest
from windrow.rows.scalar.lists import entries_of

__all__ = ["UnnestOperator"]


class UnnestOperator(RelationOperator):
    """Remembers nothing: a row that leaves has the entries that it had when it entered."""

    def __init__(self, node: Unnest) -> None:
        self._node = node
        self._types = [field.type.arrow for field in node.fields]

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """Every change once for each entry."""
        del until
        (changes,) = inputs
        if not changes.size:
            return no_changes(self._types)
        node = self._node
        leaf = columns_by_field(node.input.fields, changes.columns)
        entries = entries_of(evaluated(node.expression, leaf, changes.size))
        rows, places, position = entries.rows, np.arange(entries.rows.size), entries.places
        if node.is_outer:
            rows, places, position = _with_empty(entries.lengths, rows, places, position)
        missing = places < 0
        index = pa.array(places, mask=missing if missing.any() else None)
        columns = [column.take(pa.array(rows)) for column in changes.columns]
        for child in entries.children:
            found = child.take(index)
            columns += found.flatten() if node.is_spread else [found]
        if node.position is not None:
            counted = pa.array(position + node.first_position, pa.int64(), mask=missing)
            columns.append(counted.cast(node.position.type.arrow))
        return Changes(changes.at[rows], changes.weight[rows], tuple(columns))

    @property
    def nbytes(self) -> int:
        """Nothing is remembered."""
        return 0


def _with_empty(
    lengths: Vector, rows: Vector, places: Vector, position: Vector
) -> tuple[Vector, Vector, Vector]:
    """Rows without entries in their places among the others, with -1 for an entry."""
    empty = np.flatnonzero(lengths == 0)
    if not empty.size:
        return rows, places, position
    none = np.full(empty.size, -1)
    all_rows = np.concatenate([rows, empty])
    order = np.argsort(all_rows, kind="stable")
    return (
        all_rows[order],
        np.concatenate([places, none])[order],
        np.concatenate([position, none])[order],
    )
