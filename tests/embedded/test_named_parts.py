"""session["name"] is the query, view, stream or table of that name."""

from __future__ import annotations

import pytest

import windrow
from windrow import BindingError
from windrow.plan.catalog import View
from windrow.schema import StreamSchema
from windrow.table_schema import TableSchema


@pytest.fixture
def session() -> windrow.Session:
    session = windrow.connect()
    session.stream("temp", "ts timestamp, room string, celsius double", time="ts")
    session.table("rooms", "id string, name string", key=["id"])
    session.view("warm", "SELECT room, COUNT(*) AS n FROM temp [1 MINUTE] GROUP BY room")
    return session


def test_what_a_session_has_is_found_by_its_name(session: windrow.Session) -> None:
    query = session.query("SELECT MAX(n) AS n FROM warm", name="most")
    assert session["most"] is query
    view, stream, table = session["WARM"], session["temp"], session["Rooms"]
    assert isinstance(view, View)
    assert view.text.startswith("SELECT room, COUNT(*)")
    assert isinstance(stream, StreamSchema)
    assert [each.name for each in stream.columns] == ["ts", "room", "celsius"]
    assert isinstance(table, TableSchema)


def test_a_query_of_a_history_is_found(session: windrow.Session) -> None:
    session.history("temp", measures=["celsius"], levels=[("1 second", "forever")])
    past = "HISTORY(temp) [FROM '2026-01-01' TO NOW] EVERY (1 MINUTE)"
    text = f"SELECT AVG(celsius) AS m FROM {past}"
    query = session.query(text, name="past")
    assert session["past"] is query


def test_a_query_that_has_ended_is_not_found(session: windrow.Session) -> None:
    query = session.query("SELECT COUNT(*) AS n FROM temp [1 MINUTE]", name="count")
    query.stop()
    with pytest.raises(BindingError, match="no query, view, stream or table 'count'"):
        session["count"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("tmep", "did you mean temp?"), ("xyz", "there are: temp, warm, rooms"), (0, "there are")],
)
def test_an_unknown_name_is_refused_with_what_there_is(
    session: windrow.Session, name: str, hint: str
) -> None:
    with pytest.raises(BindingError) as refused:
        session[name]
    assert refused.value.code == "WB107"
    assert hint in (refused.value.hint or "")


def test_views_tell_what_they_hold_and_who_reads_them(session: windrow.Session) -> None:
    (unread,) = session.views().to_pylist()
    assert (unread["readers"], unread["rows"], unread["bytes"]) == ([], 0, 0)
    session.view("busy", "SELECT room FROM warm WHERE n > 1")
    session.query("SELECT COUNT(*) AS n FROM busy", name="count")
    times = ["2026-01-01 00:00:01", "2026-01-01 00:00:02", "2026-01-01 00:00:03"]
    session.push("temp", {"ts": times, "room": ["a", "b", "a"], "celsius": [1.0, 2.0, 3.0]})
    session.finish()
    warm, busy = session.views().to_pylist()
    assert (warm["view"], warm["readers"], warm["rows"]) == ("warm", ["busy"], 2)
    assert (busy["view"], busy["readers"], busy["rows"]) == ("busy", ["count"], 1)
    assert min(warm["bytes"], busy["bytes"]) > 0
    session["count"].stop()
    assert session.views()["readers"].to_pylist() == [[], []]
