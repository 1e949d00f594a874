"""Calls whose arguments have words between them: SUBSTRING(x FROM 1 FOR 3), POSITION(a IN b).

They are read as the call with commas that means the same, and print as that.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.tokens import Token

__all__ = ["CALLABLE_WORDS", "read_form"]

Reader = Callable[[Cursor], exp.Expression]
Read = tuple[str, list[exp.Expression]]

# Words of the language that are functions too, where a bracket follows.
CALLABLE_WORDS = frozenset(["LEFT", "RIGHT", "LIKE", "ILIKE", "RLIKE"])
_TRIMS = {"BOTH": "BTRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}


def read_form(cursor: Cursor, name: Token, expression: Reader, operand: Reader) -> Read | None:
    """The name and arguments of a call with words, read up to its closing bracket.

    None where it has none of them, with nothing read. operand: reads what stands before IN.
    """
    if name.upper in ("TRIM", "BTRIM") and _is_trim(cursor):
        return _trim(cursor, expression)
    if name.upper == "POSITION" and _has_word(cursor, "IN"):
        part = operand(cursor)
        cursor.expect("IN")
        return "LOCATE", [part, expression(cursor)]
    if name.upper in ("SUBSTRING", "SUBSTR") and _has_word(cursor, "FROM"):
        return name.upper, _with_words(cursor, expression, "FROM", "FOR")
    if name.upper == "OVERLAY" and _has_word(cursor, "PLACING"):
        return "OVERLAY", _with_words(cursor, expression, "PLACING", "FROM", "FOR")
    return None


def _with_words(cursor: Cursor, expression: Reader, *words: str) -> list[exp.Expression]:
    arguments = [expression(cursor)]
    for word in words:
        if not cursor.accept(word):
            break
        arguments.append(expression(cursor))
    return arguments


def _is_trim(cursor: Cursor) -> bool:
    return cursor.at_any(*_TRIMS) or _has_word(cursor, "FROM")


def _trim(cursor: Cursor, expression: Reader) -> Read:
    side = cursor.consume().upper if cursor.at_any(*_TRIMS) else "BOTH"
    characters = [] if cursor.at("FROM") else [expression(cursor)]
    cursor.expect("FROM")
    text = expression(cursor)
    if side == "BOTH":
        return "BTRIM", [text, *characters]
    return _TRIMS[side], [*characters, text]


def _has_word(cursor: Cursor, word: str) -> bool:
    """Whether the word stands in the brackets that were opened, outside of any inside them."""
    depth, ahead = 0, 0
    while cursor.ahead(ahead).kind != "end":
        token = cursor.ahead(ahead)
        if depth == 0 and token.upper == word:
            return True
        depth += token.opens_level - token.closes_level
        if depth < 0:
            return False
        ahead += 1
    return False
