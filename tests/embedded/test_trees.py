"""Queries that are trees give what DuckDB says, at every instant, however rows come."""

from __future__ import annotations

import random

import pytest

from support.runners import exactly
from support.tree_forms import CLOSING_FORMS, TREE_FORMS, WINDOW_FORMS
from support.tree_queries import random_relation, random_tree
from support.tree_rows import other_cuts, row_by_row, tree_actions
from support.tree_runs import Told, assert_tree_is_right, session_run, shard_run

FORMS = [*TREE_FORMS, *WINDOW_FORMS, *CLOSING_FORMS]


def check(text: str, seed: int, rows: int) -> None:
    """Right in one run; the same in others that cut the rows differently or start anew."""
    actions = tree_actions(seed, rows)
    told = session_run(text, actions)
    assert_tree_is_right(text, actions, told)
    same = all_of(told)
    assert all_of(session_run(text, row_by_row(actions))) == same, "row by row"
    assert all_of(session_run(text, other_cuts(actions, seed))) == same, "other cuts"


def check_restarts(text: str, seed: int, rows: int) -> None:
    """A tree that is saved and restored goes on as if it had not been."""
    actions = tree_actions(seed, rows)
    some = random.Random(seed).sample(range(len(actions)), min(4, len(actions)))
    restarted = shard_run(text, actions, frozenset(some))
    assert all_of(restarted) == all_of(shard_run(text, actions))


def all_of(told: Told) -> list[list[str]]:
    """All that was told, exactly; those of one instant in any order."""
    answers, changes, result = map(exactly, told)
    return [sorted(answers), sorted(changes), sorted(result)]


@pytest.mark.parametrize("number", range(len(FORMS)))
def test_a_form(number: int) -> None:
    check(FORMS[number], seed=number, rows=16)


@pytest.mark.parametrize("number", range(0, len(FORMS), 3))
def test_a_form_restarted(number: int) -> None:
    check_restarts(FORMS[number], seed=number, rows=16)


@pytest.mark.parametrize("seed", range(12))
def test_a_random_tree(seed: int) -> None:
    check(random_tree(seed, depth=2), seed, rows=16)
    check_restarts(random_tree(seed, depth=2), seed, rows=16)


# Of any relation R: what is the same in two branches is so at every instant.
SAME = (
    "SELECT (SELECT COUNT(*) FROM ({0}) AS x) - (SELECT COUNT(*) FROM ({0}) AS y) AS n",
    "WITH t AS (SELECT COUNT(*) AS n FROM ({0}) AS r)"
    " SELECT x.n - y.n AS n FROM t AS x CROSS JOIN t AS y",
    "SELECT 2 * (SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM ({0}) AS x) AS v)"
    " - (SELECT COUNT(*) FROM (SELECT 1 AS c FROM ({0}) AS y UNION ALL"
    " SELECT 1 AS c FROM ({0}) AS z) AS u) AS n",
)


def check_no_glitch(form: str, seed: int) -> None:
    """Nothing but 0 is ever told."""
    text = form.format(random_relation(seed))
    answers, changes, result = session_run(text, tree_actions(seed, rows=20))
    for table in (answers, changes, result):
        assert set(table["n"].to_pylist()) <= {0}, text
    assert changes.num_rows == 1, text


@pytest.mark.parametrize("seed", range(200, 205))
@pytest.mark.parametrize("form", SAME)
def test_branches_agree_at_every_instant(form: str, seed: int) -> None:
    check_no_glitch(form, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1200, 1260))
@pytest.mark.parametrize("form", SAME)
def test_branches_of_many_relations_agree(form: str, seed: int) -> None:
    check_no_glitch(form, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 103))
@pytest.mark.parametrize("number", range(len(FORMS)))
def test_a_form_over_many_rows(number: int, seed: int) -> None:
    check(FORMS[number], seed, rows=60)
    check_restarts(FORMS[number], seed, rows=60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_a_deep_tree(seed: int) -> None:
    check(random_tree(seed, depth=4), seed, rows=30)
    check_restarts(random_tree(seed, depth=4), seed, rows=30)
