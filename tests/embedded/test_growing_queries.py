"""Queries that keep every row of an UNBOUNDED input: they run, and a warning says so."""

from __future__ import annotations

import pytest

from windrow.embedded import EmbeddedSession

GROWING = [
    ("SELECT s.x, r.y FROM s, r [1 SECOND] WHERE s.x = r.y", "s", [{"x": 2, "y": 2}]),
    ("SELECT y FROM r [1 SECOND] WHERE y IN (SELECT x FROM s)", "s", [{"y": 2}]),
    (
        "SELECT y FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.x = r.y - 1)",
        "r, s",
        [],
    ),
    ("SELECT x FROM s ORDER BY x DESC LIMIT 2", "s", [{"x": 3}, {"x": 2}]),
    (
        "SELECT x, RANK() OVER (ORDER BY x) AS n FROM s [UNBOUNDED] ORDER BY n",
        "s",
        [{"x": 1, "n": 1}, {"x": 2, "n": 2}, {"x": 3, "n": 3}],
    ),
]


@pytest.mark.parametrize(("text", "names", "rows"), GROWING)
def test_it_runs_with_a_warning(text: str, names: str, rows: list[dict[str, int]]) -> None:
    session = two_streams()
    with pytest.warns(RuntimeWarning, match=rf"'big' keeps every row of {names} \(UNBOUNDED"):
        query = session.query(text, name="big")
    session.push("s", [{"ts": second, "x": second} for second in (1, 2, 3)])
    session.push("r", [{"ts": 1_000_003, "y": 2}])
    session.finish()
    assert query.result().to_pylist() == rows


def test_no_warning_without_need() -> None:
    """Warnings are errors here: totals of all rows are few, and windows end."""
    session = two_streams()
    session.query("SELECT MAX(n) AS m FROM (SELECT x, COUNT(*) AS n FROM s GROUP BY x) AS q")
    session.query("SELECT s.x FROM s [1 SECOND], r [2 SECONDS] WHERE s.x = r.y")


def two_streams() -> EmbeddedSession:
    session = EmbeddedSession()
    session.stream("s", "ts timestamp, x int", time="ts", unit="us")
    session.stream("r", "ts timestamp, y int", time="ts", unit="us")
    return session
