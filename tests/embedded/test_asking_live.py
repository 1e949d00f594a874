"""Questions about now, answered once from what running queries and views hold."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from support.view_sessions import START, rows_from, session_of
from windrow import BindingError, UnsupportedError

HOLDING = (
    "SELECT ts, k, g, v, d FROM a [8 SECONDS] WHERE 1 = 1",
    "SELECT o.k, o.g, o.v, (SELECT COUNT(*) FROM b [9 SECONDS]) AS n FROM b [6 SECONDS] AS o",
    "SELECT k, v FROM a [ROWS 30]",
    "SELECT MAX(n) AS n FROM busy",
    "SELECT * FROM hot",
)
# None asks for more than some of these hold.
QUESTIONS = (
    "SELECT k, n, s FROM busy ORDER BY n DESC, k",
    "SELECT COUNT(*) AS n, MAX(v) AS v FROM a [5 SECONDS]",
    "SELECT g, COUNT(*) AS n FROM a [8 SECONDS] GROUP BY g ORDER BY g NULLS LAST",
    "SELECT k, v FROM a [3 SECONDS] WHERE v > 1 AND d < 1",
    "SELECT x.k, y.v FROM a [2 SECONDS] AS x JOIN b [4 SECONDS] AS y ON x.k = y.k",
    "SELECT k, g FROM a [RANGE 4 SECONDS SLIDE 2 SECONDS]",
    "SELECT h.k, y.n FROM hot AS h LEFT JOIN busy AS y ON h.k = y.k",
    "SELECT COUNT(*) AS n, SUM(v) AS v FROM a [ROWS 7]",
    "SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, g) AS r FROM a [2 SECONDS]",
    "SELECT k FROM b [1 SECOND] EXCEPT SELECT k FROM busy",
)


def rows_of(table: Any) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def begun() -> Any:
    session = session_of()
    for text in HOLDING:
        session.query(text)
    return session


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_as_a_query_would_be(question: str) -> None:
    session = begun()
    query = session.query(question)
    for number in range(9):
        session.push("ab"[number % 2], rows_from(number, number * 0.8, 20))
        asked = session.ask(question)
        assert rows_of(asked) == rows_of(query.result())
        assert asked.column_names == query.result().column_names
        if "ORDER BY" in question and "OVER" not in question:
            assert asked.to_pylist() == query.result().to_pylist()
    session.finish()
    assert rows_of(session.ask(question)) == rows_of(query.result())
    assert session.queries().num_rows >= session.windows().num_rows


def test_a_question_that_reads_nothing() -> None:
    session = session_of()
    assert session.ask("SELECT 1 + 1 AS x").to_pylist() == [{"x": 2}]
    assert session.ask("VALUES (1), (2)").num_rows == 2
    assert session.ask("SELECT 'a' AS x", to="polars")["x"].to_list() == ["a"]


def test_a_question_leaves_nothing_behind() -> None:
    session = begun()
    session.push("a", rows_from(1, 0, 50))
    before = session.nbytes
    session.ask("SELECT k, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY k")
    assert session.nbytes == before


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("SELECT k FROM top", "view 'top' does not run"),
        ("SELECT k FROM a [9 SECONDS]", r"a \[RANGE 9 SECONDS\] with ts, k"),
        ("SELECT g FROM a [ROWS 7]", r"a \[ROWS 7\] with ts, g"),
        ("SELECT k FROM a [ROWS 31]", r"a \[ROWS 31\]"),
        ("SELECT d FROM b [1 SECOND]", r"b \[RANGE 1 SECOND\] with ts, d"),
        ("SELECT COUNT(*) AS n FROM a [UNBOUNDED]", r"a \[UNBOUNDED\]"),
    ],
)
def test_what_nobody_holds_is_named_with_a_remedy(question: str, message: str) -> None:
    session = begun()
    session.push("a", rows_from(1, 0, 50))
    with pytest.raises(BindingError, match=message) as raised:
        session.ask(question)
    assert raised.value.hint is not None
    assert "register" in raised.value.hint


def test_a_window_that_began_late_or_filters_is_not_enough() -> None:
    session = session_of()
    session.query("SELECT k, v FROM a [8 SECONDS] WHERE v > 1")
    session.push("a", rows_from(1, 0, 50))
    with pytest.raises(BindingError, match="WB277"):
        session.ask("SELECT k FROM a [2 SECONDS]")
    session.query("SELECT k, v FROM a [8 SECONDS]")
    with pytest.raises(BindingError, match="WB277"):
        session.ask("SELECT k FROM a [2 SECONDS]")
    session.push("a", rows_from(2, 4, 50))
    session.advance("a", to=START + timedelta(seconds=6))
    assert session.ask("SELECT k FROM a [2 SECONDS]").num_rows > 10


def test_what_is_only_for_queries_that_run_is_refused() -> None:
    session = begun()
    with pytest.raises(UnsupportedError, match="WU247"):
        session.ask("SELECT k FROM busy", progressive=True)
    with pytest.raises(UnsupportedError, match="WU248"):
        session.ask("SELECT k FROM busy EVERY (1 SECOND)")
