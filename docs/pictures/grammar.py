"""Rules of a grammar in EBNF, as the page of the grammar writes them, read into trees."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Choice", "Node", "Optional", "Repeat", "Rule", "Sequence", "Word", "rules_of"]


@dataclass(frozen=True)
class Word:
    """A word or sign as it is written."""

    text: str


@dataclass(frozen=True)
class Rule:
    """What the rule of that name says."""

    name: str


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """One or the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Optional:
    """May be left out."""

    part: Node


@dataclass(frozen=True)
class Repeat:
    """Once or more often, or also not at all."""

    part: Node
    least: int


Node = Word | Rule | Sequence | Choice | Optional | Repeat

FENCE = re.compile(r"^```ebnf\n(.*?)^```$", re.M | re.S)
DEFINITION = re.compile(r"^(\w+)\s*::=(.*?)(?=^\w+\s*::=|\Z)", re.M | re.S)
TOKEN = re.compile(r"\s*(?:'([^']+)'|(\w+)|([()|?*+]))")


def rules_of(page: Path) -> dict[str, Node]:
    """All rules of a page, in their order."""
    text = "\n".join(FENCE.findall(page.read_text(encoding="utf-8")))
    return {name: _Reader(body).choice() for name, body in DEFINITION.findall(text)}


class _Reader:
    """Reads the right side of one rule."""

    def __init__(self, text: str) -> None:
        self._tokens = [match.groups() for match in TOKEN.finditer(text)]
        self._at = 0

    def choice(self) -> Node:
        """What comes next, up to a closing bracket or the end."""
        parts = [self._sequence()]
        while self._sign() == "|":
            self._at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Node:
        parts = []
        while self._at < len(self._tokens) and self._sign() not in ("|", ")"):
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self) -> Node:
        part = self._single()
        sign = self._sign()
        if sign not in ("?", "*", "+"):
            return part
        self._at += 1
        return Optional(part) if sign == "?" else Repeat(part, int(sign == "+"))

    def _single(self) -> Node:
        word, rule, sign = self._tokens[self._at]
        self._at += 1
        if sign == "(":
            inside = self.choice()
            self._at += 1
            return inside
        return Rule(rule) if word is None else Word(word)

    def _sign(self) -> str | None:
        return self._tokens[self._at][2] if self._at < len(self._tokens) else None
