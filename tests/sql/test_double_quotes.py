"""Double quotes hold text, or names where a session or a script says so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import windrow
from windrow.jobs.settings import JobSettings
from windrow.sql import parse_script, print_statement
from windrow.sql.double_quotes import names_in_backquotes, settings_applied
from windrow.sql.statements import SetOption

ROW = {"ts": datetime(2026, 1, 1, tzinfo=UTC), "two words": "a"}


def test_a_session_takes_names_in_double_quotes() -> None:
    session = windrow.connect(double_quotes="name")
    session.stream("s", {"ts": "timestamp", "two words": "string"}, time="ts")
    session.view("v", 'SELECT "two words" FROM s [1 MINUTE]')
    query = session.query("""SELECT "two words" AS "x y" FROM "v" WHERE "two words" = 'a'""")
    session.push("s", [ROW])
    session.finish()
    assert query.result().to_pylist() == [{"x y": "a"}]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (
            """SELECT "a", 'b"c', `d"e` FROM t -- "f\n""",
            """SELECT `a`, 'b"c', `d"e` FROM t -- "f\n""",
        ),
        ('SELECT "a`b"', "SELECT `a``b`"),
        ("SELECT 'unclosed \"", "SELECT 'unclosed \""),
    ],
)
def test_only_names_are_rewritten(text: str, meant: str) -> None:
    assert names_in_backquotes(text) == meant
    assert names_in_backquotes(text, "text") == text


def test_a_script_sets_it_for_what_follows() -> None:
    script = """SELECT "a" FROM t; SET double_quotes = 'name'; SELECT "a" FROM t;
        SET double_quotes = 'text'; SELECT "a" FROM t"""
    printed = [print_statement(each) for each in parse_script(script)]
    assert printed[0] == printed[4] == "SELECT 'a' FROM t"
    assert printed[2] == "SELECT a FROM t"
    assert settings_applied("SELECT 1") == "SELECT 1"


def test_another_value_is_refused() -> None:
    with pytest.raises(windrow.WindrowError, match="WB735"):
        windrow.connect(double_quotes="ansi")
    with pytest.raises(windrow.WindrowError, match="WB735"):
        JobSettings().changed(SetOption("double_quotes", "ansi"))
    assert JobSettings().changed(SetOption("double_quotes", "name")) == JobSettings()
