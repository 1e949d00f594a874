"""The harness of operators over relations can fail, and its changes are changes of a relation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given

from support.relation_changes import Change, assert_follows, changing, held_at, relation
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.relations.algebra import AtMostOne, Relation

ALL_TYPES = relation(
    "t",
    "a int, b bigint, c string, d double, e float, f decimal(10, 2), g timestamp, h date",
)
NODE = AtMostOne(ALL_TYPES, (), "")


class Same(RelationOperator):
    """Gives what it is given."""

    def __init__(self, node: Relation) -> None:
        del node

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        del until
        return inputs[0]

    @property
    def nbytes(self) -> int:
        return 0


@given(changing(ALL_TYPES))
def test_no_row_is_there_less_than_not_at_all(inputs: tuple[list[Change]]) -> None:
    for at in {change.at for change in inputs[0]}:
        assert all(count > 0 for count in held_at(inputs[0], at).values())


@given(changing(ALL_TYPES))
def test_what_is_given_is_what_is_held(inputs: tuple[list[Change]]) -> None:
    assert_follows(Same, NODE, inputs, lambda held: held)


def test_a_difference_is_found() -> None:
    changes = [Change(1, 1, (None,) * 8), Change(2, -1, (None,) * 8)]
    with pytest.raises(AssertionError, match="at 1, cut at"):
        assert_follows(Same, NODE, [changes], lambda _held: Counter())
