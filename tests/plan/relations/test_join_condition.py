"""The condition of a join, taken apart."""

from __future__ import annotations

from support.relation_changes import relation
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.relations.algebra import Join
from windrow.plan.relations.join_condition import JoinKey, conjuncts, split_condition
from windrow.schema import BIGINT, BOOLEAN, INT

LEFT, RIGHT = relation("l", "k int, n bigint"), relation("r", "k int, n bigint")
LK, LN = (field.ref for field in LEFT.fields)
RK, RN = (field.ref for field in RIGHT.fields)
ONE = Literal(1, INT)


def call(function: str, *arguments: Expr) -> Call:
    return Call(function, arguments, BOOLEAN)


def split(condition: Expr | None) -> tuple[object, object, object]:
    found = split_condition(Join("inner", LEFT, RIGHT, condition))
    return found.keys, found.filters, found.residual


def test_all_pairs_match_without_a_condition() -> None:
    assert split(None) == ((), (None, None), None)


def test_each_part_goes_where_it_is_tested() -> None:
    key, safe = call("=", RK, LK), call("is_same", LN, RN)
    left, right, either = call(">", LK, ONE), call(">", RK, ONE), call("<", LN, RN)
    whole = call("and", call("and", key, left), call("and", call("and", right, either), safe))
    keys = (JoinKey(LK, RK), JoinKey(LN, RN, is_null_safe=True))
    assert split(whole) == (keys, (left, right), either)


def test_casts_stay_with_the_input_that_they_convert() -> None:
    casted = Call("cast", (LK,), BIGINT)
    assert split(call("=", casted, RN)) == ((JoinKey(casted, RN),), (None, None), None)


def test_an_equality_of_one_input_or_with_a_constant_is_no_key() -> None:
    assert split(call("=", LK, ONE)) == ((), (call("=", LK, ONE), None), None)
    assert split(call("=", RN, RN)) == ((), (None, call("=", RN, RN)), None)
    mixed = call("=", Call("+", (LN, RN), BIGINT), RN)
    assert split(mixed) == ((), (None, None), mixed)


def test_a_condition_that_reads_nothing_is_tested_on_right_rows() -> None:
    never = call("=", ONE, Literal(2, INT))
    assert split(never) == ((), (None, never), None)


def test_a_key_that_is_written_twice_is_one_key() -> None:
    twice = call("and", call("=", LK, RK), call("=", RK, LK))
    assert split(twice) == ((JoinKey(LK, RK),), (None, None), None)


def test_what_or_ties_together_stays_together() -> None:
    either = call("or", call("=", LK, RK), call("=", LN, RN))
    assert split(either) == ((), (None, None), either)
    assert list(conjuncts(either)) == [either]
