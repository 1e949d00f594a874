"""The join that finds the newest row by time, against all rows compared one by one."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from hypothesis import given

from support.relation_changes import Change, Held, Row, assert_follows, changing, relation
from windrow.operators.relations.as_of_join import AsOfJoinOperator
from windrow.plan.expressions import Call, Literal
from windrow.plan.relations.algebra import AsOfJoin
from windrow.schema import BOOLEAN, INT

LEFT = relation("l", "k int, t bigint, s string")
RIGHT = relation("r", "k int, t bigint, d double")
KEYS = ((LEFT.fields[0].ref, RIGHT.fields[0].ref),)
TIMES = (LEFT.fields[1].ref, RIGHT.fields[1].ref)
POSITIVE = Call(">", (RIGHT.fields[0].ref, Literal(1, INT)), BOOLEAN)


@pytest.mark.parametrize("kind", ["inner", "left"])
@pytest.mark.parametrize("is_strict", [False, True])
@pytest.mark.parametrize("condition", [None, POSITIVE])
def test_each_left_row_has_the_newest_of_its_key(
    kind: Any, is_strict: bool, condition: Any
) -> None:
    node = AsOfJoin(kind, LEFT, RIGHT, KEYS, TIMES, is_strict, condition)

    @given(changing(LEFT, RIGHT))
    def check(inputs: tuple[list[Change], list[Change]]) -> None:
        assert_follows(AsOfJoinOperator, node, inputs, partial(slow, node))

    check()


def test_without_keys_all_rows_are_of_one() -> None:
    node = AsOfJoin("left", LEFT, RIGHT, (), TIMES)

    @given(changing(LEFT, RIGHT))
    def check(inputs: tuple[list[Change], list[Change]]) -> None:
        assert_follows(AsOfJoinOperator, node, inputs, partial(slow, node))

    check()


def slow(node: AsOfJoin, left: Held, right: Held) -> Held:
    """Every left row compared with every right row."""
    found: Held = Counter()
    for row, count in left.items():
        candidates = [other for other in right if matches(node, row, other)]
        best = max(candidates, key=lambda other: (other[1], *map(order, other)), default=None)
        if best is not None and node.condition is not None and not best[0] > 1:
            best = None
        if best is not None or node.kind == "left":
            found[(*row, *(best or (None,) * 3))] += count
    return found


def matches(node: AsOfJoin, row: Row, other: Row) -> bool:
    if None in (row[1], other[1]) or (node.keys and (row[0] is None or row[0] != other[0])):
        return False
    return bool(other[1] < row[1] if node.is_strict else other[1] <= row[1])


def order(value: Any) -> tuple[int, Any]:
    """NULL first, NaN last."""
    if value is None:
        return 0, 0
    return (2, 0) if value != value else (1, value)
