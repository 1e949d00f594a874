"""Sums over several inputs whose parts would overflow where the whole does not."""

from __future__ import annotations

import pytest

from support.runners import play
from support.streams import Action, Heartbeat, Push, instant, plan_of

LEAST = -(2**63)


@pytest.mark.parametrize("algorithm", ["auto", "charged", "incremental", "pipelined"])
@pytest.mark.parametrize(
    ("argument", "left", "right", "total"),
    [
        ("a.k - c.l", {"k": -1}, {"l": LEAST}, 2**63 - 1),
        ("-(a.l * c.l)", {"l": LEAST}, {"l": 0}, 0),
        ("a.l * c.l * 2", {"l": 0}, {"l": 2**62}, 0),
        ("a.l * c.l", {"l": 2**40}, {"l": -(2**22)}, -(2**62)),
        ("(a.l - c.l) * 3", {"l": 2**62}, {"l": 2**62}, 0),
    ],
)
def test_no_part_is_lost(
    argument: str, left: dict[str, int], right: dict[str, int], total: int, algorithm: str
) -> None:
    text = f"SELECT SUM({argument}) AS s FROM a [1 SECOND], c [1 SECOND] WHERE a.o = c.o"
    actions: list[Action] = [
        Push("a", ({"ts": instant(0), "o": True, **left},)),
        Push("c", ({"ts": instant(0), "o": True, **right},)),
        Heartbeat("a", 1),
        Heartbeat("c", 1),
    ]
    runner, _ = play(plan_of(text, algorithm), actions)
    assert runner.publisher.result().to_pylist() == [{"s": total}]
