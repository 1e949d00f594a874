"""Queries are admitted by rates that are measured, and never refused for what is held already."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from windrow.embedded.session import EmbeddedSession
from windrow.errors import AdmissionError

SECOND_US = 1_000_000
RANGES = ("1 SECOND", "1 MINUTE", "1 HOUR", "30 DAYS")


def session_of(memory: str = "4 MB") -> EmbeddedSession:
    session = EmbeddedSession(memory)
    session.stream("s", "ts timestamp, k int", time="ts", lateness="0 seconds")
    return session


def rows_at(times: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
    return pa.table({"ts": pa.array(times).cast(pa.timestamp("us", "UTC")), "k": times % 7})


@pytest.mark.parametrize("has_window", [False, True])
@pytest.mark.parametrize("instants", [1, 2, 5])
def test_rows_of_one_moment_are_no_rate(instants: int, has_window: bool) -> None:
    session = session_of()
    if has_window:
        session.query("SELECT COUNT(*) AS n FROM s [1 SECOND]")
    for number in range(instants):
        session.push("s", rows_at(np.full(5_000, 7 * SECOND_US + number)))
    for range_ in RANGES:
        session.query(f"SELECT SUM(k) AS t FROM s [{range_}]")
        session.query(f"SELECT k, MAX(k) AS m FROM s [{range_}] WHERE k > 2 GROUP BY k")


def test_a_rate_that_was_measured_refuses_what_does_not_fit() -> None:
    session = session_of()
    for second in range(10):
        session.push("s", rows_at(second * SECOND_US + np.arange(1_000) * 1_000))
    session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE]")
    with pytest.raises(AdmissionError, match="WA102"):
        session.query("SELECT COUNT(*) AS n FROM s [10 MINUTES]")


def test_rows_that_come_in_batches_are_counted_over_their_time() -> None:
    """All rows of ten seconds at once: the rate of late is not eight times the real one."""
    session = session_of("1 MB")
    session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE]", name="first")
    for second in range(0, 200, 10):
        session.push("s", rows_at(np.full(1_000, second * SECOND_US)))
    session.query("SELECT SUM(k) AS t FROM s [1 MINUTE]", name="second")
    (window,) = [row for row in session.windows().to_pylist() if "first" in row["queries"]]
    assert 80 < window["rate"] < 150


def test_what_is_held_is_enough_for_one_that_asks_for_no_more() -> None:
    session = session_of("150 KB")
    session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE]", name="minute")
    for second in range(60):
        session.push("s", rows_at(np.array([second * SECOND_US])))
    with pytest.raises(AdmissionError, match="WA101"):
        session.push("s", rows_at(60 * SECOND_US + np.arange(20_000) * 100))
    later = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]", name="later")
    session.push("s", rows_at(np.array([64, 65]) * SECOND_US))
    session.finish()
    assert {row["level"] for row in later.answers().to_pylist()} == {"A"}, "it never lacked a row"
    assert later.is_complete


def test_a_query_that_others_leave_no_room_for_is_refused() -> None:
    """Those that run are not full yet: what they will hold counts, not what they hold."""
    session = session_of("650 KB")
    session.query("SELECT COUNT(*) AS n FROM s [10 MINUTES]", name="first")
    for second in range(60):
        session.push("s", rows_at(second * SECOND_US + np.arange(35) * 28_000))
    assert session.nbytes < 200_000
    with pytest.raises(AdmissionError, match="WA102"):
        session.query("SELECT k, MAX(k) AS m FROM s [5 MINUTES] GROUP BY k")
    session.query("SELECT SUM(k) AS t FROM s [1 MINUTE]")
