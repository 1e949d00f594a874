"""A row in which an expression has no value ends its query, and no other."""

from __future__ import annotations

from decimal import Decimal

import pytest

import windrow
from windrow.embedded import EmbeddedSession
from windrow.errors import DataError

MAX = 2**63 - 1


def session_of() -> EmbeddedSession:
    session = windrow.connect()
    for name in "ab":
        session.stream(name, "ts timestamp, k int, x bigint, d double, w string", time="ts")
    return session


def row(second: int, **values: object) -> dict[str, object]:
    plain = {"k": 1, "x": 1, "d": 1.0, "w": "1"}
    return {"ts": f"2026-01-01 00:00:{second:02}", **plain, **values}


def refused(read, code: str = "WD304") -> str:
    with pytest.raises(DataError) as told:
        read()
    assert told.value.code == code
    return told.value.message


FAULTY = {
    "a value": "SELECT MAX(x + 1) AS n FROM a [9 SECONDS]",
    "a filter": "SELECT COUNT(*) AS n FROM a [9 SECONDS] WHERE x * 2 > 5",
    "a group": "SELECT x + 1 AS g, COUNT(*) AS n FROM a [9 SECONDS] GROUP BY x + 1",
    "a key": "SELECT COUNT(*) AS n FROM a [9 SECONDS], b [9 SECONDS] WHERE a.x + 1 = b.x",
    "a select": "SELECT -x - 2 AS n FROM a [9 SECONDS]",
    "rows": "SELECT MAX(x + 1) AS n FROM a [ROWS 3]",
    "everything": "SELECT MAX(x + 1) AS n FROM a",
    "a cast": "SELECT MAX(CAST(x AS INT)) AS n FROM a [9 SECONDS]",
    "rounding": "SELECT MAX(ROUND(x, -1)) AS n FROM a [9 SECONDS]",
    "error bounds": "SELECT SUM(x + 1) AS n FROM a [9 SECONDS] ERROR (10%) EVERY (1 SECOND)",
    "a condition of both": "SELECT COUNT(*) AS n FROM a [9 SECONDS], b [9 SECONDS] "
    "WHERE a.k = b.k AND a.x + b.x > 1",
    "a pair": "SELECT MAX(a.x + b.x) AS n FROM a [9 SECONDS], b [9 SECONDS] WHERE a.k = b.k",
}


@pytest.mark.parametrize("text", FAULTY.values(), ids=FAULTY)
def test_a_query_stops_with_the_row_named_and_others_go_on(text: str) -> None:
    session = session_of()
    count = session.query("SELECT COUNT(*) AS n FROM a [9 SECONDS]")
    faulty = session.query(text, name="faulty")
    total = session.query("SELECT SUM(x) AS n, MAX(d) AS d FROM a [9 SECONDS] ON ERROR NULL")
    session.push("b", [row(1), row(3)])
    session.push("a", [row(1)])
    session.advance("a", to="2026-01-01 00:00:01")

    def go_on() -> None:
        session.push("a", [row(2), row(2, x=MAX)])
        session.advance("a", to="2026-01-01 00:00:02")
        session.advance("b", to="2026-01-01 00:00:02")

    with pytest.warns(RuntimeWarning, match="query 'faulty' has stopped"):
        go_on()
    assert not faulty.is_running
    session.push("a", [row(12)])
    session.finish()
    for read in (faulty.result, faulty.answers, faulty.changes, faulty.result):
        message = refused(read)
        assert message.startswith("query 'faulty' has stopped: ")
        assert str(MAX) in message
    assert count.result().to_pylist() == [{"n": 1}]
    assert total.result().to_pylist() == [{"n": 1, "d": 1.0}]
    assert [each["n"] for each in count.answers().to_pylist()] == [1, 3, 1]
    assert session.ledger()["applied"].to_pylist() == [4, 2]
    assert "faulty" not in session.queries()["query"].to_pylist()
    assert session.query("SELECT COUNT(*) AS n FROM a [1 SECOND]", name="faulty").is_running


def test_a_pair_is_named_by_what_was_written() -> None:
    session = session_of()
    query = session.query(FAULTY["a pair"])
    session.push("b", [row(1, x=5)])
    session.push("a", [row(1, x=MAX)])
    with pytest.warns(RuntimeWarning):
        session.finish()
    words = f"a.x + b.x has no value of type BIGINT where a.x is {MAX}, b.x is 5"
    assert words in refused(query.result)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(x + 1) AS n FROM a [ROWS 3] WHERE x < 100",
        "SELECT SUM(x + 1) AS n FROM a [9 SECONDS] WHERE x < 100",
        "SELECT SUM(CASE WHEN x < 100 THEN x + 1 END) AS n FROM a [9 SECONDS]",
        "SELECT SUM(x + 1) AS n FROM a [9 SECONDS] WHERE x < 100 AND x * 2 < 500",
        "SELECT COUNT(TRY_CAST(x AS INT)) + 1 AS n FROM a [9 SECONDS]",
        "SELECT COUNT(TRY_CAST(w AS INT)) + 1 AS n FROM a [9 SECONDS]",
    ],
)
def test_rows_that_are_not_looked_at_do_no_harm(text: str) -> None:
    session = session_of()
    query = session.query(text)
    session.push("a", [row(1), row(1, x=MAX, w="12x")])
    session.finish()
    assert query.result().to_pylist() == [{"n": 2}]


def test_decimals_divide_exactly() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, p decimal(10, 2), q decimal(4, 1)", time="ts")
    query = session.query(
        "SELECT p % q AS r, p / q AS d, 0.30 % 0.1 AS c, SUM(p) / COUNT(*) AS m FROM s [9 SECONDS]"
        " GROUP BY p % q, p / q"
    )
    session.push("s", {"ts": "2026-01-01", "p": Decimal("0.30"), "q": Decimal("0.1")})
    session.push("s", {"ts": "2026-01-01", "p": Decimal("-2.00"), "q": Decimal("0.3")})
    session.finish()
    shown = query.result().to_pylist()
    assert [each["r"] for each in shown] == [Decimal("-0.20"), Decimal("0.00")]
    assert [each["d"] for each in shown] == [Decimal("-6.6666667"), Decimal("3.0000000")]
    assert {each["c"] for each in shown} == {Decimal("0.00")}
    assert [each["m"] for each in shown] == [Decimal("-2"), Decimal("0.3")]


def test_nothing_is_pushed_after_the_end() -> None:
    session = session_of()
    query = session.query("SELECT COUNT(*) AS n FROM a [9 SECONDS]")
    session.push("a", [row(1)])
    session.finish()
    session.finish()
    refused(lambda: session.push("a", [row(2)]), "WD120")
    refused(lambda: session.push("a", row(2)), "WD120")
    refused(lambda: session.advance("a", to="2026-01-01 00:00:09"), "WD120")
    session.stream("late", "ts timestamp", time="ts")
    session.push("late", {"ts": "2026-01-01"})  # this one has not ended
    assert session.ledger()["rows_in"].to_pylist() == [1, 0, 1]
    session.stop()
    refused(lambda: session.push("late", {"ts": "2026-01-02"}), "WD121")
    refused(lambda: session.advance("late", to="2026-01-02"), "WD121")
    assert query.result().to_pylist() == [{"n": 1}]
