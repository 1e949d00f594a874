"""What a carryover of one plan cannot become: named by code, and what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

import windrow
from windrow.embedded import EmbeddedSession
from windrow.errors import CheckpointError

COUNT = "SELECT k, COUNT(*) AS n FROM s [10 SECONDS] WHERE x > 1 GROUP BY k"


def session_with(columns: str = "ts timestamp, k string, x int") -> EmbeddedSession:
    session = windrow.connect()
    session.stream("s", columns, time="ts")
    return session


@pytest.fixture
def file(tmp_path: Path) -> Path:
    session = session_with()
    session.query(COUNT, name="q")
    session.push("s", {"ts": ["2026-01-01", "2026-01-02"], "k": ["a", "b"], "x": [2, 3]})
    session.export_state("q", tmp_path / "q")
    return tmp_path / "q"


REFUSED = {
    COUNT.replace("10", "11"): r"WC425.*window of s was .*10 seconds.*11 seconds",
    COUNT.replace("[10 SECONDS]", "[ROWS 10]"): r"WC425.*window of s was",
    COUNT.replace("x > 1", "x > 0"): r"WC425.*condition on s was .*, and is ",
    COUNT.replace("WHERE x > 1", ""): r"WC425.*condition on s was .*, and is none",
    COUNT.replace("COUNT(*)", "SUM(x)"): r"WC427.*without x of stream 's'",
    f"{COUNT} ERROR (1%)": r"WC425.*ERROR",
    f"{COUNT} DURATION [0, 10]": r"WC425.*DURATION",
    COUNT.replace("[10 SECONDS]", "[UNBOUNDED]"): r"WC425.*do not say all",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_query_that_needs_other_rows_is_refused(text: str, file: Path) -> None:
    session = session_with()
    with pytest.raises(CheckpointError, match=f"(?s){REFUSED[text]}.*Hint"):
        session.import_state(file, text=text)
    assert session.import_state(file).is_running


def test_a_column_of_another_type_is_refused(file: Path) -> None:
    session = session_with("ts timestamp, k string, x bigint")
    with pytest.raises(CheckpointError, match=r"(?s)WC426.*column x of stream 's' was INT, and is"):
        session.import_state(file)


def test_another_time_column_is_refused(file: Path) -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, at timestamp, k string, x int", time="at")
    with pytest.raises(CheckpointError, match=r"(?s)WC426.*was ts, and is at now"):
        session.import_state(file)


def test_columns_that_nobody_reads_may_come_and_go(file: Path) -> None:
    session = session_with("ts timestamp, y double, k string, x int")
    query = session.import_state(file)
    session.push("s", {"ts": ["2026-01-02 00:00:01"], "k": ["b"], "x": [5], "y": [0.5]})
    session.finish()
    assert query.result().to_pylist() == [{"k": "b", "n": 2}]


def test_sums_that_never_end_are_for_the_same_query_only(tmp_path: Path) -> None:
    text = "SELECT k, SUM(x) AS x FROM s [UNBOUNDED] GROUP BY k"
    session = session_with()
    session.query(text, name="q")
    session.push("s", {"ts": ["2026-01-01", "2026-01-02"], "k": ["a", "b"], "x": [2, 3]})
    session.export_state("q", tmp_path / "sums")
    with pytest.raises(CheckpointError, match=r"(?s)WC425.*do not hold all"):
        session_with().import_state(tmp_path / "sums", text=text.replace("SUM", "MAX"))
    assert session_with().import_state(tmp_path / "sums").result().num_rows
