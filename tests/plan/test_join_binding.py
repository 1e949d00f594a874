"""Joins of several windows: join variables, the filters they imply, and what compares inputs."""

from __future__ import annotations

import pytest

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import SEVERAL, QueryPlan
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.plan.show import show
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

CATALOG = Catalog(
    StreamSchema(
        "a",
        columns_of("ts timestamp, s string, k int, l bigint, x double, d date, p decimal(10, 2)"),
        "ts",
    ),
    StreamSchema(
        "b",
        columns_of("ts timestamp, s string, k bigint, n int, x double, d date, p decimal(12, 4)"),
        "ts",
    ),
    StreamSchema(
        "c",
        columns_of("ts timestamp, s string, k smallint, y bigint, x float, p decimal(10, 2)"),
        "ts",
    ),
)
FROM = "FROM a [60], b [ROWS 9], c [RANGE 10 SLIDE 5]"


def plan_of(where: str, select: str = "COUNT(*) AS n", tail: str = "") -> QueryPlan:
    condition = f"WHERE {where}" if where else ""
    return bind(parse_query(f"SELECT {select} {FROM} {condition} {tail}"), CATALOG)


def keys_of(plan: QueryPlan) -> list[dict[int, str]]:
    """For each input its key of every variable, with its type."""
    return [
        {
            variable: f"{show(key, plan)} {key.type}"
            for variable, key in zip(entry.variables, entry.keys, strict=True)
        }
        for entry in plan.inputs
    ]


def filters_of(plan: QueryPlan) -> list[str | None]:
    return [None if part.filter is None else show(part.filter, plan) for part in plan.inputs]


def test_a_chain_on_one_key_is_one_variable() -> None:
    plan = plan_of("a.s = b.s AND b.s = c.s")
    assert keys_of(plan) == [{0: "a.s STRING"}, {0: "b.s STRING"}, {0: "c.s STRING"}]
    assert plan.residual is None
    assert filters_of(plan) == [None, None, None]


def test_however_equalities_are_written() -> None:
    star = keys_of(plan_of("a.s = b.s AND a.s = c.s"))
    assert keys_of(plan_of("c.s = b.s AND a.s = c.s AND b.s = a.s AND a.s = b.s")) == star
    joined = "SELECT COUNT(*) AS n FROM a [60] JOIN b [ROWS 9] ON a.s = b.s "
    joined += "JOIN c [RANGE 10 SLIDE 5] ON b.s = c.s"
    assert keys_of(bind(parse_query(joined), CATALOG)) == star


def test_two_classes_become_one_when_an_equality_links_them() -> None:
    text = "SELECT COUNT(*) AS n FROM a [5] AS p, a [5] AS q, a [5] AS r, a [5] AS t "
    text += "WHERE p.s = q.s AND p.k = q.k AND r.s = t.s AND q.s = r.s"
    plan = bind(parse_query(text), CATALOG)
    assert [entry.variables for entry in plan.inputs] == [(0, 1), (0, 1), (0,), (0,)]


def test_a_chain_on_two_keys_has_two_variables() -> None:
    plan = plan_of("a.s = b.s AND b.n = c.y")
    assert keys_of(plan) == [
        {0: "a.s STRING"},
        {0: "b.s STRING", 1: "b.n BIGINT"},
        {1: "c.y BIGINT"},
    ]


def test_two_inputs_have_the_same_variables_in_the_same_order() -> None:
    text = "SELECT COUNT(*) AS n FROM a [5], b [5] WHERE b.k = a.l AND a.s = b.s AND b.x = a.x"
    a, b = bind(parse_query(text), CATALOG).inputs
    assert a.variables == b.variables == (0, 1, 2)
    assert [key.type for key in a.keys] == [key.type for key in b.keys]


def test_integers_of_all_widths_meet_in_the_widest() -> None:
    plan = plan_of("a.k = c.k AND a.k = b.k")
    assert keys_of(plan) == [{0: "a.k BIGINT"}, {0: "b.k BIGINT"}, {0: "c.k BIGINT"}]


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("a.d = b.d AND b.d = c.ts", "TIMESTAMP"),
        ("a.k = b.x AND a.k = c.x", "DOUBLE"),
        ("a.x = b.x AND c.x = a.x", "DOUBLE"),
        ("a.p = b.p AND a.p = c.p", "DECIMAL(12, 4)"),
        ("c.k = b.p AND a.p = c.k", "DECIMAL(12, 4)"),
        ("a.k = b.p AND a.k = c.k", "DECIMAL(14, 4)"),
    ],
)
def test_what_no_conversion_confuses_is_one_variable(where: str, kind: str) -> None:
    plan = plan_of(where)
    assert [entry.variables for entry in plan.inputs] == [(0,), (0,), (0,)]
    assert {str(entry.keys[0].type) for entry in plan.inputs} == {kind}


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        # BIGINT is rounded to meet a DOUBLE: two of them may equal one double and not each other.
        (
            "a.l = b.x AND a.l = c.y",
            [{0: "a.l DOUBLE", 1: "a.l BIGINT"}, {0: "b.x DOUBLE"}, {1: "c.y BIGINT"}],
        ),
        (
            "a.k = b.x AND a.k = c.y",
            [{0: "a.k DOUBLE", 1: "a.k BIGINT"}, {0: "b.x DOUBLE"}, {1: "c.y BIGINT"}],
        ),
        (
            "a.p = b.x AND a.p = c.p",
            [
                {0: "a.p DOUBLE", 1: "a.p DECIMAL(10, 2)"},
                {0: "b.x DOUBLE"},
                {1: "c.p DECIMAL(10, 2)"},
            ],
        ),
    ],
)
def test_rounding_is_not_transitive(where: str, keys: list[dict[int, str]]) -> None:
    assert keys_of(plan_of(where)) == keys


def test_of_two_expressions_of_one_input_one_is_the_key() -> None:
    plan = plan_of("a.k = b.k AND a.l = b.k AND b.k = c.y")
    assert keys_of(plan)[0] == {0: "a.k BIGINT"}
    assert filters_of(plan) == ["a.k = a.l", None, None]


def test_expressions_of_one_input_can_be_keys() -> None:
    plan = plan_of("a.k + 1 = b.k * 2 AND upper(a.s) = c.s")
    assert keys_of(plan) == [
        {0: "a.k + 1 BIGINT", 1: "UPPER(a.s) STRING"},
        {0: "b.k * 2 BIGINT"},
        {1: "c.s STRING"},
    ]


@pytest.mark.parametrize(
    "condition",
    [
        "a.x > b.x",
        "a.ts < b.ts",
        "a.k + b.k = c.y",
        "a.k = b.k + a.l",
        "a.s = 'x' OR b.s = 'y'",
        "a.s <=> b.s",
        "NOT (a.s = b.s)",
        "a.x - b.x < 1.0 AND b.n > c.y",
    ],
)
def test_other_comparisons_of_inputs_are_kept_for_the_joined_rows(condition: str) -> None:
    plan = plan_of(f"a.s = c.s AND a.x > 0 AND ({condition})")
    assert plan.residual is not None
    assert show(plan.residual, plan) == condition
    assert keys_of(plan) == [{0: "a.s STRING"}, {}, {0: "c.s STRING"}]
    assert filters_of(plan) == ["a.x > 0.0", None, None]


def test_within_one_input_any_digits_are_compared() -> None:
    plan = plan_of("(a.p < a.l OR b.x > 1) AND a.p < a.l")
    assert filters_of(plan) == ["a.p < a.l", None, None]


def test_a_join_without_any_equality() -> None:
    plan = plan_of("")
    assert keys_of(plan) == [{}, {}, {}]
    assert plan.residual is None


def test_six_windows() -> None:
    inputs = ", ".join(f"a [5] AS t{i}" for i in range(6))
    links = " AND ".join(f"t{i}.k = t{i + 1}.k" for i in range(5))
    plan = bind(parse_query(f"SELECT COUNT(*) AS n FROM {inputs} WHERE {links}"), CATALOG)
    assert [entry.variables for entry in plan.inputs] == [(0,)] * 6


def test_groups_know_their_join_variable() -> None:
    plan = plan_of(
        "a.s = b.s AND b.k = c.y AND a.l = b.k",
        tail="GROUP BY c.s, b.s, c.y, a.l, a.k, a.x + b.x, 'x', CAST(c.y AS INT)",
    )
    assert plan.group_keys == (None, 0, 1, 1, None, None, None, None)
    assert plan.group_sources == (2, 1, 2, 0, 0, SEVERAL, None, 2)


def test_a_group_that_equals_a_second_expression_of_the_variable() -> None:
    plan = plan_of("a.x = b.x AND b.x = a.x + 1", tail="GROUP BY a.x + 1, a.x")
    assert plan.group_keys == (0, 0)


def test_plans_of_joins_go_through_json() -> None:
    plan = plan_of(
        "a.s = b.s AND b.k = c.y AND a.x > c.x",
        "a.x + b.x AS g, SUM(a.x * b.x - c.y) AS m, COUNT(DISTINCT a.s) AS d, STDDEV(a.x) AS v",
        "GROUP BY a.x + b.x",
    )
    assert plan.aggregates[0].terms
    assert plan_from_json(plan_to_json(plan)) == plan


def test_fingerprints_tell_joins_apart_but_not_algorithms() -> None:
    texts = [
        f"SELECT COUNT(*) AS n {FROM} WHERE a.s = b.s AND b.s = c.s",
        f"SELECT COUNT(*) AS n {FROM} WHERE a.s = b.s AND b.n = c.y",
        f"SELECT COUNT(*) AS n {FROM} WHERE a.s = b.s AND b.s = c.s AND a.x > b.x",
        f"SELECT COUNT(DISTINCT a.k) AS n {FROM} WHERE a.s = b.s AND b.s = c.s",
    ]
    prints = {fingerprint(bind(parse_query(text), CATALOG)) for text in texts}
    assert len(prints) == len(texts)
    select = parse_query(texts[0])
    asked = {fingerprint(bind(select, CATALOG, name)) for name in ("auto", "charged", "pipelined")}
    assert asked == {fingerprint(bind(select, CATALOG))}
