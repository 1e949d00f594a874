r"""Where statements end: at a semicolon outside texts and comments; a \command with its line."""

from __future__ import annotations

import re

__all__ = ["is_complete", "is_plain_word", "split"]

# Complete pieces in which a semicolon means nothing, then one character of anything else.
_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | --[^\n]* | /\*.*?\*/ | .""",
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*\Z", re.DOTALL)


def split(text: str) -> tuple[list[str], str]:
    r"""The complete statements and commands of a text, and what is left behind the last of them.

    >>> split("\\d temp\nSELECT ';' -- no;\n FROM s; SELECT")
    (['\\d temp', "SELECT ';' -- no;\n FROM s;"], 'SELECT')
    >>> split("-- what there is\n\\d")
    (['\\d'], '')
    """
    found: list[str] = []
    start = position = 0
    while position < len(text):
        if text[position] == "\\" and _BLANK.match(text[start:position]):
            line = text[position:].partition("\n")[0]
            found.append(line.strip())
            start = position = position + len(line)
            continue
        piece = _PIECE.match(text, position)
        assert piece is not None  # the last alternative takes any character
        position = piece.end()
        if piece[0] == ";":
            found.append(text[start:position].strip())
            start = position
    return [each for each in found if each != ";"], _rest(text[start:])


def is_complete(text: str) -> bool:
    """Whether Enter runs the text: nothing but space is left behind its last statement."""
    statements, rest = split(text)
    return is_plain_word(text) or (bool(statements) and not rest)


def is_plain_word(text: str) -> bool:
    """Whether it is what people type who do not know the shell yet: help, quit or exit."""
    return text.strip(" \n;").lower() in ("help", "quit", "exit")


def _rest(text: str) -> str:
    return "" if _BLANK.match(text) else text.strip()
