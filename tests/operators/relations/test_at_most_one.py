"""Scalar sub-queries: rows are passed on until there are two for one key."""

from __future__ import annotations

import pytest
from hypothesis import given

from support.relation_changes import (
    Change,
    assert_follows,
    changing,
    held_at,
    in_columns,
    outcome,
    relation,
)
from windrow.errors import DataError
from windrow.operators.relations.at_most_one import AtMostOneOperator
from windrow.plan.expressions import Call
from windrow.plan.relations.algebra import AtMostOne
from windrow.schema import INT

ROWS = relation("t", "k int, s string")
K, S = (field.ref for field in ROWS.fields)
BY_BOTH = AtMostOne(ROWS, (K, S), "(SELECT ...)")
WHOLE = AtMostOne(ROWS, (), "(SELECT ...)")


@given(changing(ROWS))
def test_rows_pass_until_a_key_has_two(inputs: tuple[list[Change]]) -> None:
    instants = sorted({change.at for change in inputs[0]})
    bad = [at for at in instants if has_two(inputs[0], at)]
    if not bad:
        assert_follows(AtMostOneOperator, BY_BOTH, inputs, lambda held: held)
        return
    before = [change for change in inputs[0] if change.at < bad[0]]
    assert_follows(AtMostOneOperator, BY_BOTH, [before], lambda held: held)
    for cuts in (instants, []):
        with pytest.raises(DataError, match="WD307"):
            outcome(AtMostOneOperator(BY_BOTH), BY_BOTH, inputs, cuts)


def has_two(changes: list[Change], at: int) -> bool:
    """NULL is a key like any other."""
    return any(count > 1 for count in held_at(changes, at).values())


def test_the_error_names_the_key_and_what_to_do() -> None:
    by = AtMostOne(ROWS, (Call("+", (K, K), INT), S), "(SELECT x FROM t)")
    twice = in_columns([Change(5_000_000, 2, (1, "x"))], ROWS)
    with pytest.raises(DataError) as caught:
        AtMostOneOperator(by).advance([twice], 5_000_000)
    assert caught.value.message == (
        "the scalar sub-query (SELECT x FROM t) gave more than one row for k + k = 2, s = 'x' "
        "at 1970-01-01 00:00:05"
    )
    assert caught.value.hint is not None
    assert "LIMIT 1" in caught.value.hint


def test_a_missing_key_is_named_as_in_sql() -> None:
    twice = in_columns([Change(0, 1, (None, "x")), Change(0, 1, (None, "x"))], ROWS)
    with pytest.raises(DataError, match=r"more than one row for k = NULL, s = 'x' at"):
        AtMostOneOperator(BY_BOTH).advance([twice], 0)


def test_without_a_key_all_rows_count() -> None:
    one_after_the_other = [Change(1, 1, (1, "x")), Change(2, 1, (2, "y")), Change(2, -1, (1, "x"))]
    assert_follows(AtMostOneOperator, WHOLE, [one_after_the_other], lambda held: held)
    with pytest.raises(DataError, match=r"gave more than one row at 1970"):
        outcome(AtMostOneOperator(WHOLE), WHOLE, [one_after_the_other[:2]], [])
