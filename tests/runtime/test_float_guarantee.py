"""Sums stay right after infinities, NaN, 1e16 and 1e300 have passed through the window and left."""

from __future__ import annotations

import math
import random

import pytest

from support.oracle import Oracle, assert_same_rows, exact_sum, rows_of, same_value
from support.runners import Model, ShardRunner, grouped, play
from support.streams import SECOND_US, Push, instant, plan_of

OUTLIERS = [math.inf, -math.inf, math.nan, 1e16, 1e300, -1e300, 1.7e308, 5e-324, -0.0]


@pytest.mark.parametrize("outlier", OUTLIERS, ids=repr)
@pytest.mark.parametrize("window", ["3 SECONDS", "ROWS 3", "RANGE 3 SECONDS SLIDE 1 SECOND"])
def test_an_outlier_leaves_no_trace(outlier: float, window: str) -> None:
    plan = plan_of(f"SELECT SUM(a.d) AS total, AVG(a.d) AS mean, COUNT(*) AS n FROM a [{window}]")
    values = [0.1, 0.2, outlier, 0.3, 1e-9, 0.7, outlier, outlier, 0.1, 0.1, 0.1, 0.1, 0.1]
    rows = [{"ts": instant(i * SECOND_US), "d": value} for i, value in enumerate(values)]
    runner, _ = play(plan, [Push("a", (row,)) for row in rows])
    answers = grouped(rows_of(runner.publisher.answers().drop_columns(["level", "error_bound"])))
    assert len(answers) == len(values)
    for number, ((total, mean, count),) in enumerate(answers.values()):
        held = values[number + 1 - count : number + 1]
        wanted = exact_sum(held)
        assert same_value(total, wanted), (number, held)
        assert same_value(mean, wanted / count)
    assert answers[(len(values) - 1) * SECOND_US][0][0] == math.fsum([0.1] * count)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_join_of_wild_sums(seed: int) -> None:
    plan = plan_of(
        "SELECT a.k AS k, SUM(a.d) AS left_sum, SUM(b.d) AS right_sum, AVG(b.d) AS mean "
        "FROM a [4 SECONDS], b [2 SECONDS] WHERE a.k = b.k GROUP BY a.k"
    )
    chance = random.Random(seed)
    actions = []
    for number in range(300):
        value = chance.choice(OUTLIERS) if chance.random() < 0.05 else chance.uniform(-1, 1)
        row = {"ts": instant(number * 100_000), "k": chance.randrange(3), "d": value}
        actions.append(Push(chance.choice("ab"), (row,)))
    runner, model = play(plan, actions)
    answers = grouped(rows_of(runner.publisher.answers().drop_columns(["level", "error_bound"])))
    sample = sorted(answers)[::7]
    wanted = Oracle(plan).answers(model.rows(), sample)
    for at in sample:
        assert_same_rows(answers[at], wanted[at], at)


LARGE = 2**62
WIDENING = [1, -3, None, 2, LARGE, -LARGE, LARGE, -5, None, -LARGE, 7, 7, 2**63 - 1, -(2**63), 3]
EXPONENTS = [1.0, 0.5, None, 1e16, 3.0, 5e-324, 1e300, -1e300, 1.0, math.inf, 2.0, 1e-200, 0.0]


@pytest.mark.parametrize("column", ["l", "d"])
@pytest.mark.parametrize("window", ["2 SECONDS", "ROWS 2"])
def test_layouts_widen_in_mid_stream(column: str, window: str) -> None:
    plan = plan_of(
        f"SELECT SUM(a.{column}) AS total, AVG(a.{column}) AS mean, COUNT(a.{column}) AS n, "
        f"SUM(b.l) AS other FROM a [{window}], b [ROWS 1] WHERE a.k = b.k"
    )
    values = WIDENING if column == "l" else EXPONENTS
    actions = [Push("b", ({"ts": instant(0), "k": 1, "l": 3},))]
    for i, value in enumerate(values):
        row = {"ts": instant((i + 1) * SECOND_US), "k": 1, column: value}
        actions.append(Push("a", (row,)))
        actions.append(Push("b", ({"ts": instant((i + 1) * SECOND_US), "k": 1, "l": i},)))
    runner, model = ShardRunner(plan), Model()
    for action in actions:
        batches = model.take(action)
        runner.step(batches, model.clock(plan))
        fresh = ShardRunner(plan)
        fresh.step(model.rows_as_batches(), model.clock(plan))
        kept, anew = (each.publisher.result() for each in (runner, fresh))
        assert repr(rows_of(kept)) == repr(rows_of(anew))
