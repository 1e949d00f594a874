"""DISTINCT and set operations against what Python's counters say."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given

from support.relation_changes import (
    Change,
    Held,
    assert_follows,
    changing,
    in_columns,
    outcome,
    plain_row,
    relation,
)
from windrow.operators.relations.distinct import DistinctOperator
from windrow.operators.relations.set_operations import set_operator
from windrow.plan.relations.algebra import Distinct, Field, SetOperation, Values
from windrow.schema import BIGINT, DOUBLE, STRING, decimal

FEW = relation("f", "k int, s string")
MORE = relation("m", "k bigint, s string")
GIVEN = (Field("k", "k", BIGINT), Field("s", "s", STRING))
WIDE = relation("w", "t timestamp, d double, e float, p decimal(18, 3), y date, s string")
TYPES = {
    ("intersect", True): lambda left, right: left & right,
    ("intersect", False): lambda left, right: Counter(set(left & right)),
    ("except", True): lambda left, right: left - right,
    ("except", False): lambda left, right: Counter(set(left) - set(right)),
    ("union", True): lambda left, right: left + right,
}


@given(changing(WIDE))
def test_distinct(inputs: tuple[list[Change]]) -> None:
    assert_follows(DistinctOperator, Distinct(WIDE), inputs, lambda held: Counter(set(held)))


@given(changing(WIDE))
def test_distinct_gives_a_row_once_an_instant(inputs: tuple[list[Change]]) -> None:
    found = outcome(DistinctOperator(Distinct(WIDE)), Distinct(WIDE), inputs, [])
    assert len({(change.at, change.row) for change in found}) == len(found)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: f"{kind[0]}{' all' * kind[1]}")
@given(changing(FEW, MORE))
def test_two_inputs_of_other_types(
    kind: tuple[str, bool], inputs: tuple[list[Change], list[Change]]
) -> None:
    node = SetOperation(kind[0], (FEW, MORE), GIVEN, is_all=kind[1])
    assert_follows(set_operator, node, inputs, TYPES[kind])


@given(changing(FEW, FEW, FEW))
def test_union_of_three(inputs: tuple[list[Change], ...]) -> None:
    node = SetOperation("union", (FEW, FEW, FEW), GIVEN)
    assert_follows(set_operator, node, inputs, lambda a, b, c: a + b + c)


@given(changing(relation("n", "p decimal(4, 1)"), relation("d", "d double")))
def test_decimals_and_doubles_meet_as_doubles(inputs: tuple[list[Change], ...]) -> None:
    parts = relation("n", "p decimal(4, 1)"), relation("d", "d double")
    node = SetOperation("union", parts, (Field("d", "d", DOUBLE),))

    def slow(left: Held, right: Held) -> Held:
        as_double: Held = Counter()
        for (value,), count in left.items():
            as_double[plain_row([None if value is None else float(value)])] += count
        return as_double + right

    assert_follows(set_operator, node, inputs, slow)


def test_wide_decimals_and_rows_without_columns() -> None:
    sums = Values((), (Field("p", "p", decimal(38, 2)),))
    values = [Decimal("1e30"), Decimal("-1e30"), Decimal(2**64), Decimal(0), None]
    changes = [Change(at, 1, (v,)) for at in (1, 2) for v in values]
    changes += [Change(3, -2, (v,)) for v in values[:2]]
    assert_follows(DistinctOperator, Distinct(sums), [changes], lambda held: Counter(set(held)))
    nothing = Values((), ())
    changes = [Change(1, 2, ()), Change(2, -1, ()), Change(3, -1, ())]
    assert_follows(DistinctOperator, Distinct(nothing), [changes], lambda held: Counter(set(held)))


def test_memory_is_given_back() -> None:
    """Rows that come and go leave nothing behind but tables, which are used again."""
    operator = DistinctOperator(Distinct(FEW))
    sizes = []
    for step in range(50):
        rows = [(step * 100 + n, f"text {step} {n}") for n in range(100)]
        changes = [Change(step, 1, row) for row in rows]
        gone = [Change(step, -1, row) for row in rows]
        operator.advance([in_columns(changes + gone, FEW)], step)
        sizes.append(operator.nbytes)
    assert sizes[-1] <= 2 * sizes[5]
