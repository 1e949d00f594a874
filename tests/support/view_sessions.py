"""Sessions with views, and texts that read these by name, or as queries in FROM."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

import windrow

__all__ = ["START", "VIEWS", "rows_from", "session_of", "written"]

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = pa.schema(
    {
        "ts": pa.timestamp("us", "UTC"),
        "k": pa.int32(),
        "g": pa.string(),
        "v": pa.int64(),
        "d": pa.float64(),
    }
)
# {view} or {view:alias} stands for a view, or for its query.
VIEWS = {
    "busy": "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a [5 SECONDS] GROUP BY k",
    "pairs": "SELECT a.g, b.v FROM a [4 SECONDS], b [3 SECONDS] WHERE a.k = b.k",
    "total": "SELECT COUNT(*) AS n, MAX(v) AS x FROM a [3 SECONDS]",
    "hot": "SELECT k, g, v FROM b [RANGE 4 SECONDS SLIDE 2 SECONDS] WHERE v > 1",
    "top": "SELECT k, n FROM {busy} ORDER BY n DESC, k LIMIT 2",
}


def written(text: str, *, is_inlined: bool) -> str:
    """The text with the names of views, or with their queries."""
    return text.format_map({name: _Name(name, is_inlined) for name in VIEWS})


class _Name:
    def __init__(self, name: str, is_inlined: bool) -> None:
        self._name, self._is_inlined = name, is_inlined

    def __format__(self, alias: str) -> str:
        alias = alias or self._name
        if self._is_inlined:
            return f"({written(VIEWS[self._name], is_inlined=True)}) AS {alias}"
        return f"{self._name} AS {alias}"


def session_of(*, has_views: bool = True, memory: str | int = "1 GB") -> Any:
    """A session with two streams and, if it has them, all views."""
    session = windrow.connect(memory=memory)
    for name in "ab":
        session.stream(name, SCHEMA, time="ts", lateness="1 second")
    if has_views:
        for name, text in VIEWS.items():
            session.view(name, written(text, is_inlined=False))
    return session


def rows_from(seed: int, second: float, count: int) -> pa.Table:
    """Rows of about two seconds, some out of order, with ties, NULL and NaN."""
    draw = random.Random(seed)
    rows = [
        {
            "ts": START + timedelta(seconds=second, milliseconds=draw.randrange(0, 20) * 100),
            "k": draw.choice([1, 2, 3, None]),
            "g": draw.choice(["x", "yy", "é", None]),
            "v": draw.choice([1, 2, 3, 7, None]),
            "d": draw.choice([0.5, -0.0, float("nan"), None]),
        }
        for _ in range(count)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)
