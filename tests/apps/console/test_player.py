"""Rows at a pace, by a clock that the test moves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from windrow.errors import WindrowError
from windrow.jobs import player
from windrow.jobs.player import BEHIND_S, Piece, Player

ROWS = pa.table({"n": [1]})


class Clock(threading.Event):
    """Time passes only while somebody waits, or when it is said to."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s

    def wait(self, timeout: float | None = None) -> bool:
        self.now_s += timeout or 0.0
        return self.is_set()


def played(monkeypatch: pytest.MonkeyPatch, held_up: Callable[[int], float]) -> list[float]:
    """When each of six pieces, a minute apart at sixty times the pace of time, was taken."""
    clock = Clock()
    taken: list[float] = []
    monkeypatch.setattr(player, "time", clock)

    def take(stream: str, rows: pa.Table) -> None:
        assert (stream, rows) == ("s", ROWS)
        taken.append(clock.now_s - 100)
        clock.now_s += held_up(len(taken))

    pieces = [Piece(minute * 60_000_000, {"s": ROWS}) for minute in range(6)]
    ended: list[bool] = []
    one = Player(pieces, take, lambda: ended.append(True), pytest.fail, 60.0, stopping=clock)
    one._run()
    assert ended == [True]
    return taken


def test_pieces_come_when_their_time_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(monkeypatch, lambda _: 0.0) == [0, 1, 2, 3, 4, 5]


def test_one_that_is_slow_for_a_moment_catches_up(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = played(monkeypatch, lambda count: 1.5 if count == 2 else 0.0)
    assert slow == [0, 1, 2.5, 3, 4, 5]


def test_a_long_stop_is_not_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = played(monkeypatch, lambda count: 60.0 if count == 2 else 0.0)
    back = 1 + 60
    due = back - BEHIND_S
    assert taken == [0, 1, back, max(back, due + 1), due + 2, due + 3]


def test_a_fault_is_told_and_does_not_end_the_rows(caplog: pytest.LogCaptureFixture) -> None:
    told: list[WindrowError] = []
    taken: list[str] = []

    def take(stream: str, _rows: pa.Table) -> None:
        taken.append(stream)
        if stream == "a":
            raise ZeroDivisionError("a fault")

    pieces = [Piece(None, {"a": ROWS}), Piece(None, {"b": ROWS})]
    Player(pieces, take, lambda: taken.append("end"), told.append)._run()
    assert taken == ["a", "b", "end"]
    assert [(each.code, "ZeroDivisionError" in each.message) for each in told] == [("WX501", True)]
    assert "an error while rows were replayed" in caplog.text


def test_a_fault_of_the_pieces_themselves_is_told(caplog: pytest.LogCaptureFixture) -> None:
    told: list[WindrowError] = []

    def pieces() -> Iterator[Piece]:
        yield Piece(None, {"a": ROWS})
        raise ZeroDivisionError("a fault")

    Player(pieces(), lambda *_: None, pytest.fail, told.append)._run()
    assert [each.code for each in told] == ["WX501"]
    assert caplog.text
