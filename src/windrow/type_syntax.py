"""The words of a type as a small tree: what DDL texts and SQL write, in all dialects' spellings.

    INT, VARCHAR(20), DECIMAL(10, 2), DOUBLE PRECISION, TIMESTAMP(3) WITH LOCAL TIME ZONE
    ARRAY<INT>, INT ARRAY, INT[], LIST(INT), MAP<STRING, INT>, MAP(STRING, INT)
    STRUCT<a: INT, b: STRING>, STRUCT(a INT), ROW<a INT>, ROW(a INT)

What the words mean is said in schema.py. NOT NULL and COMMENT '...' may stand behind a type, and
are passed over: every column may be NULL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "MAX_TYPE_DEPTH",
    "TypeSyntax",
    "TypeSyntaxError",
    "TypeWord",
    "columns_in",
    "type_in",
    "type_in_words",
]

# How deep types may be nested: INT is of depth 1, ARRAY<INT> of depth 2.
MAX_TYPE_DEPTH = 16

_WORD = re.compile(
    r"\s*(?:(?P<quoted>`[^`]+`|\"[^\"]+\")|(?P<string>'[^']*')|(?P<number>\d+)"
    r"|(?P<word>\w+)|(?P<sign>[<>(),:\[\]]))"
)
_LISTS = frozenset(["array", "list"])
_ROWS = frozenset(["struct", "row"])
_CLOSING = {"<": ">", "(": ")"}
# Words that go on with a name of several, the longest first.
_FURTHER_WORDS = {
    "double": (("precision",),),
    "character": (("varying",),),
    "timestamp": (
        ("with", "local", "time", "zone"),
        ("with", "time", "zone"),
        ("without", "time", "zone"),
    ),
}
_FIELDS_OF_TIME = ("year", "month", "day", "hour", "minute", "second")


@dataclass(frozen=True)
class TypeWord:
    """One word of a text. kind: 'word', 'quoted', 'number', 'string' or 'sign'."""

    kind: str
    text: str


@dataclass(frozen=True)
class TypeSyntax:
    """A type as it is written.

    name: in small letters, its words one space apart; 'array', 'map' and 'struct' whatever they are
    called in the text. numbers: in brackets behind it. parts: of a nested type, with their names.
    """

    name: str
    numbers: tuple[int, ...] = ()
    parts: tuple[tuple[str, TypeSyntax], ...] = ()


class TypeSyntaxError(ValueError):
    """The words are no type; hint: what could be written."""

    def __init__(self, message: str, hint: str, *, is_depth: bool = False) -> None:
        super().__init__(message)
        self.message, self.hint, self.is_depth = message, hint, is_depth


def type_in(text: str) -> TypeSyntax:
    """The one type in a text.

    >>> type_in("array<struct<a: int>>").parts[0][1].parts
    (('a', TypeSyntax(name='int', numbers=(), parts=())),)
    """
    reader = _Reader(_words(text))
    found = reader.type()
    reader.accept_remarks()
    reader.expect_end(text)
    return found


def type_in_words(words: Sequence[TypeWord]) -> tuple[TypeSyntax, int]:
    """The type that the words begin with, and how many words it has."""
    reader = _Reader(words)
    return reader.type(), reader.place


def columns_in(text: str) -> list[tuple[str, TypeSyntax]]:
    """The columns of a DDL text: names and types.

    >>> [name for name, _ in columns_in("a int, b map<string, int>")]
    ['a', 'b']
    """
    reader = _Reader(_words(text))
    found = []
    while not reader.at_end:
        found.append(reader.field("column"))
        if not reader.accept(","):
            break
    reader.expect_end(text)
    return found


def _words(text: str) -> list[TypeWord]:
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = _WORD.match(text, place)
        if match is None:
            rest = text[place:].strip()
            raise TypeSyntaxError(f"{rest[:40]!r} is no part of a type", "write a name and a type")
        kind = str(match.lastgroup)
        word = match.group(kind)
        found.append(TypeWord(kind, word[1:-1] if kind == "quoted" else word))
        place = match.end()
    return found


class _Reader:
    """Reads words from left to right."""

    def __init__(self, words: Sequence[TypeWord]) -> None:
        self._words = words
        self.place = 0
        self._depth = 0
        self._half_closed = False  # `>>` closes two levels, and the first of them was read

    @property
    def at_end(self) -> bool:
        return self.place >= len(self._words)

    def type(self) -> TypeSyntax:
        """The type that comes next, with all [] and ARRAY behind it."""
        self._depth += 1
        if self._depth > MAX_TYPE_DEPTH:
            raise _too_deep()
        found, depth = self._base(), self._depth
        while self._accepts_array():
            depth += 1
            if depth > MAX_TYPE_DEPTH:
                raise _too_deep()
            found = TypeSyntax("array", (), (("element", found),))
        self._depth -= 1
        return found

    def field(self, what: str) -> tuple[str, TypeSyntax]:
        """A name and its type, `a INT` or `a: INT`."""
        name = self._take(("word", "quoted", "number"), f"the name of a {what}")
        self.accept(":")
        found = self.type()
        self.accept_remarks()
        return name, found

    def accept(self, sign: str) -> bool:
        if self._at(sign):
            self.place += 1
            return True
        return False

    def accept_remarks(self) -> None:
        """NOT NULL, NULL and COMMENT '...', in any order."""
        while True:
            if self._at("not") and self._at("null", 1):
                self.place += 2
            elif self._at("null"):
                self.place += 1
            elif self._at("comment") and self._kind(1) == "string":
                self.place += 2
            else:
                return

    def expect_end(self, text: str) -> None:
        if not self.at_end:
            rest = self._words[self.place].text
            raise TypeSyntaxError(
                f"{rest!r} cannot follow a type in {_cut(text)!r}",
                "write a name and a type, and a comma before the next",
            )

    def _base(self) -> TypeSyntax:
        name = self._take(("word",), "a type").lower()
        if name in _LISTS and self._at_opening():
            return self._list()
        if name == "map" and self._at_opening():
            return self._map()
        if name in _ROWS and self._at_opening():
            return self._row()
        if name in (*_LISTS, "map", *_ROWS):
            raise TypeSyntaxError(
                f"{name.upper()} lacks what it holds", "write ARRAY<INT>, MAP<STRING, INT> or "
                "STRUCT<a: INT, b: STRING>",
            )  # fmt: skip
        numbers = self._numbers()
        name = self._further_words(name)
        return TypeSyntax(name, numbers or self._numbers())

    def _further_words(self, name: str) -> str:
        if name == "interval":
            return self._interval()
        for words in _FURTHER_WORDS.get(name, ()):
            if all(self._at(word, ahead) for ahead, word in enumerate(words)):
                self.place += len(words)
                return " ".join((name, *words))
        return name

    def _interval(self) -> str:
        """INTERVAL DAY TO SECOND; digits, as in DAY(3), are passed over."""
        words = ["interval"]
        while any(self._at(field) for field in _FIELDS_OF_TIME):
            words.append(self._words[self.place].text.lower())
            self.place += 1
            self._numbers()
            if len(words) > 2 or not self.accept("to"):
                break
            words.append("to")
        return " ".join(words)

    def _numbers(self) -> tuple[int, ...]:
        if not (self._at("(") and self._kind(1) == "number"):
            return ()
        self.place += 1
        found = [int(self._take(("number",), "a number"))]
        while self.accept(","):
            found.append(int(self._take(("number",), "a number")))
        self._close("(")
        return tuple(found)

    def _list(self) -> TypeSyntax:
        opening = self._open()
        element = self.type()
        self.accept_remarks()
        self._close(opening)
        return TypeSyntax("array", (), (("element", element),))

    def _map(self) -> TypeSyntax:
        opening = self._open()
        key = self.type()
        self.accept_remarks()
        if not self.accept(","):
            raise TypeSyntaxError("MAP lacks the type of its values", "write MAP<STRING, INT>")
        value = self.type()
        self.accept_remarks()
        self._close(opening)
        return TypeSyntax("map", (), (("key", key), ("value", value)))

    def _row(self) -> TypeSyntax:
        opening = self._open()
        parts = [self.field("field")]
        while self.accept(","):
            parts.append(self.field("field"))
        self._close(opening)
        return TypeSyntax("struct", (), tuple(parts))

    def _accepts_array(self) -> bool:
        if self._half_closed:
            return False
        if self._at("["):
            self.place += 1
            if self._kind(0) == "number":  # INT[3]: how many there are is not checked anywhere
                self.place += 1
            if not self.accept("]"):
                raise TypeSyntaxError("[ is not closed", "write INT[], or ARRAY<INT>")
            return True
        if self._at("array") and not self._at_opening(1):
            self.place += 1
            return True
        return False

    def _open(self) -> str:
        self.place += 1
        return self._words[self.place - 1].text

    def _close(self, opening: str) -> None:
        closing = _CLOSING[opening]
        if closing == ">" and self._half_closed:
            self._half_closed = False
            self.place += 1
        elif closing == ">" and self._at(">>"):
            self._half_closed = True
        elif not self.accept(closing):
            found = "the end" if self.at_end else repr(self._words[self.place].text)
            raise TypeSyntaxError(
                f"expected {closing!r} in a type, found {found}", f"close it with {closing}"
            )

    def _at_opening(self, ahead: int = 0) -> bool:
        return self._at("<", ahead) or self._at("(", ahead)

    def _at(self, word: str, ahead: int = 0) -> bool:
        place = self.place + ahead
        if place >= len(self._words) or (self._half_closed and word != ">>"):
            return False
        found = self._words[place]
        return found.kind in ("word", "sign") and found.text.lower() == word

    def _kind(self, ahead: int) -> str:
        place = self.place + ahead
        return self._words[place].kind if place < len(self._words) else "end"

    def _take(self, kinds: tuple[str, ...], what: str) -> str:
        if self._half_closed or self._kind(0) not in kinds:
            found = "the end" if self.at_end else repr(self._words[self.place].text)
            raise TypeSyntaxError(f"expected {what}, found {found}", f"write {what} there")
        self.place += 1
        return self._words[self.place - 1].text


def _too_deep() -> TypeSyntaxError:
    return TypeSyntaxError(
        f"the type is nested deeper than {MAX_TYPE_DEPTH}",
        "flatten it, or declare the inner part as STRING and read it as JSON",
        is_depth=True,
    )


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."
