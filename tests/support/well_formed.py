"""What holds for every tree of the algebra: columns are there where they are read, and typed."""

from __future__ import annotations

from windrow.plan.expressions import ColumnRef, walk
from windrow.plan.relations.algebra import (
    AnswerWindow,
    Apply,
    Join,
    Relation,
    SetOperation,
    Unary,
    walk_relations,
)
from windrow.plan.relations.references import expressions_of
from windrow.schema import BOOLEAN, ColumnType

Types = dict[str, ColumnType]


def check_well_formed(relation: Relation) -> None:
    """Raises unless the tree is one that operators can run, sub-queries by nested loops."""
    _check(relation, {})
    makers: dict[str, Relation] = {}
    for node in walk_relations(relation):
        for field in _own_fields(node):
            # A part that is read several times, as by grouping sets, is the same each time.
            assert makers.setdefault(field, node) == node, f"two nodes make {field}"


def _own_fields(node: Relation) -> set[str]:
    """The ids that the node gives and none of its inputs does."""
    passed = {field.id for part in node.inputs for field in part.fields}
    return {field.id for field in node.fields} - passed


def _check(node: Relation, outer: Types) -> None:
    ids = [field.id for field in node.fields]
    assert len(set(ids)) == len(ids), f"a field twice in {type(node).__name__}"
    readable = dict(outer)
    for part in node.inputs:
        readable.update({field.id: field.type for field in part.fields})
    for expression in expressions_of(node):
        for leaf in walk(expression):
            if isinstance(leaf, ColumnRef):
                assert leaf.source == 0
                assert readable.get(leaf.column) == leaf.type, f"{leaf} is not there"
    if isinstance(node, SetOperation):
        for part in node.parts:
            assert [each.type for each in part.fields] == [each.type for each in node.given]
    if isinstance(node, (Join, Apply)):
        assert node.condition is None or node.condition.type == BOOLEAN
    if isinstance(node, AnswerWindow):
        own = {field.id for field in node.fields}
        parts = [each for each in node.window.partition_by if isinstance(each, ColumnRef)]
        assert own >= {each.column for each in parts}
    assert not isinstance(node, Unary) or len(node.inputs) == 1
    for place, part in enumerate(node.inputs):
        sees_left = isinstance(node, Apply) and place == 1
        left = {field.id: field.type for field in node.inputs[0].fields} if sees_left else {}
        _check(part, {**outer, **left})
