"""Queries come and go while windows take turns: none waits longer than the delay it tolerates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.calm_play import CalmPlay
from windrow.governor.calm_turns import calm_turns
from windrow.governor.figures import WindowFigures
from windrow.governor.running import follow_on
from windrow.governor.tables import Demand, Turn, WidthGiven

Row = tuple[int, int, int, int]

rows = st.tuples(
    st.integers(0, 3),
    st.integers(1, 40),
    st.integers(0, 15),
    st.sampled_from([0, 3, 8, 13, 21, 34]),
)
events = st.lists(
    st.tuples(st.integers(0, 25), st.one_of(rows, rows, st.integers(0, 9))), min_size=4, max_size=14
)


def play_of(budget: float, told: list[tuple[int, Row | int]]) -> CalmPlay:
    play = CalmPlay({"w0": 1.0, "w1": 2.0, "w2": 1.0, "w3": 3.0}, budget)
    for number, (pause_us, event) in enumerate(told):
        play.go_on(pause_us)
        if isinstance(event, int):
            play.end(event)
        else:
            place, range_us, tolerance_us, delay_us = event
            tolerance_us = min(range_us, tolerance_us)
            play.start(Demand(f"q{number}", f"w{place}", range_us, tolerance_us, delay_us))
    play.go_on(80)
    return play


@given(st.integers(20, 160), events)
def test_no_query_waits_longer_than_its_delay(
    budget: int, told: list[tuple[int, Row | int]]
) -> None:
    play = play_of(budget, told)
    assert play.waits == []
    assert play.excess <= 1e-6


def random_play(seed: int, count: int = 40) -> CalmPlay:
    """Queries on one window are alike; there is a little less memory than all of them ask for."""
    random = np.random.default_rng(seed)
    rates = {f"w{place}": float(random.integers(1, 9)) for place in range(6)}
    usual = {name: int(random.integers(20, 50)) for name in rates}
    whole = sum(rates[name] * (usual[name] + 12) for name in rates)
    play = CalmPlay(rates, whole * float(random.uniform(0.75, 0.95)))
    for number in range(count):
        play.go_on(int(random.integers(0, 40)))
        if number > 12 and random.random() < 0.4:
            play.end(int(random.integers(0, 99)))
            continue
        window = f"w{int(random.integers(0, 6))}"
        range_us = usual[window] + int(random.integers(0, 14))
        tolerance_us, delay_us = int(random.integers(0, 4)), int(random.choice([0, 20, 40, 60]))
        play.start(Demand(f"q{number}", window, range_us, tolerance_us, delay_us))
    play.go_on(120)
    return play


def check(plays: list[CalmPlay]) -> None:
    assert [play.waits for play in plays if play.waits] == []
    assert max(play.excess for play in plays) <= 1e-6
    decided = [case for play in plays for case in play.cases]
    assert decided.count("C") > len(decided) / 10
    # What fits, but not without making another query wait, is rare.
    assert sum(play.late for play in plays) < 0.01 * len(decided)


def test_many_queries_come_and_go() -> None:
    check([random_play(seed) for seed in range(20)])


@pytest.mark.slow
def test_very_many_queries_come_and_go() -> None:
    check([random_play(seed, count=60) for seed in range(20, 1_000)])


def figures(name: str, growth_us: int, period_us: int) -> WindowFigures:
    return WindowFigures(name, 1.0, 50, 50, period_us, growth_us, name)


def test_turns_that_run_end_when_they_would_have_and_others_have_the_gaps() -> None:
    asked = [Demand(name, name, 50, 0, 20) for name in "ab"]
    widths = [WidthGiven("a", 44, Turn(0, 20, 3, 6)), WidthGiven("b", 45, Turn(0, 20, 12, 5))]
    wide = [WidthGiven(name, 50) for name in "ab"]
    running = follow_on(follow_on({}, wide, asked, -90), widths, asked, 0)
    group = [figures("a", 6, 20), figures("b", 5, 20), figures("c", 6, 30)]
    found = calm_turns([group], [], asked, running, at_us=54)
    assert found.late_us == 0
    assert {name: turn.start_us % 20 for name, turn in found.turns.items()} == {
        "a": 3, "b": 12, "c": 17
    }  # fmt: skip


def test_a_change_that_makes_a_query_wait_says_for_how_long() -> None:
    asked = [Demand(name, name, 50, 0, 20) for name in "ab"]
    alone = [WidthGiven("a", 40, Turn(0, 20, 0, 10)), WidthGiven("b", 40, Turn(1, 20, 0, 10))]
    wide = [WidthGiven(name, 50) for name in "ab"]
    running = follow_on(follow_on({}, wide, asked, -90), alone, asked, 0)
    # Both grow, both have to end by 30: only one can.
    group = [figures("a", 10, 20), figures("b", 10, 20)]
    assert calm_turns([group], [], asked, running, at_us=25).late_us == 10
