"""Selects over joins, DISTINCT, LEFT ANTI JOIN and NOT EXISTS: what the plan makes of them."""

from __future__ import annotations

import pytest

from support.binding_errors import failure, word_at
from windrow.errors import BindingError, UnsupportedError, WindrowError
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.expressions import Expr, Literal, inputs_of, walk
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import Negation, QueryPlan
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.plan.show import show, show_list
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

COLUMNS = "ts timestamp, k int, l bigint, x double, s string, p decimal(10, 2)"
CATALOG = Catalog(
    StreamSchema("a", columns_of(COLUMNS), "ts"),
    StreamSchema("b", columns_of(COLUMNS + ", only_b int"), "ts"),
    StreamSchema("c", columns_of(COLUMNS + ", only_c int"), "ts"),
)


def plan_of(text: str) -> QueryPlan:
    return bind(parse_query(text), CATALOG)


def shown(part: Expr | None, plan: QueryPlan) -> str | None:
    return None if part is None else show(part, plan)


def facts(plan: QueryPlan, position: int = 0) -> tuple[str, str | None, str, str, str | None]:
    """Of a negation: the input that it is of, its filter, keys, keys of the other, residual."""
    each = plan.negations[position]
    entry = plan.inputs[each.input]
    assert (entry.keys, entry.variables) == ((), ())
    assert [key.type for key in each.keys] == [key.type for key in each.of_keys]
    return (
        plan.inputs[each.of].alias,
        shown(entry.filter, plan),
        show_list(each.keys, plan),
        show_list(each.of_keys, plan),
        shown(each.residual, plan),
    )


# ---- selects over joins, and DISTINCT


def test_a_select_over_a_join() -> None:
    plan = plan_of(
        "SELECT a.k, b.x + c.x AS v FROM a [5], b [ROWS 3], c [RANGE 4 SLIDE 2] "
        "WHERE a.k = b.k AND b.k = c.l AND a.x < c.x AND a.s = 'y'"
    )
    assert (plan.kind, plan.algorithm, plan.distinct) == ("select", "scan", False)
    assert [entry.variables for entry in plan.inputs] == [(0,), (0,), (0,)]
    assert shown(plan.residual, plan) == "a.x < c.x"
    assert [show(column.expression, plan) for column in plan.select] == ["a.k", "b.x + c.x"]
    assert plan.joined == plan.inputs


def test_all_columns_of_a_join() -> None:
    with pytest.raises(BindingError, match=r"instead of \*") as caught:
        plan_of("SELECT * FROM a [5], b [5] WHERE a.k = b.k")
    assert caught.value.code == "WB250"
    plan = plan_of("SELECT b.*, a.k AS other FROM a [5], b [5] WHERE a.k = b.k")
    assert [column.name for column in plan.select][-2:] == ["only_b", "other"]


def test_distinct_is_kept_in_the_plan() -> None:
    plan = plan_of("SELECT DISTINCT k, x FROM a [5]")
    assert plan.distinct
    assert plan.kind == "select"
    assert fingerprint(plan) != fingerprint(plan_of("SELECT k, x FROM a [5]"))
    assert plan_of("SELECT DISTINCT a.k FROM a [5], b [5]").distinct


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT COUNT(*) AS n FROM a",
        "SELECT DISTINCT k, COUNT(*) AS n FROM a [5] GROUP BY k",
        "SELECT DISTINCT x + 1 AS v, k FROM a GROUP BY k, x + 1",
    ],
)
def test_groups_that_differ_anyway(text: str) -> None:
    plan = plan_of(text)
    assert not plan.distinct
    assert fingerprint(plan) == fingerprint(plan_of(text.replace("DISTINCT ", "")))


# ---- what a match is


def test_an_anti_join_on_a_key() -> None:
    plan = plan_of("SELECT * FROM a [5] LEFT ANTI JOIN b [ROWS 3] ON a.k = b.k")
    assert [entry.alias for entry in plan.inputs] == ["a", "b"]
    assert plan.joined == plan.inputs[:1]
    assert facts(plan) == ("a", None, "b.k", "a.k", None)
    assert "only_b" not in [column.name for column in plan.select]
    assert plan_from_json(plan_to_json(plan)) == plan


def test_both_ways_of_writing_are_one_plan() -> None:
    condition = "b.l = a.k AND b.x > 0 AND a.s <> b.s AND a.x > 1"
    anti = plan_of(f"SELECT a.k FROM a [5] LEFT ANTI JOIN b [9] ON {condition} WHERE a.k > 2")
    exists = plan_of(
        f"SELECT a.k FROM a [5] WHERE NOT EXISTS (SELECT * FROM b [9] WHERE {condition}) AND k > 2"
    )
    assert facts(anti) == ("a", "b.x > 0.0", "b.l", "a.k", "a.s <> b.s AND a.x > 1.0")
    assert anti.negations == exists.negations
    assert anti.inputs == exists.inputs
    assert shown(anti.inputs[0].filter, anti) == "a.k > 2"


def test_keys_meet_in_one_type() -> None:
    plan = plan_of(
        "SELECT a.k FROM a [5] LEFT ANTI JOIN b [5] ON a.k = b.l AND b.x = a.l AND a.k + 1 = b.k"
    )
    (each,) = plan.negations
    assert [str(key.type) for key in each.keys] == ["BIGINT", "DOUBLE", "BIGINT"]
    assert facts(plan)[2:4] == ("b.l, b.x, b.k", "a.k, a.l, a.k + 1")


def test_a_condition_on_the_kept_input_alone_is_part_of_the_match() -> None:
    plan = plan_of("SELECT a.k FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM b [5] WHERE a.x > 1)")
    assert facts(plan) == ("a", None, "", "", "a.x > 1.0")
    assert plan.inputs[0].filter is None


@pytest.mark.parametrize("condition", ["1 = 0", "NULL", "FALSE AND b.x > 0"])
def test_constants_decide_for_every_match(condition: str) -> None:
    plan = plan_of(f"SELECT a.k FROM a [5] LEFT ANTI JOIN b [5] ON {condition}")
    assert plan.negations == (Negation(1, 0),)
    assert plan.inputs[0].filter is None
    held = plan.inputs[1].filter
    assert held is not None
    assert any(isinstance(part, Literal) for part in walk(held))


def test_without_any_condition() -> None:
    plan = plan_of("SELECT a.k FROM b [3], a [5] WHERE NOT EXISTS (SELECT 1 FROM c [5])")
    assert plan.negations == (Negation(2, 0),)


def test_a_repeated_condition_counts_once() -> None:
    on = "a.k = b.k AND b.k = a.k AND a.x < b.x AND a.x < b.x AND b.x > 0 AND b.x > 0"
    plan = plan_of(f"SELECT a.k FROM a [5] LEFT ANTI JOIN b [5] ON {on}")
    assert facts(plan) == ("a", "b.x > 0.0", "b.k", "a.k", "a.x < b.x")


def test_negated_inputs_come_last_in_order_of_the_text() -> None:
    plan = plan_of(
        "SELECT a.k FROM a [5] LEFT ANTI JOIN b [6] ON a.k = b.k JOIN c [7] ON a.k = c.k "
        "LEFT ANTI JOIN b [PARTITION BY s ROWS 8] AS d ON c.s = d.s "
        "WHERE NOT EXISTS (SELECT 1 FROM a [9] AS e WHERE e.l = c.l) AND a.x > 0 "
        "AND NOT EXISTS (SELECT 1 FROM b [10] WHERE a.k = b.k)"
    )
    assert [entry.alias for entry in plan.inputs] == ["a", "c", "b", "d", "e", "b2"]
    assert [each.input for each in plan.negations] == [2, 3, 4, 5]
    assert [each.of for each in plan.negations] == [0, 1, 1, 0]
    assert [entry.variables for entry in plan.inputs] == [(0,), (0,), (), (), (), ()]
    (counted,) = plan.inputs[3].window.partition_by
    assert inputs_of(counted) == {3}
    assert facts(plan, 2)[2:4] == ("e.l", "c.l")


def test_aggregates_over_negations() -> None:
    plan = plan_of(
        "SELECT a.s, COUNT(*) AS n, SUM(c.x) AS v FROM a [5], c [5] WHERE a.k = c.k AND NOT EXISTS "
        "(SELECT 1 FROM b [5] WHERE b.k = a.k) GROUP BY a.s HAVING COUNT(*) > 1 EVERY (5 SECONDS)"
    )
    assert (plan.kind, len(plan.joined), len(plan.negations)) == ("aggregate", 2, 1)
    assert facts(plan) == ("a", None, "b.k", "a.k", None)


# ---- names


def test_inner_names_hide_outer_ones() -> None:
    plan = plan_of(
        "SELECT k FROM a [5] WHERE NOT EXISTS "
        "(SELECT k, only_b, a.s FROM b [5] AS a WHERE k = 1 AND a.x > 0)"
    )
    assert [entry.alias for entry in plan.inputs] == ["a", "a2"]
    assert facts(plan) == ("a", "a2.k = 1 AND a2.x > 0.0", "", "", None)


def test_outer_names_are_seen_from_within() -> None:
    plan = plan_of(
        "SELECT only_b FROM b [5] WHERE NOT EXISTS (SELECT 1 FROM a [5] WHERE k = only_b)"
    )
    assert facts(plan) == ("b", None, "a.k", "b.only_b", None)


# text, code, the word under the caret, a part of the message or hint
WRONG = [
    ("SELECT b.k FROM a [5] LEFT ANTI JOIN b [5] ON a.k = b.k", "WB206", "b", "rows of b never"),
    ("SELECT b.* FROM a [5] LEFT ANTI JOIN b [5] ON a.k = b.k", "WB206", "b", "rows of b never"),
    ("SELECT only_b FROM a [5] LEFT ANTI JOIN b [5] ON a.k = b.k", "WB206", "only_b", "rows of b"),
    (
        "SELECT k FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM b [5]) AND b.k = 1",
        "WB206",
        "b",
        "rows of b never reach",
    ),
    (
        "SELECT COUNT(*) AS n FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM b [5]) GROUP BY b.k",
        "WB206",
        "b",
        "rows of b never reach",
    ),
    ("SELECT k FROM a [5] LEFT ANTI JOIN b [5] ON k = b.k", "WB204", "k", "a.k or b.k"),
    ("SELECT a.k FROM a [5] LEFT ANTI JOIN a [6] ON a.k = 1", "WB202", "a", "AS a2"),
    (
        "SELECT a.k FROM a [5], c [5] WHERE NOT EXISTS (SELECT 1 FROM b [5] WHERE only_c = zz)",
        "WB203",
        "zz",
        "no column 'zz' in 'b' or 'a' or 'c'",
    ),
    (
        "SELECT a.k FROM a [5] WHERE NOT EXISTS (SELECT zz.k FROM b [5])",
        "WB205",
        "zz",
        "FROM names b, a",
    ),
    ("SELECT a.k FROM a [5] WHERE NOT EXISTS (SELECT zz.* FROM b [5])", "WB205", "zz", "names b"),
    ("SELECT k FROM a [5] WHERE NOT EXISTS (SELECT MAX(k) FROM b [5])", "WB240", "MAX", "EXISTS"),
    ("SELECT a.k FROM a [5] LEFT ANTI JOIN b [5] ON SUM(b.k) = 1", "WB240", "SUM", "in ON"),
    ("SELECT a.k FROM a [5] LEFT ANTI JOIN b [5] ON a.k", "WB222", "a", "ON takes a condition"),
    ("SELECT a.k FROM a [5] LEFT ANTI JOIN b ON a.k = b.k", "WB210", "b", "a negation keeps"),
    ("SELECT a.k FROM a LEFT ANTI JOIN b [5] ON a.k = b.k", "WB210", "a", "a negation keeps"),
    (
        "SELECT k FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM b [UNBOUNDED])",
        "WB211",
        None,
        "memory would grow",
    ),
    ("SELECT a.k FROM a [5], b WHERE a.k = b.k", "WB210", "b", "a join keeps every row"),
    (
        "SELECT k FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 9 SLIDE 3]) EVERY (1 SECOND)",
        "WB213",
        "EVERY",
        "finer than SLIDE",
    ),
    ("SELECT k FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM zz [5])", "WB201", "zz", "no stream"),
]
REFUSED = [
    (
        "SELECT a.k FROM a [5], b [5] WHERE NOT EXISTS "
        "(SELECT 1 FROM c [5] WHERE a.k = c.k AND b.x > c.x)",
        "WU223",
        "b",
    ),
    ("SELECT a.k FROM a [5], b [5] LEFT ANTI JOIN c [5] ON a.x + b.x > c.x", "WU223", "a"),
    ("SELECT k FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM b [5], c [5])", "WU224", "c"),
    (
        "SELECT k FROM a [5] WHERE NOT EXISTS "
        "(SELECT 1 FROM b [5] LEFT ANTI JOIN c [5] ON b.k = c.k)",
        "WU224",
        "c",
    ),
    (
        "SELECT k FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM "
        "HISTORY(b) [FROM '2026-01-01' TO '2026-01-02' AT 1 MINUTE])",
        "WU211",
        None,
    ),
    (
        "SELECT a.k FROM a [1], a [2] AS d, a [3] AS e, a [4] AS f, a [5] AS g "
        "LEFT ANTI JOIN b [5] ON a.k = b.k WHERE NOT EXISTS (SELECT 1 FROM c [5])",
        "WU201",
        "c",
    ),
]


def failure_of(text: str) -> WindrowError:
    return failure(lambda: plan_of(text))


@pytest.mark.parametrize(("text", "code", "word", "said"), WRONG)
def test_what_is_wrong_is_said_and_shown(text: str, code: str, word: str | None, said: str) -> None:
    error = failure_of(text)
    assert isinstance(error, BindingError)
    assert error.code == code
    assert said in str(error)
    assert word is None or word_at(error) == word


@pytest.mark.parametrize(("text", "code", "word"), REFUSED)
def test_what_does_not_run_is_refused(text: str, code: str, word: str | None) -> None:
    error = failure_of(text)
    assert isinstance(error, UnsupportedError)
    assert error.code == code
    assert word is None or word_at(error) == word


@pytest.mark.parametrize("clause", ["GROUP BY k", "HAVING 1 = 1", "EVERY 5", "ERROR (2%)"])
def test_clauses_that_cannot_stand_within_not_exists(clause: str) -> None:
    error = failure_of(f"SELECT k FROM a [5] WHERE NOT EXISTS (SELECT 1 FROM b [5] {clause})")
    assert error.code.startswith(("WS", "WU"))
    assert error.place is not None
