"""Rows on the screen and as lines of JSON: whatever they hold, a row stays a row."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import StringIO

import pyarrow as pa
import pytest
from rich.cells import cell_len
from rich.console import Console

from windrow.apps.terminal.json_rows import PIECE_ROWS, as_json, json_line
from windrow.apps.terminal.live_table import live_table
from windrow.apps.terminal.rows import as_lines

MOMENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
UNFIT = "two\nlines\ttab\r\x1b[31mred\x1b[0m\x85\u2028\u202eback\x00"


def test_columns_are_aligned_by_what_letters_take() -> None:
    rooms = ["lab", "日本語の部屋", "büro 🔥", "e\u0301tage"]
    lines = as_lines(pa.table({"room": rooms, "n": [1, 22, 333, 4]}))
    assert {cell_len(line) for line in lines} == {cell_len("日本語の部屋") + len("  333")}


@pytest.mark.parametrize("name", ["n", "[red]n[/red]", "two\nlines"])
def test_values_cannot_break_a_table(name: str) -> None:
    table = pa.table({name: [UNFIT, "plain"]})
    drawn = Console(file=StringIO(), width=200, force_terminal=True, color_system=None)
    drawn.print(live_table(table, 10))
    shown = drawn.file.getvalue()
    for lines in (as_lines(table), shown.splitlines()):
        assert len(lines) == 3
        assert lines[1].strip().startswith(r"two\nlines\ttab\r\x1b[31mred")
        assert not any(letter in "".join(lines) for letter in "\t\r\x1b\x85\u2028\u202e\x00")
    assert name.replace("\n", r"\n") in shown


def test_what_stands_to_the_right() -> None:
    lines = as_lines(
        pa.table({"b": [True, None], "n": pa.array([None, 10]), "d": [Decimal(1)] * 2})
    )
    assert lines == ["b        n  d", "true  NULL  1", "NULL    10  1"]


VALUES = pa.table(
    {
        "at": [MOMENT, MOMENT.replace(microsecond=5), None],
        "n": [2**53 + 1, None, -1],
        "s": [UNFIT, None, 'a "quote" 100%s'],
        "f": [math.nan, -math.inf, 0.1],
        "p": [Decimal("1.50"), None, Decimal(0)],
        "y": [date(2026, 1, 1), None, date(1, 1, 1)],
        "w": [timedelta(seconds=1.5), None, timedelta(0)],
        "o": [True, None, False],
        "l": [["a"], None, []],
    }
)


def test_every_value_is_one_line_of_json() -> None:
    lines = list(as_json(VALUES, event="answer"))
    assert all(len(line.splitlines()) == 1 for line in lines)
    found = [json.loads(line) for line in lines]
    assert [row["at"] for row in found] == [
        "2026-01-01T12:00:00Z",
        "2026-01-01T12:00:00.000005Z",
        None,
    ]
    assert [row["n"] for row in found] == [2**53 + 1, None, -1]
    assert [row["s"] for row in found] == VALUES["s"].to_pylist()
    assert [row["f"] for row in found] == ["nan", "-inf", 0.1]
    assert [row["p"] for row in found] == ["1.50", None, "0.00"]
    assert [row["w"] for row in found] == [1.5, None, 0.0]
    assert found[0]["y"] == "2026-01-01"
    # An event of one object is written as a row of a table is.
    assert found == [
        json.loads(json_line({"event": "answer", **row})) for row in VALUES.to_pylist()
    ]


def test_a_column_cannot_take_the_place_of_the_event() -> None:
    table = pa.table({"event": ["x"], "event_value": ["y"], "query": [1], "100%s": [2]})
    (line,) = as_json(table, event="answer", query="50%s")
    assert json.loads(line) == {
        "event": "answer",
        "query": "50%s",
        "event_value": "x",
        "event_value_value": "y",
        "query_value": 1,
        "100%s": 2,
    }


def test_many_rows_are_written_in_pieces_and_none_is_lost() -> None:
    numbers = list(range(2 * PIECE_ROWS + 1))
    lines = as_json(pa.table({"n": numbers}), event="answer")
    assert [json.loads(line)["n"] for line in lines] == numbers
    assert list(as_json(pa.table({"n": pa.array([], pa.int64())}), event="answer")) == []
