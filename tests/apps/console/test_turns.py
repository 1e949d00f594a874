"""Level C as the console tells of it: real windows that take turns under a real budget."""

from __future__ import annotations

import pytest

from support.small_registry import client_of
from support.turning_session import RATE, SECOND_US, START_US, STREAMS, TurningSession


@pytest.fixture(scope="module")
def turning() -> TurningSession:
    """The windows take turns, and have done so for a while."""
    turning = TurningSession()
    turning.play(320)
    return turning


def test_windows_are_told_as_wide_as_they_are_in_their_turns(turning: TurningSession) -> None:
    widest: dict[str, int] = {}
    for _ in range(60):  # twice the time between two turns
        turning.play(2)
        turning.registry.collect()
        # A client of its own has no picture of a moment ago.
        for window in client_of(turning.registry).get("/api/v1/windows").json()["windows"]:
            assert window["turns"], window
            assert window["narrow_us"] <= window["width_us"] <= window["wanted_us"]
            # It holds no rows that are older than it is wide; one that was just made wider, fewer.
            assert window["rows"] / RATE <= window["width_us"] / SECOND_US + 1.5
            widest[window["window"]] = max(widest.get(window["window"], 0), window["width_us"])
            in_turn = any(
                turn["wide"] and turn["from_us"] < window["at_us"] <= turn["to_us"]
                for turn in window["turns"]
            )
            assert in_turn == (window["width_us"] > window["narrow_us"])
    assert set(widest) == set(STREAMS)
    assert min(widest.values()) > 97 * SECOND_US


def test_the_instant_of_a_width_is_that_of_its_reader(turning: TurningSession) -> None:
    windows = client_of(turning.registry).get("/api/v1/windows").json()["windows"]
    now_us = START_US + turning.seconds * SECOND_US
    assert all(now_us - 2 * SECOND_US < each["at_us"] <= now_us for each in windows)
