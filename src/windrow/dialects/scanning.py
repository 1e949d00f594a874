"""A script of any dialect of SQL as statements of pieces: words, names, texts, numbers, signs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Piece", "Pieces", "closing", "select_items", "split_at_commas", "statements_of"]

_PIECE = re.compile(
    r"""
      (?P<comment>--[^\n]*|/\*.*?\*/)
    | (?P<text>'(?:[^']|'')*')
    | (?P<name>"(?:[^"]|"")*"|`[^`]*`)
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>->>|->|=>|:=|::|\|\||<=>|<>|!=|<=|>=|==|[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Piece:
    """kind: 'word', 'name' (in quotes), 'text', 'number' or 'sign'; where it begins and ends."""

    kind: str
    written: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        """A word in capitals, or a sign; nothing for what is in quotes."""
        return self.written.upper() if self.kind in ("word", "sign") else ""

    @property
    def bare(self) -> str:
        """Without its quotes."""
        if self.kind not in ("text", "name"):
            return self.written
        quote = self.written[0]
        return self.written[1:-1].replace(quote * 2, quote)

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.kind in ("word", "name")


Pieces = Sequence[Piece]


def statements_of(text: str) -> list[list[Piece]]:
    """The statements of a script, without comments and semicolons; empty ones are left out."""
    statements: list[list[Piece]] = [[]]
    for piece in _pieces(text):
        if piece.upper == ";":
            statements.append([])
        else:
            statements[-1].append(piece)
    return [statement for statement in statements if statement]


def _pieces(text: str) -> Iterator[Piece]:
    for found in _PIECE.finditer(text):
        kind = found.lastgroup or "sign"
        if kind != "comment":
            yield Piece(kind, found[0], found.start(), found.end())


def closing(pieces: Pieces, opening: int) -> int:
    """The place of the bracket that closes the one at a place; the last place if none does."""
    pairs = {"(": ")", "[": "]", "<": ">"}
    left, right = pieces[opening].upper, pairs[pieces[opening].upper]
    depth = 0
    for place in range(opening, len(pieces)):
        depth += (pieces[place].upper == left) - (pieces[place].upper == right)
        if depth == 0:
            return place
    return len(pieces) - 1


def split_at_commas(pieces: Pieces) -> list[list[Piece]]:
    """The parts between commas that are in no bracket."""
    parts: list[list[Piece]] = [[]]
    depth = 0
    for piece in pieces:
        depth += (piece.upper in ("(", "[", "<")) - (piece.upper in (")", "]", ">"))
        if piece.upper == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(piece)
    return [part for part in parts if part]


def select_items(pieces: Pieces) -> list[list[Piece]]:
    """The items of the first select list, where the statement begins with one."""
    if not pieces or pieces[0].upper != "SELECT":
        return []
    depth = 0
    for place, piece in enumerate(pieces):
        depth += (piece.upper == "(") - (piece.upper == ")")
        if piece.upper == "FROM" and depth == 0:
            return split_at_commas(pieces[1:place])
    return []
