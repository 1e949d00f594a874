"""Answers as a stream through a window, against which ticks the window holds at each instant."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import (
    LAST_INSTANT,
    Change,
    Held,
    changing,
    held_at,
    in_columns,
    outcome,
    relation,
)
from windrow.operators.relations import answer_window
from windrow.operators.relations.answer_window import AnswerWindowOperator
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import AnswerWindow, Field
from windrow.rows.prepare import lifetime_of
from windrow.schema import TIMESTAMP

ROWS = relation("t", "k int, s string")
TIME = Field("at", "at", TIMESTAMP)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WINDOWS = {
    "7 microseconds": WindowSpec("time", length_us=7),
    "sliding": WindowSpec("slide", length_us=12, slide_us=4),
    "unbounded": WindowSpec("unbounded"),
}


def slow(changes: list[Change], node: AnswerWindow, first: int, instant: int) -> Held:
    held: Held = Counter()
    lifetime = lifetime_of(node.window)
    for tick in range(0, instant + 1):
        enter, leave = (int(f(np.array([tick]))[0]) for f in (lifetime.enter, lifetime.leave))
        if tick % node.every_us == 0 and tick >= first and enter <= instant < leave:
            for row, count in held_at(changes, tick).items():
                held[EPOCH + timedelta(microseconds=tick), *row] += count
    return held


@pytest.mark.parametrize("window", WINDOWS)
@given(
    inputs=changing(ROWS),
    every=st.integers(1, 6),
    first=st.integers(0, 12),
    cuts=st.lists(st.integers(0, LAST_INSTANT), unique=True).map(sorted),
)
def test_answers_in_a_window(
    window: str, inputs: tuple[list[Change]], every: int, first: int, cuts: list[int]
) -> None:
    node = AnswerWindow(ROWS, every, WINDOWS[window], TIME)
    operator = AnswerWindowOperator(node)
    operator.begin(first)
    found = outcome(operator, node, inputs, cuts)
    for instant in range(LAST_INSTANT):
        assert held_at(found, instant) == slow(inputs[0], node, first, instant)


def test_nothing_is_answered_before_the_first_row() -> None:
    node = AnswerWindow(ROWS, 2, WINDOWS["unbounded"], TIME)
    operator = AnswerWindowOperator(node)
    assert operator.advance([in_columns([Change(1, 1, (1, "x"))], ROWS)], 5).size == 0
    operator.begin(4)
    assert operator.advance([in_columns([], ROWS)], 8).at.tolist() == [6, 8]


def test_a_long_step_answers_at_its_newest_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_window, "TICKS_LIMIT", 3)
    node = AnswerWindow(ROWS, 2, WINDOWS["unbounded"], TIME)
    operator = AnswerWindowOperator(node)
    operator.begin(0)
    changes = in_columns([Change(1, 1, (1, "x"))], ROWS)
    assert operator.advance([changes], 2**50).at.tolist() == [2**50 - 4, 2**50 - 2, 2**50]


def test_answers_that_left_are_forgotten() -> None:
    node = AnswerWindow(ROWS, 1, WINDOWS["7 microseconds"], TIME)
    operator = AnswerWindowOperator(node)
    operator.begin(0)
    sizes = []
    for step in range(200):
        row = (step, f"text {step}")
        changes = [Change(2 * step, 1, row), Change(2 * step + 1, -1, row)]
        operator.advance([in_columns(changes, ROWS)], 2 * step + 1)
        sizes.append(operator.nbytes)
    assert sizes[-1] <= 2 * sizes[20]
