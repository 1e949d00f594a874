"""What notebooks show of sessions, queries, plans and tables; no name or value breaks out of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pyarrow as pa
import pytest

import windrow
from windrow.embedded import EmbeddedSession
from windrow.notebook import show
from windrow.notebook.plan_text import PlanText

EVIL = "<script>alert('1')</script>\"><img src=x onerror=alert(2)>&amp;"
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
ALLOWED = {"div", "span", "b", "pre", "table", "thead", "tbody", "tr", "th", "td"}


class Reader(HTMLParser):
    """Every element and its attributes; and that what is opened is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(thing: object) -> Reader:
    reader = Reader(thing._repr_html_())
    assert reader.open == []
    assert reader.names <= ALLOWED
    assert reader.attributes <= {"style"}
    return reader


def evil_session() -> tuple[EmbeddedSession, windrow.Query]:
    session = windrow.connect(memory="1 MB")
    session.stream(EVIL, {"ts": "timestamp", EVIL: "string", "x": "double"}, time="ts")
    named = "`" + EVIL + "`"
    text = f"SELECT {named}, SUM(x) AS total FROM {named} [10 MINUTES] GROUP BY {named}"
    query = session.query(text, name=EVIL)
    session.push(EVIL, {"ts": [MOMENT] * 2, EVIL: [EVIL, None], "x": [1.5, None]})
    session.finish()
    return session, query


def test_nothing_that_a_user_names_or_pushes_becomes_markup() -> None:
    session, query = evil_session()
    session.history(EVIL, measures=["x"], by=[EVIL], levels=[("1 second", "1 hour")])
    tables = (session.windows(), session.queries(), session.ledger(), query.result())
    for thing in (session, query, query.explain(), *map(show, tables)):
        assert type(thing._repr_html_()) is str
        assert EVIL in read(thing).text
        assert "<script" not in thing._repr_html_()
    assert read(query.explain()._display_()).text == read(query.explain()).text


def test_a_session_shows_its_streams_queries_windows_and_memory() -> None:
    session = windrow.connect(memory="64 MB")
    assert "no streams yet" in read(session).text
    session.stream("temp", "ts timestamp, celsius double", time="ts")
    session.query("SELECT AVG(celsius) AS mean FROM temp [10 MINUTES]", name="mean")
    session.push("temp", {"ts": MOMENT, "celsius": 20.0})
    text = read(session).text
    for word in ("in this process", "of 64.0 MB", "temp", "mean", "10 minutes", "rows_in"):
        assert word in text
    session.stop()
    assert "temp" in read(session).text


def test_a_query_shows_its_text_its_answer_and_how_it_stands() -> None:
    session = windrow.connect()
    session.stream("temp", "ts timestamp, room string", time="ts")
    query = session.query(
        "SELECT room, COUNT(*) AS n FROM temp [10 MINUTES] GROUP BY room", name="rooms"
    )
    assert "no rows" in read(query).text
    assert repr(query) == "<EmbeddedQuery 'rooms'>"
    rooms = [f"room {number:02}" for number in range(30)]
    session.push("temp", {"ts": [MOMENT] * 30, "room": rooms})
    session.finish()
    text = read(query).text
    for word in ("rooms", "running", "FROM temp [10 MINUTES]", "2026-01-01 00:00:00", "room 00"):
        assert word in text
    assert "and 20 more rows" in text
    assert "room 29" not in text
    query.stop()
    assert "not running" in read(query).text


def test_a_question_about_the_past_is_shown_too() -> None:
    session = windrow.connect()
    session.stream("temp", "ts timestamp, celsius double", time="ts")
    session.history("temp", measures=["celsius"], levels=[("1 second", "forever")])
    query = session.query("SELECT MAX(celsius) AS m FROM HISTORY(temp) [FROM '2026-01-01' TO NOW]")
    session.push("temp", {"ts": MOMENT, "celsius": 20.5})
    session.finish()
    assert "20.5" in read(query).text
    assert "HISTORY" in read(session).text or "1 second for ever" in read(session).text
    assert "answers" in read(query.explain()).text


def test_an_explanation_is_a_text_like_any_other() -> None:
    _, query = evil_session()
    text = query.explain()
    assert isinstance(text, str)
    assert text.splitlines()[0] == "aggregate over one window"
    assert text == "\n".join(text.split("\n"))
    facts = re.sub(r"\s+", "", text)
    assert re.sub(r"\s+", "", read(text).text) == facts


def test_values_are_shown_for_people() -> None:
    table = pa.table(
        {
            "width": pa.array([timedelta(minutes=10), None, timedelta(0)], pa.duration("us")),
            "bytes": [3_000_000, 5, None],
            "x": [0.1 + 0.2, float("nan"), 1e300],
            "names": [["a", "<b>"], [], None],
            "at": pa.array([MOMENT] * 3, pa.timestamp("us", tz="UTC")),
            "long": ["x" * 10_000, "", "y"],
        }
    )
    text = read(show(table)).text
    for word in ("10 minutes", "NULL", "2.9 MB", "0.3", "nan", "a, <b>", "2026-01-01 00:00:00"):
        assert word in text
    assert "x" * 201 not in text
    assert "and 2 more rows" in read(show(table, rows=1)).text
    assert repr(show(table)) == str(table)


def test_a_query_on_spark_that_holds_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    _, query = evil_session()

    def refuse() -> None:
        raise windrow.UnsupportedError("WU411", f"{EVIL} holds nothing")

    monkeypatch.setattr(query, "_result", refuse)
    assert f"{EVIL} holds nothing" in read(query).text


def test_sizes_and_times_stay_on_one_line_and_texts_need_not() -> None:
    table = pa.table({"w": [timedelta(seconds=10)], "bytes": [9_000], "s": ["a long text"]})
    cells = re.findall(r"<td style=\"([^\"]*)\">", show(table)._repr_html_())
    assert ["nowrap" in style for style in cells] == [True, True, False]
    assert "overflow-x:auto" in show(table)._repr_html_()


def test_the_facts_of_a_plan_begin_below_each_other() -> None:
    html = PlanText("plan\n  columns     k\n    memory    12 bytes\nclock: noon")._repr_html_()
    widths = map(int, re.findall(r"min-width:(\d+)ch", html))
    indents = map(int, re.findall(r"padding-left:(\d+)ch", html))
    assert len({width + indent for width, indent in zip(widths, indents, strict=True)}) == 1
