"""The rows of a relation in order within partitions, by comparing Python values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

from support.relation_changes import Held, Row
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.algebra import OrderKey, TopRows, WindowFunctions


def partitions_in_order(node: TopRows | WindowFunctions, held: Held) -> list[list[Row]]:
    """Every copy of every row, in order, partition by partition."""
    found: dict[Any, list[Row]] = {}
    for row, count in held.items():
        key = tuple(key_of(row[_place(node, each)]) for each in node.partition)
        found.setdefault(key, []).extend([row] * count)
    keys = [(_place(node, key.expression), key) for key in node.order]
    keys += [(place, OrderKey(field.ref)) for place, field in enumerate(node.input.fields)]
    order = cmp_to_key(lambda one, other: _compared(one, other, keys))
    return [sorted(rows, key=order) for rows in found.values()]


def are_peers(node: WindowFunctions, one: Row, other: Row) -> bool:
    """Whether the keys of two rows are equal."""
    return not _compared(one, other, [(_place(node, key.expression), key) for key in node.order])


def key_of(value: Any) -> Any:
    """What is equal for equal values, NaN too."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _place(node: TopRows | WindowFunctions, expression: Expr) -> int:
    assert isinstance(expression, ColumnRef)
    return [field.id for field in node.input.fields].index(expression.column)


def _compared(one: Row, other: Row, keys: Sequence[tuple[int, OrderKey]]) -> int:
    for place, key in keys:
        left, right = one[place], other[place]
        if left is None or right is None:
            if (left is None) != (right is None):
                return -1 if (left is None) == key.nulls_first else 1
            continue
        left, right = _height(left), _height(right)
        if left != right:
            return -1 if (left < right) != key.is_descending else 1
    return 0


def _height(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float):
        return (True, 0.0) if math.isnan(value) else (False, value)
    return value
