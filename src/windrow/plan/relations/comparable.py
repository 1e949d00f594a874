"""Nodes that compare rows by columns that cannot be compared are refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.plan.comparable import maps_compared_in
from windrow.plan.relations.algebra import (
    Aggregate,
    Distinct,
    OrderKey,
    Relation,
    SetOperation,
    TopRows,
    WindowFunctions,
    walk_relations,
)
from windrow.schema import ColumnType

__all__ = ["check_comparable"]


def check_comparable(relation: Relation, order: Iterable[OrderKey] = ()) -> None:
    """Raises where a map is grouped by, ordered by, or told apart from others."""
    if not all(key.expression.type.is_comparable for key in order):
        raise maps_compared_in("ORDER BY")
    for node in walk_relations(relation):
        for clause, kinds in _compared(node):
            if not all(kind.is_comparable for kind in kinds):
                raise maps_compared_in(clause)


def _compared(node: Relation) -> Iterator[tuple[str, Iterable[ColumnType]]]:
    if isinstance(node, Aggregate):
        yield "GROUP BY", [item.expression.type for item in node.groups]
        for call in node.calls:
            function = AGGREGATE_FUNCTIONS[call.function]
            if call.is_distinct or function.form in (Form.EXTREME, Form.DISTINCT):
                yield function.show("x"), [part.type for part in call.arguments]
    elif isinstance(node, Distinct):
        yield "DISTINCT", [field.type for field in node.fields]
    elif isinstance(node, SetOperation) and node.kind != "union":
        yield node.kind.upper(), [field.type for field in node.fields]
    elif isinstance(node, TopRows | WindowFunctions):
        yield "PARTITION BY", [part.type for part in node.partition]
        yield "ORDER BY", [key.expression.type for key in node.order]
