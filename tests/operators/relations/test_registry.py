"""Every node has an operator that is made of it."""

from __future__ import annotations

import pytest

from support.relation_changes import in_columns, relation
from windrow.operators.relations.registry import OPERATORS, operator_of
from windrow.plan.expressions import Literal
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import (
    AnswerWindow,
    AtMostOne,
    Distinct,
    Field,
    Filter,
    Item,
    Join,
    Project,
    Relation,
    SetOperation,
)
from windrow.schema import BOOLEAN, TIMESTAMP

LEFT, RIGHT = relation("l", "k int, s string"), relation("r", "k int, s string")
GIVEN = relation("g", "k int, s string").fields
NODES: list[Relation] = [
    LEFT,
    Filter(LEFT, Literal(True, BOOLEAN)),
    Project(LEFT, (Item(Field("x", "x", BOOLEAN), Literal(True, BOOLEAN)),)),
    Join("left", LEFT, RIGHT),
    Join("anti", LEFT, RIGHT),
    Distinct(LEFT),
    SetOperation("union", (LEFT, RIGHT), GIVEN),
    SetOperation("intersect", (LEFT, RIGHT), GIVEN),
    SetOperation("except", (LEFT, RIGHT), GIVEN, is_all=False),
    AtMostOne(LEFT, (), "(SELECT ...)"),
    AnswerWindow(LEFT, 1, WindowSpec("time", length_us=1), Field("at", "at", TIMESTAMP)),
]


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_nothing_comes_of_nothing(node: Relation) -> None:
    assert type(node) in OPERATORS
    operator = operator_of(node)
    found = operator.advance([in_columns([], part) for part in node.inputs], 1)
    assert found.size == 0
    assert [column.type for column in found.columns] == [f.type.arrow for f in node.fields]
    assert operator.nbytes < 1 << 16
    assert operator.growth_bytes(1_000) < 1 << 27
