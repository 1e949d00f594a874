"""While somebody types: completion, colours, and the wrong word underlined."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from windrow.apps.shell.checking import Checker
from windrow.apps.shell.commands import COMMANDS
from windrow.apps.shell.completion import Completing, possible
from windrow.apps.shell.desk import Desk
from windrow.apps.shell.highlighting import Highlighting, coloured
from windrow.apps.shell.lines import run_lines
from windrow.apps.shell.workbench import Workbench
from windrow.apps.terminal.screen import Screen

BUILDING = """
CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts;
CREATE STREAM smoke (location STRING, ts TIMESTAMP, strength DOUBLE, `order` INT) TIME ts;
CREATE QUERY alarms AS SELECT COUNT(*) AS n FROM temp [1 MINUTE];
"""


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    desk = Desk(Screen(machine=True))
    with closing(desk.bench):
        run_lines(desk, io.StringIO(BUILDING))
        yield desk.bench


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("SEL", ["SELECT"]),
        ("sel", ["select"]),
        ("create ", ["STREAM", "QUERY", "VIEW", "HISTORY"]),
        ("SELECT cel", ["celsius"]),
        ("SELECT COU", ["COUNT("]),
        ("SELECT * FROM ", ["temp", "smoke", "HISTORY("]),
        ("SELECT s| FROM temp [1 MINUTE]", ["smoke"]),
        ("SELECT sig| FROM temp [1 MINUTE]", ["sign("]),
        ("SELECT t.| FROM smoke [1 MINUTE] AS t", ["location", "ts", "strength"]),
        ("SELECT COUNT(*) FROM smoke [1 MINUTE] WHERE s", ["strength", "smoke"]),
        ("SELECT COUNT(*) FROM temp [10 MIN", ["MINUTES", "MINUTE"]),
        ("SELECT COUNT(*) FROM temp [R", ["RANGE", "ROWS"]),
        ("SELECT smoke.", ["location", "ts", "strength", "`order`"]),
        ("SELECT COUNT(*) FROM smoke [1 HOUR] AS s, temp [1 HOUR] AS t WHERE t.c", ["celsius"]),
        ("SELECT COUNT(*) FROM temp [1 HOUR] GR", ["GREATEST(", "GROUP"]),
        ("SELECT 1; CREATE HISTORY ON t", ["temp"]),
        ("CREATE STREAM s (ts TIMES", ["TIMESTAMP"]),
        ("CREATE STREAM s (ts TIMESTAMP) TIME ts FROM par", ["parquet("]),
        ("SET m", ["memory"]),
    ],
)
def test_what_may_come_next(bench: Workbench, text: str, first: list[str]) -> None:
    before, _, behind = text.partition("|")
    found = [word for word, _ in possible(bench, before, behind)]
    assert found[: len(first)] == first
    assert len(found) == len(set(found))


def completed(bench: Workbench, text: str) -> list[str]:
    event = CompleteEvent(completion_requested=True)
    return [each.text for each in Completing(bench).get_completions(Document(text), event)]


def test_commands_and_their_names_are_completed(
    bench: Workbench, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert completed(bench, "\\") == list(COMMANDS)
    assert completed(bench, "\\wa") == ["\\watch"]
    assert completed(bench, "\\stop ") == ["alarms"]
    assert completed(bench, "\\d s") == ["smoke"]
    assert completed(bench, "\\push ") == ["temp", "smoke"]
    assert completed(bench, "\\help ") == []
    monkeypatch.chdir(str(tmp_path))
    with open("rows.csv", "w") as file:
        file.write("ts")
    assert completed(bench, "\\push temp ro") == ["ws.csv"]
    assert completed(bench, "\\load ro") == ["ws.csv"]


def test_nothing_is_offered_where_no_word_has_begun(bench: Workbench) -> None:
    quiet = CompleteEvent(text_inserted=True)
    assert list(Completing(bench).get_completions(Document("SELECT "), quiet)) == []


def underlined(bench: Workbench, text: str, cursor: int | None = None) -> str | None:
    part = Checker(bench).wrong_part(text, len(text) if cursor is None else cursor)
    return None if part is None else text[slice(*part)]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("SELECT celsus FROM temp [1 MINUTE]  ", "celsus"),
        ("SELECT celsius\nFROM tmep [1 MINUTE];", "tmep"),
        ("SELECT celsius FROM temp [1 MINUTE] WHERE celsius = 'x' AND", None),
        ("SELECT celsius FROM temp [1 MONUTE] W", "MONUTE"),
        ("SELECT COUNT(", None),
        ("SELECT celsius FROM temp [1 MIN", None),
        ("SELECT 'open", None),
        ("SELEC", None),
        ("SELECTT celsius", "SELECTT"),
        ("\\watch nothing", None),
        ("", None),
        ("SELECT celsius FROM temp [1 MINUTE]; SELECT x FROM temp [1 MINUTE] ;", "x"),
    ],
)
def test_the_wrong_word_is_underlined(bench: Workbench, text: str, wrong: str | None) -> None:
    assert underlined(bench, text) == wrong


def test_a_word_is_not_wrong_while_it_is_typed(bench: Workbench) -> None:
    text = "SELECT celsu FROM temp [1 MINUTE] ;"
    assert underlined(bench, text, cursor=12) is None
    assert underlined(bench, text) == "celsu"


def test_a_long_text_is_checked_when_it_is_run(bench: Workbench) -> None:
    assert underlined(bench, "SELECT nothing FROM temp [1 MINUTE];" + " " * 4_000) is None


def test_colours() -> None:
    text = "SELECT COUNT(*), 'it''s' -- all\nFROM `a` [10 MINUTES] /* open"
    pieces = coloured(text)
    assert "".join(piece for _, piece in pieces) == text
    styled = {piece: style.removeprefix("class:") for style, piece in pieces if style}
    assert (styled["SELECT"], styled["COUNT"], styled["10"]) == ("keyword", "function", "number")
    assert (styled["MINUTES"], styled["-- all"]) == ("unit", "comment")
    assert styled["/* open"] == "comment"
    assert coloured("\\watch a")[0] == ("class:command", "\\watch")


def test_lines_are_coloured_and_underlined(bench: Workbench) -> None:
    text = "SELECT celsius,\n  celsus\nFROM temp [1 MINUTE] ;"
    lines = Highlighting(Checker(bench)).lex_document(Document(text))
    shown = ["".join(piece for _, piece in lines(number)) for number in range(3)]
    assert "\n".join(shown) == text
    assert ("class:wrong", "celsus") in lines(1)
    assert lines(9) == []
