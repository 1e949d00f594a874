"""Forms of queries and rows for benchmarks of one event at a time, and the plain Python loop."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["FORMS", "NAMES", "Form", "plain_loop", "rows_of"]

START_US = 1_767_225_600_000_000
STEP_US = 500  # between two events
WINDOW_ROWS = 20_000  # that windows of 10 seconds hold
KEYS = 1_000
INTS = "ts timestamp, k int, v int"
TEXTS = "ts timestamp, k string, v double"
NAMES = ("ts", "k", "v")
JOIN = "FROM a [10 SECONDS], b [10 SECONDS] WHERE a.k = b.k"
STAR = "FROM a [10 SECONDS], b [10 SECONDS], c [10 SECONDS] WHERE a.k = b.k AND b.k = c.k"
ARROW = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("k", pa.int32()), ("v", pa.int32())])


@dataclass(frozen=True)
class Form:
    """Queries over streams a, b, c, and how their rows are pushed."""

    name: str
    texts: tuple[str, ...]
    streams: str = "ab"
    schema: str = INTS
    given: str = "dict"
    keys: int = KEYS

    def as_given(self, row: tuple[Any, ...]) -> Any:
        """A row as it is pushed."""
        if self.given == "tuple":
            return row
        if self.given == "arrow":
            return pa.record_batch([[value] for value in row], schema=ARROW)
        return dict(zip(NAMES, row, strict=True))


def _one(name: str, text: str, *given: Any, **options: Any) -> Form:
    return Form(name, (text,), *given, **options)


_ANCHOR = f"SELECT COUNT(*) AS n, SUM(a.v) AS s {JOIN}"
_MEAN = "SELECT k, AVG(v) AS m FROM a [10 SECONDS] GROUP BY k"
FORMS = (
    _one("anchor", _ANCHOR),
    _one("anchor, tuples", _ANCHOR, given="tuple"),
    _one("anchor, Arrow rows", _ANCHOR, given="arrow"),
    _one("anchor, text and doubles", _ANCHOR, schema=TEXTS),
    _one("AVG by key", _MEAN, "a", keys=20),
    _one("AVG by key, 1,000 rows", _MEAN, "a"),
    _one(
        "alarm",
        f"SELECT a.k, COUNT(*) AS n, AVG(b.v) AS m {JOIN} AND a.v > 20 GROUP BY a.k "
        "HAVING AVG(b.v) > 66",
    ),
    _one("MIN and MAX", "SELECT MIN(v) AS l, MAX(v) AS h FROM a [10 SECONDS]", "a"),
    _one("COUNT DISTINCT", "SELECT COUNT(DISTINCT k) AS n FROM a [10 SECONDS]", "a"),
    _one("DISTINCT", "SELECT DISTINCT v FROM a [10 SECONDS]", "a"),
    _one("select", "SELECT k, v FROM a [10 SECONDS] WHERE v = 7 AND k < 100", "a"),
    _one("star of three", f"SELECT COUNT(*) AS n, SUM(c.v) AS s {STAR}", "abc"),
    _one(
        "anti join",
        "SELECT a.k, a.v FROM a [10 SECONDS] LEFT ANTI JOIN b [10 SECONDS] ON a.k = b.k "
        "WHERE a.v = 7",
        keys=20_000,
    ),
    _one("residual", f"SELECT COUNT(*) AS n, SUM(a.v) AS s {JOIN} AND a.v < b.v", keys=20_000),
    Form(
        "five queries",
        (
            "SELECT COUNT(*) AS n FROM a [10 SECONDS]",
            "SELECT SUM(v) AS s FROM a [5 SECONDS]",
            "SELECT k, COUNT(*) AS n FROM a [10 SECONDS] GROUP BY k HAVING COUNT(*) > 40",
            "SELECT AVG(v) AS m FROM a [10 SECONDS] WHERE v > 50",
            "SELECT MAX(v) AS m FROM a [10 SECONDS]",
        ),
        "a",
    ),
    _one("one of the five", "SELECT COUNT(*) AS n FROM a [10 SECONDS]", "a"),
)


def rows_of(form: Form, events: int, seed: int) -> list[tuple[str, tuple[Any, ...]]]:
    """Rows that fill the windows, and then so many events; each with its stream."""
    key: Callable[[int], Any] = int if form.schema == INTS else "sensor{}".format
    value: Callable[[int], Any] = int if form.schema == INTS else (lambda v: int(v) / 8)
    count, chance = WINDOW_ROWS + events, np.random.default_rng(seed)
    keys, values = chance.integers(0, form.keys, count), chance.integers(0, 100, count)
    return [
        (
            form.streams[i % len(form.streams)],
            (START_US + i * STEP_US, key(k), value(v)),
        )
        for i, (k, v) in enumerate(zip(keys.tolist(), values.tolist(), strict=True))
    ]


def plain_loop(events: int, seed: int) -> float:
    """Seconds an event of the anchor query by hand: dicts in, a dict out."""
    pushed = [(stream, FORMS[0].as_given(row)) for stream, row in rows_of(FORMS[0], events, seed)]
    cells: dict[int, list[int]] = {}
    held: deque[tuple[int, int, int, int]] = deque()
    answer, begin = {"n": 0, "s": 0}, 0.0
    count = total = 0
    for number, (stream, row) in enumerate(pushed):
        if number == len(pushed) - events:
            begin = time.process_time()
        at, key, value = row["ts"], row["k"], row["v"]
        side = 0 if stream == "a" else 1
        while held and held[0][0] < at - 10_000_000:
            _, old, gone, other = held.popleft()
            cell = cells[old]
            cell[other] -= 1
            if not other:
                cell[2] -= gone
            count -= cell[1 - other]
            total -= cell[2] if other else gone * cell[1]
        cell = cells.setdefault(key, [0, 0, 0])
        count += cell[1 - side]
        total += cell[2] if side else value * cell[1]
        cell[side] += 1
        if not side:
            cell[2] += value
        held.append((at, key, value, side))
        answer = {"n": count, "s": total}
    assert answer["n"] == count
    return (time.process_time() - begin) / events
