"""A text as words, quoted names, numbers, strings and signs, each with its offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token as RawToken
from sqlglot.tokenizer_core import TokenType

from windrow.errors import Place, QuerySyntaxError
from windrow.sql.dialect import WQL
from windrow.sql.elsewhere import SIGNS
from windrow.sql.places import place_at

__all__ = ["Token", "tokens_of"]

_KINDS = {
    TokenType.VAR: "word",
    TokenType.IDENTIFIER: "quoted",
    TokenType.NUMBER: "number",
    TokenType.STRING: "string",
    TokenType.RAW_STRING: "string",
}
_SIGNS = frozenset(
    [
        *("(", ")", "[", "]", ",", ";", ".", "+", "-", "*", "/", "%", "||", "::", "!", ":"),
        *("&", "|", "^", "~"),
        *("=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">="),
    ]
)
_NO_SIGN = "put a name with such characters in backquotes, a text in single quotes"
_PREFIX_SIGNS = frozenset(["NOT", "!", "-", "+", "~"])
_WORD = re.compile(r"[^\W\d]\w*\Z")
_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)

# What has an end, complete; then anything else. What begins but does not match never ends.
_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | --[^\n]* | /\*.*?\*/ | (?!/\*)[^'"`]""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """kind: 'word', 'quoted' (a name in backquotes), 'number', 'string', 'sign' or 'end'."""

    kind: str
    text: str
    start: int
    end: int  # behind the last character

    @cached_property
    def upper(self) -> str:
        """The word in capitals or the sign; nothing for quoted names and literals."""
        return self.text.upper() if self.kind in ("word", "sign") else ""

    @property
    def opens_level(self) -> bool:
        """Whether what follows is nested one deeper."""
        return self.upper in ("(", "[", "CASE")

    @property
    def closes_level(self) -> bool:
        """Whether a nested part ends here."""
        return self.upper in (")", "]", "END")

    @property
    def is_prefix_sign(self) -> bool:
        """Whether it may stand several times in a row before an operand."""
        return self.upper in _PREFIX_SIGNS

    def place(self, text: str) -> Place:
        """Where it stands."""
        return place_at(text, self.start, self.end - self.start)

    def shown(self) -> str:
        """As an error names it."""
        if self.kind == "end":
            return "the end of the text"
        if self.kind == "string":
            return "a string"
        return f"'{self.text}'" if len(self.text) <= 40 else f"'{self.text[:40]}...'"


def tokens_of(text: str) -> list[Token]:
    """All tokens of the text and one of kind 'end'."""
    try:
        raw_tokens = WQL().tokenize(text)
    except TokenError as error:
        if isinstance(error.__cause__, RecursionError):  # sqlglot wraps whatever happens in there
            raise error.__cause__ from None
        raise _unterminated(text) from None
    tokens = [_token(raw, text) for raw in raw_tokens]
    tokens = _join_leading_dots(tokens)
    end = tokens[-1].end if tokens else 0
    tokens.append(Token("end", "", end, end))
    return tokens


def _token(raw: RawToken, text: str) -> Token:
    kind = _KINDS.get(raw.token_type, "sign")
    token = Token(kind, raw.text, raw.start, raw.end + 1)
    if (kind == "sign" and raw.text not in _SIGNS) or (
        kind == "word" and not _WORD.match(raw.text)
    ):
        raise QuerySyntaxError(
            "WS107",
            f"{raw.text!a} has no meaning in WQL",
            hint=SIGNS.get(raw.text, _NO_SIGN),
            place=token.place(text),
        )
    if "\0" in raw.text:  # an escape can make one: it has no spelling that reads back in all cases
        raise QuerySyntaxError(
            "WS154",
            "a text contains the character U+0000",
            hint="remove it",
            place=token.place(text),
        )
    if kind == "number" and not _NUMBER.match(raw.text):
        raise QuerySyntaxError(
            "WS111",
            f"{raw.text!r} is not a number",
            hint="write it like 12, 0.5 or 1e6",
            place=token.place(text),
        )
    if kind == "quoted" and not raw.text:
        raise QuerySyntaxError(
            "WS112",
            "a name is empty",
            hint="put a name between the backquotes",
            place=token.place(text),
        )
    return token


def _join_leading_dots(tokens: list[Token]) -> list[Token]:
    """`.5` as one number, unless the dot joins it to a name or number before."""
    joined: list[Token] = []
    for token in tokens:
        dot = joined[-1] if joined else None
        if dot is None or dot.text != "." or token.kind != "number" or dot.end != token.start:
            joined.append(token)
            continue
        before = joined[-2] if len(joined) > 1 else None
        if (before is not None and before.end == dot.start and before.kind != "sign") or (
            "." in token.text
        ):
            joined.append(token)
        else:
            joined[-1] = Token("number", f"0.{token.text}", dot.start, token.end)
    return joined


def _unterminated(text: str) -> QuerySyntaxError:
    position = 0
    while (piece := _PIECE.match(text, position)) is not None:
        position = piece.end()
    if position >= len(text):  # only a comment within a comment is complete here and open there
        position = text.find("/*")
    opening = text[position : position + 2] if text.startswith("/*", position) else text[position]
    what, closing = {"/*": ("comment", "*/"), "`": ("quoted name", "`")}.get(
        opening, ("string", opening)
    )
    return QuerySyntaxError(
        "WS106",
        f"the {what} that starts here never ends",
        hint=f"close it with {closing}",
        place=place_at(text, position, len(opening)),
    )
