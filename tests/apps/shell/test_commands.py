r"""The \commands: what is refused, help, and leaving."""

from __future__ import annotations

import pyarrow as pa
import pytest

from support.desks import typing
from windrow.apps.shell import commands
from windrow.apps.shell.commands import COMMANDS
from windrow.apps.shell.shown import show_newest
from windrow.apps.terminal.screen import Screen
from windrow.errors import WindrowError

BARE = "CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts;"


@pytest.mark.parametrize(
    ("line", "code", "hint"),
    [
        ("\\watsch", "WB520", "\\watch"),
        ("\\", "WB520", "\\"),
        ("\\stop", "WB521", "\\stop QUERY"),
        ("\\d a b", "WB521", "\\d [NAME]"),
        ("\\load 'job", "WB521", "quotes"),
        ("\\stop alarms", "WB522", "CREATE QUERY"),
        ("\\push temp rows.csv quickly", "WB523", "100/s"),
        ("\\push temp rows.txt", "WB524", "*.parquet"),
        ("\\push tepm rows.csv", "WB201", "temp"),
        ("\\push temp rows.csv", "WD501", "file"),
        ("\\d tmep", "WB525", "temp"),
        ("\\d something", "WB525", "\\d lists"),
        ("\\load nothing.wql", "WD510", "UTF-8"),
    ],
)
def test_what_is_refused(
    capsys: pytest.CaptureFixture[str], line: str, code: str, hint: str
) -> None:
    with typing(capsys) as typist:
        typist.types(BARE)
        with pytest.raises(WindrowError) as caught:
            typist.types(line)
    assert caught.value.code == code
    assert hint in (caught.value.hint or "")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with typing(capsys, machine=False) as person:
        shown = person.shown("\\help")
        assert max(map(len, shown.splitlines())) <= 80
    with typing(capsys) as typist:
        assert [each["command"].split()[0] for each in typist.types("\\?")] == list(COMMANDS)
    assert all(name in shown for name in COMMANDS)


@pytest.mark.parametrize(("rows", "shown"), [(3, range(3)), (150, range(50, 150))])
def test_of_many_answers_a_terminal_gets_the_newest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, rows: int, shown: range
) -> None:
    monkeypatch.setattr(Screen, "is_live", property(lambda _: True))
    screen, table = Screen(), pa.table({"n": range(rows)})
    show_newest(screen, "answer", table, rows)
    header, *numbers = capsys.readouterr().out.split()
    assert (header, [*map(int, numbers)]) == ("n", [*shown])


@pytest.mark.parametrize("word", ["exit", "QUIT;", "\\quit"])
def test_words_that_people_try(capsys: pytest.CaptureFixture[str], word: str) -> None:
    with typing(capsys) as typist:
        typist.types(word)
        assert typist.desk.is_left


def test_nothing_is_run_behind_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with typing(capsys) as typist:
        assert typist.types(f"\\q\n{BARE}") == []
        assert typist.desk.is_left
        assert not typist.desk.bench.job.streams


def test_the_building_flows(capsys: pytest.CaptureFixture[str]) -> None:
    with typing(capsys) as typist:
        typist.types("\\demo")
        bench = typist.desk.bench
        for _ in range(600):
            if bench.latest:
                break
            bench.closed.wait(0.05)
        alarm = typist.types("\\answers alarms")[0]
        assert alarm["n"] > 5
        streams = {each.get("stream") for each in typist.types("\\d")}
        assert {"temp", "smoke"} <= streams


def test_files_that_are_still_read_are_not_said_to_be_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with typing(capsys) as typist:
        typist.types(BARE)
        assert typist.types("\\again") == [{"event": "done", "kind": "rows", "rows": 0}]
        monkeypatch.setattr(commands, "wait_until_read", lambda *_: False)
        assert typist.types("\\again") == []
