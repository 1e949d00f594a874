"""Every error that Windrow raises on purpose: a stable code and, where text is at fault, its place.

    WindrowError
    ├── QuerySyntaxError    WS…  the text is not WQL
    ├── BindingError        WB…  a name, type or option that cannot be what it is written as
    ├── UnsupportedError    WU…  right WQL that no part of the engine runs (yet)
    ├── AdmissionError      WA…  it would not fit into the memory budget
    ├── DataError           WD…  rows or values that cannot be taken
    └── CheckpointError     WC…  a checkpoint that belongs to something else, or is damaged

A message says what is wrong and what was given; the hint says what would be right.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = [
    "AdmissionError",
    "BindingError",
    "CheckpointError",
    "DataError",
    "Place",
    "QuerySyntaxError",
    "UnsupportedError",
    "WindrowError",
    "WindrowWarning",
]


# In an address what stands between user: and the last @, and what an option named password is
# given: a line of a script is shown without them.
_PASSWORD = re.compile(
    r"""(://[^\s:/@']*:)([^\s']*)(?=@)|(password\s*=\s*["']?)([^\s"';]+)""", re.IGNORECASE
)


@dataclass(frozen=True)
class Place:
    """Where in a text a word stands: line and column count from 1, length in characters."""

    text: str
    line: int
    column: int
    length: int = 1

    def underlined(self) -> str:
        r"""The line of the text with carets under the word.

        >>> print(Place("SELECT a\nFROM t", line=2, column=6, length=1).underlined())
        FROM t
             ^
        """
        lines = self.text.split("\n")
        shown = lines[self.line - 1] if 0 < self.line <= len(lines) else ""
        shown = _PASSWORD.sub(_starred, shown)
        begin = self.column - 1
        word = shown[begin : begin + max(1, self.length)]
        # Tabs are kept in the padding so that the caret stays below its word in a terminal.
        padding = "".join("\t" if c == "\t" else " " * _cells(c) for c in shown[:begin])
        return f"{shown}\n{padding}{'^' * max(1, sum(map(_cells, word)))}"


def _cells(letter: str) -> int:
    """How many places of a terminal a letter takes: some are as wide as two, some on another."""
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def _starred(found: re.Match[str]) -> str:
    """As long as it was, so that carets stay below their words."""
    _, url_password, _, password = found.groups()
    secret = url_password or password or ""
    return found[0].removesuffix(secret) + "*" * len(secret)


class WindrowWarning(RuntimeWarning):
    """Rows do not count that one may think do: late or bad ones, the first of each stream."""


class WindrowError(Exception):
    """Base of all errors of ours.

    >>> import windrow
    >>> try:
    ...     windrow.connect(memory="much")
    ... except windrow.WindrowError as error:
    ...     print(error.code, error.message)
    WB103 'much' is not a memory size
    """

    def __init__(
        self, code: str, message: str, *, hint: str | None = None, place: Place | None = None
    ) -> None:
        self.code = code
        self.message = message
        self.hint = hint
        self.place = place
        super().__init__(self._render())

    def _render(self) -> str:
        parts = [f"[{self.code}] {self.message}"]
        if self.place is not None:
            parts[0] += f" (line {self.place.line}, column {self.place.column})"
            parts.append(self.place.underlined())
        if self.hint:
            parts.append(f"Hint: {self.hint}")
        return "\n".join(parts)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # Errors cross process borders on Spark; keyword arguments would otherwise be lost.
        return _rebuild, (type(self), self.code, self.message, self.hint, self.place)


def _rebuild(
    kind: type[WindrowError], code: str, message: str, hint: str | None, place: Place | None
) -> WindrowError:
    return kind(code, message, hint=hint, place=place)


class QuerySyntaxError(WindrowError):
    """The text is not WQL."""


class BindingError(WindrowError):
    """A name, type or option that cannot be what it is written as."""


class UnsupportedError(WindrowError):
    """Right WQL, but no part of the engine runs it (yet)."""


class AdmissionError(WindrowError):
    """It would not fit into the memory budget."""


class DataError(WindrowError):
    """Rows or values that cannot be taken."""


class CheckpointError(WindrowError):
    """A checkpoint that belongs to something else, or is damaged."""
