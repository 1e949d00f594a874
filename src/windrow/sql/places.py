"""From offsets in a text to the places that errors show."""

from __future__ import annotations

from sqlglot import exp

from windrow.errors import Place

__all__ = ["place_at", "place_of"]


def place_at(text: str, start: int, length: int = 1) -> Place:
    r"""The place of the word that begins at this offset.

    >>> place = place_at("SELECT a\nFROM t", 14)
    >>> place.line, place.column
    (2, 6)
    """
    line = text.count("\n", 0, start) + 1
    column = start - text.rfind("\n", 0, start)
    return Place(text, line, column, max(1, length))


def place_of(expression: exp.Expr, text: str) -> Place | None:
    """The place of the first word of an expression, None where it was not read from a text."""
    spans = [node.meta for node in expression.walk() if "start" in node.meta]
    if not spans:
        return None
    first = min(spans, key=lambda meta: int(meta["start"]))
    return place_at(text, first["start"], first["end"] - first["start"] + 1)
