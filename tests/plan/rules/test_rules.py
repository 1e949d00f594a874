"""Every rule keeps the meaning of a plan: DuckDB says the same before it and after it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.join_texts import small_scenarios
from support.live_texts import general_negations, general_selects
from support.oracle import Oracle, assert_same_rows
from support.runners import Model, play
from support.streams import CATALOG, CONDITIONS, Action
from windrow.plan.binder import bind
from windrow.plan.model import QueryPlan
from windrow.plan.rules.drop_repeated_conditions import drop_repeated_conditions
from windrow.plan.rules.drop_true_conditions import drop_true_conditions
from windrow.plan.rules.pipeline import RULES, Rule, rewritten
from windrow.plan.rules.separate_sums import separate_sums
from windrow.plan.show import show
from windrow.sql import parse_query

CONSTANTS = (
    *("1 = 1", "TRUE", "2 > 1", "'a' < 'b'", "NOT FALSE", "1.5 >= 1.50", "(1 = 0 OR 2 = 2)"),
    *(
        "1 = 0",
        "FALSE",
        "NULL",
        "1 = NULL",
        "NOT (1 = 1)",
        "1e0 = 1",
        "DATE '2026-01-01' <> '2026-01-02'",
    ),
)
WRITTEN = "SELECT {0} FROM a [3 SECONDS], b [ROWS 3] WHERE a.k = b.k AND {1}"


def before(text: str) -> QueryPlan:
    return bind(parse_query(text), CATALOG, rules=())


def keeps_its_meaning(text: str, actions: list[Action], rules: tuple[Rule, ...]) -> None:
    bound = before(text)
    model = Model()
    for action in actions:
        model.take(action)
    rows, clock = model.rows(), model.last(bound)
    instants = Oracle(bound).change_instants(rows, clock)
    wanted = Oracle(bound).answers(rows, instants)
    found = Oracle(rewritten(bound, rules)).answers(rows, instants)
    for at in instants:
        assert_same_rows(found[at], wanted[at], f"{text} at {at}")


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """Some that are constant, some that are there twice, in any order."""
    own = draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=3))
    parts = [part.format(draw(st.sampled_from("ab"))) for part in own]
    parts += draw(st.lists(st.sampled_from([*CONSTANTS, *parts]), min_size=1, max_size=3))
    return " AND ".join(draw(st.permutations(parts)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@given(where=conditions(), actions=small_scenarios())
def test_conditions_keep_their_meaning(rule: Rule, where: str, actions: list[Action]) -> None:
    keeps_its_meaning(WRITTEN.format("a.s, b.k, a.d", where), actions, (rule,))


@given(text=general_selects() | general_negations(), actions=small_scenarios())
def test_all_rules_together_keep_the_meaning(text: str, actions: list[Action]) -> None:
    keeps_its_meaning(text, actions, RULES)


SUMS = (
    "a.k * b.k",
    "a.k + b.l",
    "2 * a.l - b.k * a.k",
    "a.p - b.p",
    "-(a.k - b.l)",
    "TRY_MOD(a.k, b.l)",
)


@pytest.mark.parametrize("argument", SUMS)
@given(actions=small_scenarios())
def test_separated_sums_keep_their_value(argument: str, actions: list[Action]) -> None:
    text = (
        WRITTEN.format(
            f"a.s AS s, SUM({argument}) AS t", "a.l BETWEEN -9 AND 9 AND b.l BETWEEN -9 AND 9"
        )
        + " GROUP BY a.s"
    )
    keeps_its_meaning(text, actions, (separate_sums,))


@given(where=conditions(), actions=small_scenarios())
def test_the_engine_runs_what_was_written(where: str, actions: list[Action]) -> None:
    bound = before(WRITTEN.format("COUNT(*) AS n", where))
    runner, model = play(rewritten(bound), actions)
    clock = model.last(bound)
    wanted = Oracle(bound).answer_at(model.rows(), clock)
    assert_same_rows([tuple(row.values()) for row in runner.publisher.result().to_pylist()], wanted)


@pytest.mark.parametrize("constant", CONSTANTS)
def test_which_constants_are_left_out(constant: str) -> None:
    plan = drop_true_conditions(before(f"SELECT k FROM a [1 SECOND] WHERE {constant} AND k > 1"))
    (entry,) = plan.inputs
    is_true = CONSTANTS.index(constant) < CONSTANTS.index("1 = 0") or "<>" in constant
    assert entry.filter is not None
    assert (show(entry.filter, plan) == "a.k > 1") is is_true


def test_a_condition_of_nothing_but_truth_is_none() -> None:
    plan = bind(
        parse_query("SELECT COUNT(*) AS n FROM a [1 SECOND] WHERE TRUE HAVING 1 = 1"), CATALOG
    )
    assert (plan.inputs[0].filter, plan.having) == (None, None)


def test_what_may_raise_an_error_stays() -> None:
    plan = before("SELECT k FROM a [1 SECOND] WHERE TRUE OR CAST(s AS INT) = 1")
    assert drop_true_conditions(plan) == plan


def test_a_repeated_condition_is_tested_once() -> None:
    where = "k > 1 AND d < 2 AND k > 1 AND k BETWEEN 0 AND 9 AND k <= 9"
    plan = drop_repeated_conditions(before(f"SELECT k FROM a [1 SECOND] WHERE {where}"))
    assert plan.inputs[0].filter is not None
    shown = show(plan.inputs[0].filter, plan)
    assert shown == "a.k > 1 AND a.d < 2.0 AND a.k >= 0 AND a.k <= 9"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_plan_with_nothing_to_do_stays_as_it_is(rule: Rule) -> None:
    plan = before("SELECT SUM(k) AS s FROM a [1 SECOND] WHERE k > 1 AND d BETWEEN 0 AND 1")
    assert rule(plan) == plan
