"""Filters, projections and constant rows against a slow twin."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from support.relation_changes import (
    Change,
    Held,
    assert_follows,
    changing,
    in_columns,
    plain_changes,
    relation,
)
from windrow.errors import DataError
from windrow.event_time import START_OF_TIME
from windrow.operators.relations.filter import FilterOperator
from windrow.operators.relations.project import ProjectOperator, ValuesOperator
from windrow.plan.expressions import Call, Literal
from windrow.plan.relations.algebra import Field, Filter, Item, Project, Values
from windrow.schema import BIGINT, BOOLEAN, INT, STRING

ROWS = relation("t", "k int, s string, d double")
K, S, D = (field.ref for field in ROWS.fields)
ABOVE = Filter(ROWS, Call(">", (K, Literal(0, INT)), BOOLEAN))
DOUBLED = Project(
    ROWS,
    (
        Item(Field("d", "d", D.type), D),
        Item(Field("n", "n", INT), Call("+", (K, K), INT)),
        Item(Field("c", "c", INT), Literal(7, INT)),
    ),
)


def doubled(held: Held) -> Held:
    out: Held = Counter()
    for (k, _, d), count in held.items():
        out[d, None if k is None else 2 * k, 7] += count
    return out


@given(changing(ROWS))
def test_filter(inputs: tuple[list[Change]]) -> None:
    assert_follows(
        FilterOperator,
        ABOVE,
        inputs,
        lambda held: Counter(
            {row: n for row, n in held.items() if row[0] is not None and row[0] > 0}
        ),
    )


@given(changing(ROWS))
def test_project(inputs: tuple[list[Change]]) -> None:
    assert_follows(ProjectOperator, DOUBLED, inputs, doubled)


def test_a_plain_column_is_not_copied() -> None:
    changes = in_columns([Change(1, 1, (1, "x", 0.5))], ROWS)
    found = ProjectOperator(DOUBLED).advance([changes], 1)
    assert found.columns[0] is changes.columns[2]


def test_a_cast_that_fails_is_an_error() -> None:
    changes = in_columns([Change(1, 1, (1, "x", 0.5))], ROWS)
    node = Project(ROWS, (Item(Field("n", "n", INT), Call("cast", (S,), INT)),))
    with pytest.raises(DataError, match="WD304"):
        ProjectOperator(node).advance([changes], 1)


def test_values_are_given_once() -> None:
    fields = (Field("a", "a", BIGINT), Field("b", "b", STRING))
    rows = (
        (Literal(1, BIGINT), Literal("x", STRING)),
        (Literal(None, BIGINT), Literal("y", STRING)),
    )
    operator = ValuesOperator(Values(rows, fields))
    first = [(START_OF_TIME, 1, (1, "x")), (START_OF_TIME, 1, (None, "y"))]
    assert plain_changes(operator.advance([], 5)) == first
    assert operator.advance([], 9).size == 0
