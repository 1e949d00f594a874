"""Carets stand below the word that is wrong, also where letters are wider than others."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from windrow.errors import Place

PLACES = [
    ("SELECT a FROM temp", "temp"),
    ("SELECT 日本 FROM temp", "temp"),
    ("SELECT 日本 FROM temp", "日本"),
    ("SELECT '🔥 e\u0301' FROM temp", "temp"),
]


@pytest.mark.parametrize(("line", "word"), PLACES)
def test_carets_stand_below_their_word(line: str, word: str) -> None:
    begin = line.index(word)
    shown, carets = Place(line, 1, begin + 1, len(word)).underlined().split("\n")
    assert shown == line
    assert len(carets) - len(carets.lstrip()) == cell_len(line[:begin])
    assert carets.count("^") == cell_len(word)


def test_a_place_at_the_end_of_a_line_has_one_caret() -> None:
    assert Place("SELECT", 1, 7, 3).underlined() == "SELECT\n      ^"
