"""The windows of a query that is a tree: sub-queries may read a stream under one alias."""

from __future__ import annotations

from datetime import UTC, datetime

from windrow.embedded import EmbeddedSession


def test_a_stream_that_is_read_twice_under_its_own_name() -> None:
    session = EmbeddedSession()
    session.stream("s", "ts timestamp, x bigint", time="ts")
    query = session.query(
        "SELECT x FROM s [1 HOUR] WHERE x > (SELECT AVG(x) FROM s [1 HOUR] WHERE x < 100)"
    )
    times = [datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC) for second in range(3)]
    session.push("s", {"ts": times, "x": [1, 2, 3]})
    session.finish()
    assert query.result().to_pylist() == [{"x": 3}]
    names = session.windows()["window"].to_pylist()
    assert len(set(names)) == 2
