"""A running query measures, changes its algorithm where that pays, and no answer shows it."""

from __future__ import annotations

import pytest

from support.oracle import rows_of
from support.runners import Model, ShardRunner
from support.streams import Action, Heartbeat, Push, instant, plan_of
from windrow.runtime import choosing

TEXT = (
    "SELECT COUNT(*) AS n, SUM(b.k) AS t FROM a [ROWS 400], b [1 SECOND] "
    "WHERE a.o = b.o AND a.k < b.k"
)


@pytest.fixture(autouse=True)
def decisions_come_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "ROWS_BETWEEN", 20)


def burst(stream: str, start_us: int, rows: int) -> list[Action]:
    """Rows of one stream, 2 ms apart; both streams are complete after them."""
    pushed = tuple(
        {"ts": instant(start_us + i * 2_000), "k": i % 5, "o": True} for i in range(rows)
    )
    end_us = start_us + rows * 2_000
    return [Push(stream, pushed), Heartbeat("a", end_us), Heartbeat("b", end_us)]


def rates_that_move() -> list[Action]:
    """First rows of b above all, then rows of a, then rows of b again."""
    actions: list[Action] = []
    now_us = 0
    for stream in "babbbaaaaaabbbbbb":
        other = "a" if stream == "b" else "b"
        actions += burst(other, now_us, 2) + burst(stream, now_us + 6_000, 400)
        now_us += 1_000_000
    return actions


def run(algorithm: str) -> tuple[list[object], list[str]]:
    plan = plan_of(TEXT, algorithm)
    runner, model = ShardRunner(plan), Model()
    used = []
    for action in rates_that_move():
        runner.step(model.take(action), model.clock(plan))
        used.append(runner.shards[0].algorithm)
    publisher = runner.publisher
    given = [rows_of(publisher.answers()), rows_of(publisher.changes())]
    return [*given, rows_of(publisher.result())], list(dict.fromkeys(used))


def test_the_algorithm_follows_the_rates_and_no_answer_changes() -> None:
    answers, used = run("auto")
    # Rows of a leave a window that counts, where charging has to look for joined rows again.
    assert set(used) == {"charged", "incremental"}
    assert answers[0]
    for algorithm in ("charged", "incremental", "pipelined"):
        assert run(algorithm) == (answers, [algorithm])


def test_figures_are_measured() -> None:
    plan = plan_of(TEXT)
    runner, model = ShardRunner(plan), Model()
    shard = runner.shards[0]
    assert shard.figures().origin == "assumed"
    for action in rates_that_move():
        runner.step(model.take(action), model.clock(plan))
    figures = shard.figures()
    assert figures.origin == "measured"
    assert figures.held == (400.0, 400.0)
    # In the last seconds two rows of a and four hundred of b.
    assert figures.rates[1] > 100 * figures.rates[0]
    # Of all combinations of k from 0 to 4, ten of 25 are in order.
    assert figures.kept == pytest.approx(0.4, abs=0.05)
    assert figures.matches == pytest.approx(400, rel=0.1)


@pytest.mark.parametrize("algorithm", ["auto", "factorised"])
def test_a_product_with_infinities_is_charged_while_they_stay(algorithm: str) -> None:
    text = "SELECT SUM(a.d * b.d) AS s FROM a [1 SECOND], b [1 SECOND] WHERE a.o = b.o"
    plan = plan_of(text, algorithm)
    runner, model = ShardRunner(plan), Model()
    used = []
    for second, value in enumerate([2.0, float("inf"), 3.0, 4.0, 5.0, 6.0]):
        for stream in "ab":
            rows = tuple(
                {"ts": instant(second * 2_000_000 + i), "o": True, "d": value} for i in range(15)
            )
            runner.step(model.take(Push(stream, rows)), model.clock(plan))
        for stream in "ab":
            beat = Heartbeat(stream, second * 2_000_000 + 100)
            runner.step(model.take(beat), model.clock(plan))
        used.append(runner.shards[0].algorithm)
        (row,) = runner.publisher.result().to_pylist()
        assert row["s"] == 225 * value * value
    assert used[:2] == ["factorised", "charged"]
    assert used[-1] == "factorised"
