"""Every code of the front end once, with the word that it points at."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import windrow.sql
from windrow.errors import BindingError, QuerySyntaxError, UnsupportedError, WindrowError
from windrow.sql import parse_query, parse_script, parse_statement

FROM = "SELECT a FROM t "

# code, text, the word under the caret ("" where it is behind the last word)
WITH_PLACE = [
    ("WS102", "SELECT \x00", "\ufffd"),
    ("WS102", "SELECT '\ud800'", "\ufffd"),
    ("WS103", "SELECT " + "a, " * 6_000, ","),
    ("WS104", "SELECT " + "(" * 33 + "a" + ")" * 33, "("),
    ("WS104", "SELECT " + "NOT " * 33 + "a", "NOT"),
    ("WS104", "SELECT " + "- " * 33 + "a", "-"),
    ("WS104", "SELECT " + "CASE WHEN " * 33 + "a", "CASE"),
    ("WS105", "SELECT b FROM t WHERE " + " OR ".join(["a"] * 200), "a"),
    ("WS105", " UNION ".join(["SELECT a FROM t"] * 200), "SELECT"),
    ("WS106", "SELECT 'abc", "'"),
    ("WS106", "SELECT 'fine', \"abc", '"'),
    ("WS106", "SELECT 1 /* abc", "/*"),
    ("WS106", "/* outer /* inner */ SELECT 1", "/*"),
    ("WS106", "SELECT `abc", "`"),
    ("WS107", "SELECT a # b FROM t", "#"),
    ("WS107", "SELECT a\x01 FROM t", "a\x01"),
    ("WS108", f"SELECT {'1' * 65} FROM t", "1" * 65),
    ("WS109", f"SELECT {'x' * 256} FROM t", "x" * 256),
    ("WS110", "SELEC a", "SELEC"),
    ("WS110", "SELECT a b c FROM t", "c"),
    ("WS110", "SELECT a FORM t", "FORM"),
    ("WS110", "SELECT (a FROM t", "FROM"),
    ("WS110", FROM + "[5", ""),
    ("WS110", "CREATE INDEX x", "INDEX"),
    ("WS785", "CREATE TABLE x (a INT)", "x"),
    ("WS110", FROM + "ERROR (2)", ")"),
    ("WS110", FROM + "[RANGE Now-5, 7]", "7"),
    ("WS110", FROM + "[ROWS -5]", "-"),
    ("WS110", "SELECT a IS 5 FROM t", "5"),
    ("WS110", "SELECT a NOT 5 FROM t", "5"),
    ("WS110", "SELECT CASE a END FROM t", "END"),
    ("WS110", "SET a = b", "b"),
    ("WS110", FROM + "WHERE EXISTS ()", "("),
    ("WS110", FROM + "LATERAL VIEW a", "a"),
    ("WS110", FROM + "UNION u", "u"),
    ("WS110", FROM + "ORDER BY a NULLS b", "b"),
    ("WS110", FROM + "LIMIT a", "a"),
    ("WS110", "SELECT sum(a) OVER (ORDER BY b ROWS 5) FROM t", ")"),
    ("WS110", "SELECT sum(a) OVER (ORDER BY b RANGE b PRECEDING) FROM t", "b"),
    ("WS110", "WITH x SELECT 1", "SELECT"),
    ("WS111", "SELECT 1e FROM t", "1e"),
    ("WS111", "SELECT 1e9999 FROM t", "1e9999"),
    ("WS112", "SELECT `` FROM t", "``"),
    ("WS113", "SELECT a FROM select", "select"),
    ("WS114", "SELECT a = b = c FROM t", "="),
    ("WS114", "SELECT a IN (1) + 2 FROM t", "+"),
    ("WS115", "SELECT a = NOT b FROM t", "NOT"),
    ("WS116", "SELECT a + , b FROM t", ","),
    ("WS116", FROM + "WHERE", ""),
    ("WS117", "SELECT a, FROM t", "FROM"),
    ("WS118", "SELECT 5x FROM t", "5"),
    ("WS119", "SELECT 1 + a.* FROM t", "*"),
    ("WS120", FROM + "[5 MINTUES]", "MINTUES"),
    ("WS120", FROM + "EVERY (5 PARSECS)", "PARSECS"),
    ("WS120", "SELECT sum(a) OVER (ORDER BY b RANGE INTERVAL 'x' SECOND PRECEDING) FROM t", "'x'"),
    ("WS121", FROM + "[0.5 MICROSECONDS]", "0.5"),
    ("WS122", FROM + "[0 SECONDS]", "0"),
    ("WS122", FROM + "EVERY 0", "0"),
    ("WS122", FROM + "[RANGE Now-0, Now]", "0"),
    ("WS122", FROM + "[RANGE 5 SLIDE 0]", "0"),
    ("WS123", FROM + "[-5 MINUTES]", "-"),
    ("WS123", FROM + "EVERY (-5)", "-"),
    ("WS124", FROM + "[1e9 DAYS]", "1e9"),
    ("WS125", FROM + "[ROWS 0]", "0"),
    ("WS125", FROM + "[ROWS 1.5]", "1.5"),
    ("WS125", FROM + "[PARTITION BY a ROWS 0]", "0"),
    ("WS125", FROM + "LIMIT 1.5", "1.5"),
    ("WS126", FROM + "DURATION ['2500-01-01', '2500-01-02']", "'2500-01-01'"),
    ("WS127", FROM + "[RANGE 60 SECONDS SLIDE 7 SECONDS]", "SLIDE"),
    ("WS700", FROM + "[HOP 2 SECONDS BY 3 SECONDS]", "2"),
    ("WS701", FROM + "[CUMULATE 5 SECONDS BY 2 SECONDS]", "5"),
    ("WS702", "SELECT a FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts)))", "TUMBLE"),
    ("WS702", "SELECT a FROM TUMBLE(TABLE t PARTITION BY a, DESCRIPTOR(ts), '1 minute')", "TUMBLE"),
    ("WS702", "SELECT a FROM TUMBLE(t, ts, SLIDE => '1 minute')", "'1 minute'"),
    ("WS702", "SELECT a FROM t WINDOW HOPPING (SIZE 1 HOUR) GROUP BY a", "HOPPING"),
    ("WS702", "SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts + 1, '1 minute')", "TUMBLE"),
    ("WS703", "SELECT a FROM t GROUP BY TUMBLE(ts, '1 h'), HOP(ts, '1 h', '2 h')", "TUMBLE"),
    ("WS703", "SELECT COUNT(*) FROM t, u GROUP BY window(ts, '1 minute')", "window"),
    ("WS703", "SELECT COUNT(*) FROM t GROUP BY session_window(ts, '1 s'), a + 1", "a"),
    ("WU701", "SELECT a FROM t WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 1 DAY)", "GRACE"),
    ("WS128", "SELECT sum() FROM t", "sum"),
    ("WS128", "SELECT sum(a, b, c) FROM t", "sum"),
    ("WS128", "SELECT rank(a) OVER (ORDER BY a) FROM t", "rank"),
    ("WS129", "SELECT a FROM t x [5 MINUTES]", "["),
    ("WS129", "SELECT a FROM (SELECT 1 FROM t) x [5 MINUTES]", "["),
    ("WS129", "SELECT a FROM (t CROSS JOIN u) [5 MINUTES]", "["),
    ("WS130", FROM + "ERROR (101%)", "101"),
    ("WS130", FROM + "ERROR (-1%)", "1"),
    ("WS131", FROM + "[RANGE 60 SLIDE 5] EVERY (1 SECOND)", "EVERY"),
    ("WS132", FROM + "DURATION [500, 70]", "DURATION"),
    ("WS132", FROM + "DURATION ['2026-01-02', '2026-01-01']", "DURATION"),
    ("WS133", FROM + "EVERY 5 EVERY 6", "EVERY"),
    ("WS133", FROM + "LIMIT 5 FETCH FIRST 6 ROWS ONLY", "FETCH"),
    ("WS134", FROM + "DURATION [0.5, 70]", "0.5"),
    ("WS135", "SELECT a FROM HISTORY(s)", ""),
    ("WS136", "SELECT a FROM HISTORY(s) [FROM '2026-01-02' TO '2026-01-02']", "TO"),
    ("WS137", "SELECT " + "(SELECT " * 17 + "a" + ")" * 17, "("),
    ("WS138", FROM + "GROUP BY CUBE (a, b, c, d, e, f, g)", ")"),
    ("WS138", FROM + "GROUP BY CUBE (a, b, c, d), CUBE (e, f, g)", "CUBE"),
    ("WS139", "SELECT sum(a) OVER w FROM t", "w"),
    ("WS139", "SELECT a FROM t WINDOW w AS (ORDER BY a), W AS (ORDER BY b)", "W"),
    ("WS139", "SELECT a FROM t UNION SELECT b FROM t ORDER BY sum(a) OVER (w)", "w"),
    ("WS141", "SELECT FROM t", "FROM"),
    ("WS143", FROM + "WHERE b GROPU BY a", "GROPU"),
    ("WS143", FROM + "GROPU BY a", "GROPU"),
    ("WS144", FROM + "WHERE b )", ")"),
    ("WS144", FROM + "NATURAL CROSS JOIN u", "NATURAL"),
    ("WS144", FROM + "GROUP BY ROLLUP (a) WITH CUBE", "WITH"),
    ("WS144", FROM + "LIMIT 5 ORDER BY a", "ORDER"),
    ("WS145", FROM + "LEFT ANTI JOIN u [5]", "LEFT"),
    ("WS145", FROM + "FULL OUTER JOIN u [5]", "FULL"),
    ("WS146", "SELECT a FROM (SELECT b FROM t EVERY 5) AS u", "EVERY"),
    ("WS147", FROM + "WHERE a = (SELECT b FROM u ERROR (2%))", "ERROR"),
    ("WS147", "(SELECT a FROM t EVERY 5) UNION SELECT b FROM u", "EVERY"),
    ("WS148", FROM + "ORDER BY a UNION SELECT b FROM t", "UNION"),
    ("WS148", FROM + "EVERY 5 INTERSECT SELECT b FROM t", "INTERSECT"),
    ("WS150", "CREATE QUERY q AS SELECT a FROM t INTO x(a = 1, 2)", "2"),
    ("WS151", "CREATE QUERY q AS SELECT a FROM t INTO x(a = 1, a = 2)", "a"),
    ("WS152", "SET a = 1e999", "1e999"),
    ("WS153", "CREATE HISTORY ON s (p) LEVELS (1 HOUR FOR 1 MINUTE)", "FOR"),
    ("WS154", r"SET a = 'x\u0000'", r"'x\u0000'"),
    (
        "WS155",
        "SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW) FROM t",
        "ROWS",
    ),
    ("WS157", "CREATE FUNCTION f AS 'a.b'", "f"),
    ("WS158", "CREATE FUNCTION f (a INT, A INT) RETURNS INT AS a", "A"),
    ("WS156", "VALUES (1, 2), (3)", "("),
    ("WS161", "SELECT a FROM t; SELECT b FROM t", "SELECT"),
    ("WS791", "SELECT TOP 5 a FROM t LIMIT 3", "TOP"),
    ("WU792", "SELECT TOP 5 PERCENT a FROM t", "PERCENT"),
    ("WS163", " ;", ""),
    ("WU101", FROM + "SORT BY a", "SORT"),
    ("WU102", FROM + "FETCH FIRST 5 ROWS WITH TIES", "WITH"),
    ("WU104", "SELECT lag(a) IGNORE NULLS OVER (ORDER BY b) FROM t", "IGNORE"),
    ("WU104", "SELECT sum(a) OVER (ORDER BY b GROUPS 5 PRECEDING) FROM t", "GROUPS"),
    ("WU104", "SELECT sum(a) OVER (ORDER BY b ROWS 5 PRECEDING EXCLUDE TIES) FROM t", "EXCLUDE"),
    ("WS740", FROM + "WHERE ts - INTERVAL '1' DAY '2' > b", "INTERVAL"),
    ("WU109", "SELECT sum(a) WITHIN GROUP (ORDER BY a) FROM t", "WITHIN"),
    ("WU113", "WITH RECURSIVE x AS (SELECT 1) SELECT a FROM x", "RECURSIVE"),
    ("WU114", FROM + "TABLESAMPLE (5 PERCENT)", "TABLESAMPLE"),
    ("WU114", FROM + "PIVOT (sum(a) FOR b IN (1))", "PIVOT"),
    ("WU115", FROM + "RIGHT ANTI JOIN u ON a = b", "RIGHT"),
    ("WU115", FROM + "LATERAL u", "LATERAL"),
    ("WS720", FROM + ", UNNEST(a, b) AS t (x)", "UNNEST"),
    ("WB102", "SELECT a FROM HISTORY(s) [FROM 'yesterday' TO NOW]", "'yesterday'"),
    ("WB110", "SELECT CAST(a AS money) FROM t", "money"),
    ("WB111", "CREATE STREAM s (a decimal(40, 2)) TIME a", "decimal"),
]


def error_of(text: object) -> WindrowError:
    with pytest.raises(WindrowError) as caught:
        parse_statement(text)  # type: ignore[arg-type]  # one test gives no text
    return caught.value


@pytest.mark.parametrize(
    ("code", "text", "word"), WITH_PLACE, ids=[f"{row[0]}-{i}" for i, row in enumerate(WITH_PLACE)]
)
def test_an_error_has_its_code_points_at_its_word_and_gives_a_hint(
    code: str, text: str, word: str
) -> None:
    error = error_of(text)
    assert error.code == code
    place = error.place
    assert place is not None
    line = place.text.split("\n")[place.line - 1]
    assert line[place.column - 1 : place.column - 1 + place.length] == word
    assert error.hint
    kind = {"WS": QuerySyntaxError, "WU": UnsupportedError, "WB": BindingError}[code[:2]]
    assert type(error) is kind


# text, a part of the hint
HINTS = [
    ("INSERT INTO t VALUES (1)", "push()"),
    ("DELETE FROM t", "push()"),
    ("DROP STREAM t", "stop()"),
    ("DESCRIBE t", "session.streams()"),
    (FROM + "[10 ROWS]", "[ROWS 1000]"),
    (FROM + "[1 WEEK]", "7 DAYS"),
    (FROM + "[10 ms]", "MILLISECONDS"),
    (FROM + "[1 MINUTE 30 SECONDS]", "one unit"),
    (FROM + "[RANGE 5 MINUTES PRECEDING]", "omit PRECEDING"),
    (FROM + "[ROWS 5 PRECEDING]", "omit PRECEDING"),
    (FROM + "[PARTITION BY a 5 MINUTES]", "GROUP BY"),
    (FROM + "(5 MINUTES)", "square brackets"),
    (FROM + "ERROR 5%", "ERROR (2%)"),
    (FROM + "ERROR (0.05)", "ERROR (5%) or ERROR (0.05%)"),
    (FROM + "DURATION 1 HOUR", "DURATION [70, 500]"),
    (FROM + "EVERY 5 WHERE a", "the order is WHERE"),
    (FROM + "INTO console()", "CREATE QUERY"),
    ("SELECT a, FROM t", "remove the comma before it"),
    ("SELECT a, order FROM t", "backquotes: `order`"),
    ("SELECT count(*) error FROM t", "AS `error`"),
    ("SELECT count(* FROM t", "close the call"),
    (FROM + "WHERE a && b", "AND"),
    ("SET memory = 64 MB", "'64 MB'"),
    ("SET memory = 64 'x'", "semicolon"),
    ("CREATE MATERIALIZED VIEW v AS SELECT a FROM t", "CREATE QUERY"),
    ("CREATE STREAM s (ts timestamp) FROM csv('x')", "TIME ts"),
    ("CREATE STREAM s (ts timestamp NOT NULL) TIME ts", "a name and a type"),
    ("CREATE STREAM s (ts timestamp) TIME ts FROM 'x.csv'", "parquet('x.csv')"),
    (
        "CREATE STREAM s (ts timestamp) TIME ts WATERMARK 5",
        "LATENESS, MAX AHEAD, UNIT, IDLE AFTER",
    ),
    ("CREATE STREAM s (ts timestamp) TIME ts MAX 1 HOUR", "MAX AHEAD 1 HOUR"),
    ("CREATE STREAM s (ts timestamp) TIME ts ON BAD ROW IGNORE", "ON BAD ROW SET ASIDE"),
    ("CREATE STREAM s (ts timestamp) TIME ts ON ERROR FAIL", "ON BAD ROW FAIL"),
    ("CREATE HISTORY ON s (p) LEVELS (1 SECOND)", "FOREVER"),
    ("CREATE QUERY q AS " + FROM + "INTO console() EVERY 5", "before INTO"),
    ("SELECT a FROM HISTORY(s) [1 HOUR]", "[FROM '2026"),
    (FROM + "WHERE a = ?", "no parameters"),
]


@pytest.mark.parametrize(("text", "part"), HINTS, ids=[text for text, _ in HINTS])
def test_what_other_dialects_have_is_told_in_words_of_ours(text: str, part: str) -> None:
    assert part in str(error_of(text).hint)


def test_an_error_of_the_whole_text_has_no_place() -> None:
    assert error_of(None).code == "WS100"
    assert error_of("a" * 65_537).code == "WS101"
    assert error_of("é" * 32_769).code == "WS101"


def test_a_statement_is_not_a_query() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_query("-- the budget\nSET memory = 5")
    assert caught.value.code == "WS160"
    assert caught.value.place is not None
    assert caught.value.place.line == 2


def test_a_deep_caller_gets_an_error_of_ours() -> None:
    def call_from_depth(frames: int) -> None:
        if frames:
            call_from_depth(frames - 1)
        else:
            parse_query("SELECT " + "(" * 30 + "a" + ")" * 30 + " FROM t")

    used = len(_frames())
    with pytest.raises(QuerySyntaxError) as caught:
        call_from_depth(sys.getrecursionlimit() - used - 80)
    assert caught.value.code == "WS162"


def _frames() -> list[object]:
    frames: list[object] = []
    frame = sys._getframe()
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
    return frames


def test_every_code_is_tested() -> None:
    folder = Path(windrow.sql.__file__).parent
    raised = {
        code
        for path in folder.glob("*.py")
        for code in re.findall(r'"(W[SU]\d+)"', path.read_text())
    }
    tested = {row[0] for row in WITH_PLACE} | {"WS100", "WS101", "WS160", "WS162"}
    assert raised <= tested


def test_places_count_lines_and_columns_from_one_in_a_script() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_script("SET a = 1;\n\nSELECT x\n  FROM t [5 MINTUES]")
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (4, 13)
    assert str(caught.value).splitlines()[1:3] == ["  FROM t [5 MINTUES]", "            ^^^^^^^"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("SELCT a FROM t", "SELECT"),
        ("SELECT a FORM t", "FROM"),
        (FROM + "[RNAGE 5]", "RANGE"),
        (FROM + "[RANGE 10 SECONDS SLDIE 5 SECONDS]", "SLIDE"),
        (FROM + "[5 SECOND] WHRE a", "WHERE"),
        (FROM + "[5 SECOND] EVRY (5)", "EVERY"),
        (FROM + "WHERE a > 1 HAVNG b > 1", "HAVING"),
        ("CREATE STERAM s (a int) TIME a", "STREAM"),
        ("EXPLIAN SELECT a FROM t", "EXPLAIN"),
    ],
)
def test_a_misspelt_keyword_is_named(text: str, meant: str) -> None:
    assert f"did you mean {meant}" in (error_of(text).hint or "")
