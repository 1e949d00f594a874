"""The pictures of the documentation are what their scripts draw, and each is shown somewhere."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
NAMES = sorted(path.stem for path in FOLDER.glob("*.svg"))
BYTES_LIMIT = 60_000
IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*pictures/([\w-]+)\.svg\)")


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("all_pictures")


def test_every_picture_is_as_its_script_draws_it(scripts: ModuleType) -> None:
    assert sorted(scripts.PICTURES) == NAMES
    for name, draw in scripts.PICTURES.items():
        committed = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
        assert draw().to_svg() == committed, f"run docs/pictures/all_pictures.py: {name}"


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_small_and_has_words_and_both_themes(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert len(text.encode()) < BYTES_LIMIT
    tree = ElementTree.fromstring(text)
    assert tree.findtext("{*}title")
    assert len(tree.findall("{*}text")) > 3
    assert "prefers-color-scheme: dark" in text


def test_every_picture_is_shown_with_words_for_those_who_do_not_see_it() -> None:
    pages = [path.read_text(encoding="utf-8") for path in FOLDER.parents[0].rglob("*.md")]
    shown = {match[2]: match[1] for page in pages for match in IMAGE.finditer(page)}
    assert sorted(shown) == NAMES
    assert all(len(words) > 20 for words in shown.values())


def test_words_that_lie_upon_each_other_are_found(scripts: ModuleType) -> None:
    picture = scripts.Picture(200, 60, "too narrow")
    picture.text(10, 30, "one thing")
    picture.text(30, 32, "another")
    with pytest.raises(AssertionError, match="lies upon"):
        picture.to_svg()
    with pytest.raises(AssertionError, match="in a box of 40"):
        picture.box(0, 0, 40, 20, "wider than its box")
