"""Every form of query that is a tree in Spark's buckets without Spark, against one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.form_runners import Given
from support.runners import exactly
from support.spark.driven_trees import driven_run
from support.tree_forms import CLOSING_FORMS, TREE_FORMS, WINDOW_FORMS
from support.tree_queries import random_tree
from support.tree_rows import tree_actions
from support.tree_runs import Told, session_run

FORMS = [*TREE_FORMS, *WINDOW_FORMS, *CLOSING_FORMS]


def check(text: str, seed: int, folder: Path, rows: int = 16) -> None:
    """The same as in process, in three buckets where it may be, with lost shards and restarts."""
    actions = tree_actions(seed, rows)
    twin = all_of(session_run(text, actions))
    assert all_of(driven_run(text, actions, folder / "broken", seed, buckets=3)) == twin


def check_in_one(text: str, seed: int, folder: Path, rows: int) -> None:
    """The same in one bucket and one run."""
    actions = tree_actions(seed, rows)
    twin = all_of(session_run(text, actions))
    assert all_of(driven_run(text, actions, folder / "whole")) == twin


def all_of(told: Told | Given) -> list[list[str]]:
    """All that was told, exactly; answers and changes of one instant in any order."""
    answers, changes, result = map(exactly, told)
    return [sorted(answers), sorted(changes), result]


@pytest.mark.parametrize("number", range(len(FORMS)))
def test_a_form(number: int, tmp_path: Path) -> None:
    check(FORMS[number], number, tmp_path)


@pytest.mark.parametrize("number", range(0, len(FORMS), 8))
def test_a_form_in_one_bucket(number: int, tmp_path: Path) -> None:
    check_in_one(FORMS[number], number, tmp_path, rows=16)


@pytest.mark.parametrize("seed", range(40, 52))
def test_a_random_tree(seed: int, tmp_path: Path) -> None:
    check(random_tree(seed, depth=2), seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2200))
def test_a_deep_tree(seed: int, tmp_path: Path) -> None:
    check(random_tree(seed, depth=3), seed, tmp_path, rows=30)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(FORMS)))
def test_a_form_over_many_rows(number: int, tmp_path: Path) -> None:
    check(FORMS[number], 300 + number, tmp_path, rows=60)
    check_in_one(FORMS[number], 300 + number, tmp_path, rows=60)
