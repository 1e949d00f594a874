"""Rows for queries that are trees: values whose sums are exact in any order, times in any order.

Keys are few, so that joins match; NULL, NaN, both zeros, ties, bursts, silence, late rows, empty
batches and heartbeats are common. Nothing overflows: DuckDB and the engine differ there.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from support.streams import STARTS_US, TICK_US, Action, Heartbeat, Push, instant, judged_alike

__all__ = ["other_cuts", "row_by_row", "tree_actions"]

_SCALES = {"a": 2, "b": 3, "c": 1}
_TEXTS = ("", "x", "x", "y", "xy", "é", "a'b", None)
_DOUBLES = (0.0, -0.0, 1.0, 0.5, 0.5, -2.25, 3.0, math.nan, None)


def tree_actions(seed: int, rows: int = 24, streams: str = "aabbc") -> list[Action]:
    """Pushes and heartbeats."""
    draw = random.Random(seed)
    now_us = draw.choice(STARTS_US)
    made: list[Action] = []
    while rows > 0:
        stream = draw.choice(streams)
        batch = []
        for _ in range(draw.choice((0, 1, 1, 2, 3, 5))):
            now_us += draw.choice((0, 0, 0, 1, 1, 2, 3)) * TICK_US
            shift = draw.choice((0, 0, 0, 0, -1, -2, -9)) * TICK_US
            batch.append(_row(draw, stream, now_us + shift + draw.choice((0, 0, 0, 1, -1))))
        made.append(Push(stream, tuple(batch)))
        rows -= max(len(batch), 1)
        if draw.random() < 0.15:
            ahead = draw.choice((0, 1, 4)) * TICK_US
            made.append(Heartbeat(draw.choice(streams), now_us + ahead))
    return judged_alike(made)


def other_cuts(actions: Sequence[Action], seed: int) -> list[Action]:
    """The same rows in the same order, cut into other batches, with empty ones between."""
    draw = random.Random(seed)
    made: list[Action] = []
    for action in actions:
        if isinstance(action, Heartbeat):
            made.append(action)
            continue
        rows = action.rows
        while rows:
            size = draw.randint(1, len(rows))
            made.append(Push(action.stream, rows[:size]))
            rows = rows[size:]
            if draw.random() < 0.2:
                made.append(Push(action.stream, ()))
    return made


def row_by_row(actions: Sequence[Action]) -> list[Action]:
    """The same rows, each in a batch of its own."""
    return [
        part
        for action in actions
        for part in (
            [action]
            if isinstance(action, Heartbeat)
            else [Push(action.stream, (row,)) for row in action.rows]
        )
    ]


def _row(draw: random.Random, stream: str, time_us: int) -> dict[str, object]:
    scale = _SCALES[stream]
    row: dict[str, object] = {
        "ts": instant(time_us),
        "k": draw.choice((0, 0, 1, 1, 2, None)),
        "l": draw.choice((0, 1, 2, -3, 7, None)),
        "s": draw.choice(_TEXTS),
        "d": draw.choice(_DOUBLES),
        "f": draw.choice((0.0, 1.5, -2.25, None)),
        "p": draw.choice((None, *(Decimal(n).scaleb(-scale) for n in (0, 5, -12, 100)))),
        "o": draw.choice((True, False, None)),
        "y": draw.choice((date(1969, 12, 31), date(2024, 2, 29), None)),
    }
    return {**row, "x": draw.choice((0, 1, 2, None))} if stream == "c" else row
