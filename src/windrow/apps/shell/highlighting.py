"""Colours of WQL as it is typed, with the place of an error underlined."""

from __future__ import annotations

import re
from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from windrow.apps.shell.checking import Checker
from windrow.apps.shell.words import FUNCTIONS, KEYWORDS, TYPES, UNITS, WINDOW_WORDS

__all__ = ["STYLE", "Highlighting", "coloured"]

STYLE = Style.from_dict(
    {
        "prompt": "bold ansicyan",
        "keyword": "bold ansiblue",
        "function": "ansimagenta",
        "unit": "ansicyan",
        "string": "ansigreen",
        "number": "ansiyellow",
        "comment": "italic ansibrightblack",
        "command": "bold ansimagenta",
        "wrong": "underline ansired",
        "bottom-toolbar": "noreverse ansibrightblack",
        "bottom-toolbar.wrong": "noreverse ansired",
    }
)
_PIECE = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<string>'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)
    | (?P<quoted>`[^`]*`?)
    | (?P<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)
    | (?P<word>[^\W\d]\w*)
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_KINDS = {
    **dict.fromkeys([*TYPES, *UNITS], "unit"),
    **dict.fromkeys(FUNCTIONS, "function"),
    **dict.fromkeys([*KEYWORDS, *WINDOW_WORDS], "keyword"),
}


def coloured(text: str) -> list[tuple[str, str]]:
    """The text in pieces, each with its style."""
    if text.lstrip().startswith("\\"):
        name, space, rest = text.partition(" ")
        return [("class:command", name), ("", space + rest)]
    return [(_style(piece), piece[0]) for piece in _PIECE.finditer(text)]


def _style(piece: re.Match[str]) -> str:
    kind = piece.lastgroup or ""
    if kind == "word":
        known = _KINDS.get(piece[0].upper())
        return f"class:{known}" if known else ""
    return f"class:{kind}" if kind in ("comment", "string", "number") else ""


class Highlighting(Lexer):
    """Colours the lines of what is typed."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Colours for each line."""
        wrong = self._checker.wrong_part(document.text, document.cursor_position)
        lines: list[StyleAndTextTuples] = [[]]
        position = 0
        for style, piece in coloured(document.text):
            for index, part in enumerate(piece.split("\n")):
                if index:
                    lines.append([])
                    position += 1
                if part:
                    lines[-1] += _underlined(style, part, position, wrong)
                position += len(part)
        return lambda number: lines[number] if number < len(lines) else []


def _underlined(
    style: str, part: str, start: int, wrong: tuple[int, int] | None
) -> StyleAndTextTuples:
    """The part, cut where the wrong place begins and ends."""
    if wrong is None or wrong[1] <= start or start + len(part) <= wrong[0]:
        return [(style, part)]
    first, last = max(0, wrong[0] - start), min(len(part), wrong[1] - start)
    pieces = [(style, part[:first]), ("class:wrong", part[first:last]), (style, part[last:])]
    return [(each, text) for each, text in pieces if text]
