"""Queries that read no stream: their answer is there at once, and stays."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from windrow.embedded import EmbeddedSession


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT 1 AS a, 7 DIV 2 AS b", [{"a": 1, "b": 3}]),
        ("SELECT COUNT(*) + 43 AS n", [{"n": 44}]),
        ("SELECT 1 AS a UNION ALL SELECT 2", [{"a": 1}, {"a": 2}]),
    ],
)
def test_constants(text: str, rows: list[dict[str, int]]) -> None:
    session = EmbeddedSession()
    session.stream("s", "ts timestamp, x bigint", time="ts")
    query = session.query(text)
    assert query.result().to_pylist() == rows
    session.push("s", {"ts": datetime(2026, 1, 1, tzinfo=UTC), "x": 1})
    session.finish()
    assert query.result().to_pylist() == rows
    assert query.explain().startswith("tree over constants\n")
    assert session.windows().num_rows == 0
    query.stop()
