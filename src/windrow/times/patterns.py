"""Date patterns of Spark, read: which letters and how many of each, quoted text, optional parts.

Letters that Spark refuses are refused, those of weeks and of Java's own inventions among them.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Field", "Optional", "Pattern", "PatternError", "Quoted", "read_pattern"]

MAX_PATTERN_CHARACTERS = 200
# How many times a letter may stand, in patterns that write and in patterns that read.
_COUNTS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys("GMLEQq", (1, 2, 3, 4)),
    "y": (1, 2, 3, 4, 5, 6),
    **dict.fromkeys("dhHkKms", (1, 2)),
    "D": (1, 2, 3),
    "F": (1,),
    "a": (1,),
    "S": tuple(range(1, 10)),
    "V": (2,),
    "z": (1, 2, 3, 4),
    "O": (1, 4),
    **dict.fromkeys("XxZ", (1, 2, 3, 4, 5)),
}
_ONLY_WRITTEN = frozenset("EFQq")
_RESERVED = frozenset("#{}")


class PatternError(ValueError):
    """A pattern that Spark refuses, or that is not run here."""


@dataclass(frozen=True)
class Field:
    """A letter, so many times."""

    letter: str
    count: int


@dataclass(frozen=True)
class Quoted:
    """Text that stands for itself."""

    text: str


@dataclass(frozen=True)
class Optional:
    """Parts in square brackets: a text that is read may leave them out."""

    parts: tuple[Part, ...]


Part = Field | Quoted | Optional
Pattern = tuple[Part, ...]


def read_pattern(text: str, *, is_read: bool) -> Pattern:
    """The parts of a pattern; is_read: it is for reading texts rather than for writing them.

    >>> read_pattern("yyyy'T'", is_read=False)
    (Field(letter='y', count=4), Quoted(text='T'))
    """
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise PatternError(f"a pattern has at most {MAX_PATTERN_CHARACTERS} characters")
    parts, place = _parts(text, 0, is_read, depth=0)
    if place < len(text):
        raise PatternError("']' closes no '['")
    return parts


def _parts(text: str, place: int, is_read: bool, depth: int) -> tuple[Pattern, int]:
    found: list[Part] = []
    while place < len(text):
        sign = text[place]
        if sign == "]":
            return (tuple(found), place)
        if sign == "[":
            inner, place = _parts(text, place + 1, is_read, depth + 1)
            if place >= len(text):  # Java closes it by itself
                return (*found, Optional(inner)), place
            found.append(Optional(inner))
            place += 1
        elif sign == "'":
            quoted, place = _quoted(text, place)
            found.append(quoted)
        elif sign.isascii() and sign.isalpha():
            end = place
            while end < len(text) and text[end] == sign:
                end += 1
            found.append(_field(sign, end - place, is_read))
            place = end
        elif sign in _RESERVED:
            raise PatternError(f"{sign!r} is reserved: put it in quotes, as '{sign}'")
        else:
            found.append(Quoted(sign))
            place += 1
    return tuple(found), place


def _quoted(text: str, place: int) -> tuple[Quoted, int]:
    """Text in quotes, two of which are one; '' alone is a quote."""
    letters: list[str] = []
    place += 1
    while place < len(text):
        if text[place] == "'":
            if text[place + 1 : place + 2] != "'":
                return Quoted("".join(letters) or "'"), place + 1
            place += 1
        letters.append(text[place])
        place += 1
    raise PatternError("a quote is not closed")


def _field(letter: str, count: int, is_read: bool) -> Field:
    counts = _COUNTS.get(letter)
    if counts is None:
        raise PatternError(f"there is no letter {letter!r} in date patterns")
    if is_read and letter in _ONLY_WRITTEN:
        raise PatternError(f"{letter!r} can be written, but not read")
    if count not in counts:
        most = " or ".join(map(str, counts)) if len(counts) < 3 else f"1 to {counts[-1]}"
        raise PatternError(f"{letter * count!r} is not possible: {letter!r} stands {most} times")
    return Field(letter, count)
