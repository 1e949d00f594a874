"""Joins of every kind and condition against nested loops over Counters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import (
    Change,
    Held,
    Row,
    assert_follows,
    changing,
    in_columns,
    outcome,
    relation,
)
from windrow.errors import DataError
from windrow.operators.relations import pair_join, semi_join
from windrow.operators.relations.join import JoinOperator
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.relations.algebra import Field, Join, JoinKind, Values
from windrow.schema import BOOLEAN, INT, decimal

KINDS: list[JoinKind] = ["inner", "left", "full", "semi", "anti"]
LEFT = relation("l", "k int, d double, s string")
RIGHT = relation("r", "k int, d double, t timestamp")
L = {field.name: field.ref for field in LEFT.fields}
R = {field.name: field.ref for field in RIGHT.fields}
Matches = Callable[[Row, Row], bool]


def call(function: str, *arguments: Expr) -> Call:
    return Call(function, arguments, BOOLEAN)


def both(*parts: Expr) -> Expr:
    first, *others = parts
    for part in others:
        first = call("and", first, part)
    return first


def equal(one: Any, other: Any) -> bool:
    return one is not None and other is not None and (one is other or one == other)


def below(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return False
    return not math.isnan(one) and (math.isnan(other) or one < other)


ZERO = Literal(0, INT)
CONDITIONS: dict[str, tuple[Expr | None, Matches]] = {
    "cross": (None, lambda _left, _right: True),
    "key": (call("=", L["k"], R["k"]), lambda left, right: equal(left[0], right[0])),
    "two keys, the other way round": (
        both(call("=", R["k"], L["k"]), call("=", R["d"], L["d"])),
        lambda left, right: equal(left[0], right[0]) and equal(left[1], right[1]),
    ),
    "null-safe key": (
        call("is_same", L["d"], R["d"]),
        lambda left, right: left[1] is right[1] or equal(left[1], right[1]),
    ),
    "mixed keys": (
        both(call("is_same", L["d"], R["d"]), call("=", L["k"], R["k"])),
        lambda left, right: (
            (left[1] is right[1] or equal(left[1], right[1])) and equal(left[0], right[0])
        ),
    ),
    "residual": (call("<", L["d"], R["d"]), lambda left, right: below(left[1], right[1])),
    "key and residual": (
        both(call("<", L["d"], R["d"]), call("=", L["k"], R["k"])),
        lambda left, right: equal(left[0], right[0]) and below(left[1], right[1]),
    ),
    "filters": (
        both(
            call(">", L["k"], ZERO),
            call("=", L["k"], R["k"]),
            call("not", call("is_null", R["d"])),
        ),
        lambda left, right: equal(left[0], right[0]) and left[0] > 0 and right[1] is not None,
    ),
    "never": (call("=", ZERO, Literal(1, INT)), lambda _left, _right: False),
    "computed key": (
        call("=", Call("-", (ZERO, L["k"]), INT), R["k"]),
        lambda left, right: equal(None if left[0] is None else -left[0], right[0]),
    ),
}


def slow_join(kind: JoinKind, matches: Matches) -> Callable[[Held, Held], Held]:
    def joined(left: Held, right: Held) -> Held:
        out: Held = Counter()
        for one, count in left.items():
            partners = {other: n for other, n in right.items() if matches(one, other)}
            if kind in ("inner", "left", "full"):
                for other, n in partners.items():
                    out[one + other] += count * n
            if (kind == "semi" and partners) or (kind == "anti" and not partners):
                out[one] += count
            if kind in ("left", "full") and not partners:
                out[one + (None,) * len(RIGHT.fields)] += count
        for other, count in right.items():
            if kind == "full" and not any(matches(one, other) for one in left):
                out[(None,) * len(LEFT.fields) + other] += count
        return out

    return joined


@pytest.mark.parametrize("condition", CONDITIONS)
@given(
    kind=st.sampled_from(KINDS),
    inputs=changing(LEFT, RIGHT),
    room=st.sampled_from([1, 2, 3, 1 << 18]),
)
def test_joins(
    condition: str, kind: JoinKind, inputs: tuple[list[Change], list[Change]], room: int
) -> None:
    bound, matches = CONDITIONS[condition]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_join, "BLOCK_PAIRS", room)
        patch.setattr(semi_join, "BLOCK_ROWS", room)
        assert_follows(
            JoinOperator, Join(kind, LEFT, RIGHT, bound), inputs, slow_join(kind, matches)
        )


def test_a_key_that_comes_again_at_once_changes_nothing() -> None:
    for kind in ("semi", "anti"):
        node = Join(kind, LEFT, RIGHT, CONDITIONS["key"][0])
        left = [Change(1, 1, (1, 0.5, "x"))]
        right = [Change(1, 1, (1, 0.5, None)), Change(2, 1, (1, 1.5, None))]
        right.append(Change(2, -1, (1, 0.5, None)))
        found = outcome(JoinOperator(node), node, [left, right], [])
        assert [change.at for change in found] == ([1] if kind == "semi" else [])


def test_no_pair_is_computed_with_that_is_never_there() -> None:
    """The cast fails for a pair of the row that leaves with the one that enters."""
    texts = relation("u", "k int, v string")
    casted = Call("cast", (Call("coalesce", (texts.fields[1].ref, L["s"]), L["s"].type),), INT)
    node = Join(
        "left", LEFT, texts, both(call("=", L["k"], texts.fields[0].ref), call(">", casted, L["k"]))
    )
    left = [
        Change(1, 1, (1, None, "7")),
        Change(2, -1, (1, None, "7")),
        Change(2, 1, (1, None, "x")),
    ]
    right = [Change(1, 1, (1, None)), Change(2, -1, (1, None)), Change(2, 1, (1, "8"))]
    assert len(outcome(JoinOperator(node), node, [left, right], [])) == 3
    with pytest.raises(DataError, match="WD304"):
        outcome(JoinOperator(node), node, [left, right[:1]], [])


def test_wide_decimals_are_keys() -> None:
    left, right = (Values((), (Field(f"{p}.p", "p", decimal(38, 0)),)) for p in "ab")
    node = Join("inner", left, right, call("=", left.fields[0].ref, right.fields[0].ref))
    changes = [Change(1, 1, (value,)) for value in (2**64, 2**65, -(2**64), 0)]
    found = outcome(JoinOperator(node), node, [changes, changes], [])
    assert sorted(change.row for change in found) == sorted((c.row * 2) for c in changes)


def test_rows_that_left_leave_nothing_behind() -> None:
    node = Join("full", LEFT, RIGHT, CONDITIONS["key"][0])
    operator = JoinOperator(node)
    sizes = []
    for step in range(40):
        numbers = np.arange(200) + 1000 * step
        left = [(int(n), float(n), f"a text {n}") for n in numbers]
        right = [(int(n), float(n), None) for n in numbers]
        for at, weight in ((2 * step, 1), (2 * step + 1, -1)):
            given_rows = [
                in_columns([Change(at, weight, row) for row in rows], part)
                for rows, part in ((left, LEFT), (right, RIGHT))
            ]
            assert operator.advance(given_rows, at).size
        sizes.append(operator.nbytes)
    assert sizes[-1] <= 2 * sizes[3]
