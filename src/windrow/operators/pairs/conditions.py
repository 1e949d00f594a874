"""The residual condition of joined rows, taken apart: plain comparisons of columns come first.

They are judged on the words of the rows, without gathering columns; what is left, on Arrow columns
of the rows that remain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.pairs.index_kernels import (
    keep_compared,
    keep_compared_shared,
    keep_where,
)
from windrow.operators.pairs.rows import SlotRows
from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.rows.evaluate import Leaf, evaluate_filter
from windrow.schema import STRING

__all__ = ["ResidualFilter"]

Events = NDArray[np.int32]
Slots = NDArray[np.int32]

# Each comparison by < and =: whether it is =, has its sides swapped, is negated.
_FORMS = {
    "<": (False, False, False),
    ">": (False, True, False),
    "<=": (False, True, True),
    ">=": (False, False, True),
    "=": (True, False, False),
    "<>": (True, False, True),
}


@dataclass(frozen=True)
class Comparison:
    """left < right, or left = right, or the negation of it, for columns of one type."""

    left: ColumnRef
    right: ColumnRef
    is_equality: bool
    is_negated: bool
    call: Expr

    def keep(
        self, rows: Sequence[SlotRows], event: NDArray[np.int32], slot: NDArray[np.int32]
    ) -> int | None:
        """Move the joined rows that fulfil it to the front; None where a column can be NULL."""
        sides = (self.left.source, self.right.source)
        left, right = (
            rows[column.source].all_words(column.column) for column in (self.left, self.right)
        )
        if left is None or right is None:
            return None
        if self.left.type.is_float:
            left, right = (
                each._replace(words=each.words.view(np.float64)) for each in (left, right)
            )
        kind = (self.is_equality, self.is_negated)
        if left.number.size:
            return int(keep_compared_shared(left, sides[0], right, sides[1], *kind, event, slot))
        return int(keep_compared(left.words, sides[0], right.words, sides[1], *kind, event, slot))


class ResidualFilter:
    """Keeps the joined rows that fulfil a condition over the rows of all inputs."""

    def __init__(self, condition: Expr | None, rows: Sequence[SlotRows]) -> None:
        self._comparisons, self._others = taken_apart(condition)
        self._rows = rows

    def kept(self, event: Events, slot: Slots) -> tuple[Events, Slots]:
        """Those joined rows, moved to the front of the same arrays."""
        others = list(self._others)
        for comparison in self._comparisons:
            count = comparison.keep(self._rows, event, slot)
            if count is None:
                others.append(comparison.call)
            else:
                event, slot = event[:count], slot[:, :count]
        for condition in others:
            holds = evaluate_filter(condition, _leaf(self._rows, slot), event.size)
            count = int(keep_where(holds, event, slot))
            event, slot = event[:count], slot[:, :count]
        return event, slot


def _leaf(rows: Sequence[SlotRows], slot: Slots) -> Leaf:
    def column(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnRef)
        return rows[part.source].column(part.column, slot[part.source])

    return column


def taken_apart(condition: Expr | None) -> tuple[list[Comparison], list[Expr]]:
    """The plain comparisons of a condition, and its other parts; all must hold."""
    parts = [] if condition is None else list(_conjuncts(condition))
    found = [(part, _comparison(part)) for part in parts]
    plain = [comparison for _, comparison in found if comparison is not None]
    return plain, [part for part, comparison in found if comparison is None]


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    if isinstance(condition, Call) and condition.function == "and":
        for part in condition.arguments:
            yield from _conjuncts(part)
    else:
        yield condition


def _comparison(part: Expr) -> Comparison | None:
    if not isinstance(part, Call) or part.function not in _FORMS:
        return None
    left, right = part.arguments
    if not isinstance(left, ColumnRef) or not isinstance(right, ColumnRef):
        return None
    if left.type != right.type or left.type == STRING or not left.type.is_word:
        return None
    is_equality, is_swapped, is_negated = _FORMS[part.function]
    if is_swapped:
        left, right = right, left
    return Comparison(left, right, is_equality, is_negated, part)
