"""Long texts on narrow terminals: broken between words, and carets that still point."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from windrow.apps.terminal.fitting import fitted_error, fitted_lines
from windrow.errors import BindingError, Place

PLAN = """\
aggregate over one window
  input temp [10 minutes]
  updates     strict: the row of a group is replaced at every change, at no known time
  buckets     by (temp.location) = (smoke.location): rows join only with rows of an equal key"""


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_a_plan_keeps_its_words_and_its_columns(width: int) -> None:
    lines = fitted_lines(PLAN, width)
    assert all(cell_len(line) <= width for line in lines)
    assert " ".join(lines).split() == PLAN.split()
    texts = [line for line in lines if line.startswith(" " * 14)]
    assert len(texts) == len(lines) - 4
    assert fitted_lines(PLAN, 200) == PLAN.split("\n")


def test_an_address_stays_whole() -> None:
    address = "http://127.0.0.1:8642/?token=" + "x" * 60
    assert address in fitted_lines(f"The console is at {address}", 40)


LONG = "CREATE STREAM s (location STRING, ts TIMESTAMP) TIME ts FROM parket('data/temp.parquet');"


@pytest.mark.parametrize("width", [30, 60, 80, 140])
@pytest.mark.parametrize("word", ["CREATE", "location", "parket"])
def test_carets_point_at_their_word_in_a_cut_line(width: int, word: str) -> None:
    place = Place(LONG, 1, LONG.index(word) + 1, len(word))
    error = BindingError("WB510", f"there is no source {word!r}", hint="a " * 40, place=place)
    lines = fitted_error(error, width)
    (carets,) = [number for number, line in enumerate(lines) if not line.strip(" ^")]
    begin = lines[carets].index("^")
    assert lines[carets - 1][begin : begin + len(word)] == word
    assert all(cell_len(line) <= width for line in lines)


def test_wide_lines_that_cannot_be_cut_are_left_as_they_are() -> None:
    place = Place("日本 " * 20 + "temp", 1, 61, 4)
    lines = fitted_error(BindingError("WB201", "there is no stream", place=place), 40)
    assert lines[-2:] == place.underlined().split("\n")
