"""Queries that are trees give what DuckDB says, at every instant, however rows come."""

from __future__ import annotations

import random

import pytest

from support.runners import exactly
from support.tree_forms import TREE_FORMS, WINDOW_FORMS
from support.tree_queries import random_tree
from support.tree_rows import other_cuts, row_by_row, tree_actions
from support.tree_runs import Told, assert_tree_is_right, session_run, shard_run

FORMS = [*TREE_FORMS, *WINDOW_FORMS]


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
