"""Who reads answers too late is told, once for each time that some were dropped."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.output import group_feed, whole_feed


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM s [1 SECOND]",
        "SELECT k, COUNT(*) AS n FROM s [1 SECOND] GROUP BY k HAVING COUNT(*) > 5 EVERY (1)",
    ],
)
def test_answers_that_were_let_go_are_told_of(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (group_feed, whole_feed):
        monkeypatch.setattr(module, "UPDATES_LIMIT", 100)
    session = windrow.connect()
    session.stream("s", "ts timestamp, k bigint", time="ts")
    query = session.query(text, name="counted")
    times = pa.array(range(0, 500_000_000, 1_000_000), pa.int64()).cast(pa.timestamp("us"))
    session.push("s", pa.table({"ts": times, "k": range(500)}))
    with pytest.warns(RuntimeWarning, match=r"'counted': answers at \d+ instants were dropped"):
        query.answers()
    query.answers()  # told once; a second warning would be an error here
    session.push("s", {"ts": "1970-01-01 01:00:00", "k": 1})
    query.answers()


def test_who_reads_in_time_hears_nothing() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k bigint", time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s [1 SECOND]")
    session.push("s", {"ts": "2026-01-01", "k": 1})
    session.finish()
    assert query.answers().num_rows == 1
