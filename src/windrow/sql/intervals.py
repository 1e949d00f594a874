"""INTERVAL as it is written in expressions, as sqlglot's node.

INTERVAL '10' SECOND, INTERVAL 10 SECONDS, INTERVAL 1 DAY 2 HOURS, INTERVAL '1 day 2 hours'
INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 02:03:04' DAY TO SECOND, INTERVAL -5 MINUTES
"""

from __future__ import annotations

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.tokens import Token
from windrow.times.interval_texts import (
    Length,
    length_of_fields,
    length_of_units,
    unit_named,
)

__all__ = ["at_interval", "length_of", "parse_interval"]

_HINT = "write it like INTERVAL '10' SECOND, INTERVAL '1 day' or INTERVAL '1-2' YEAR TO MONTH"


def at_interval(cursor: Cursor) -> bool:
    """Whether a length of time comes next, rather than a column called interval."""
    if not cursor.at("INTERVAL"):
        return False
    first = 1 if cursor.ahead().text in ("-", "+") else 0
    follows = cursor.ahead(first + 1)
    if follows.kind == "string":
        return True
    return follows.kind == "number" and unit_named(cursor.ahead(first + 2).text) is not None


def parse_interval(cursor: Cursor) -> exp.Expression:
    """The interval that comes next."""
    word = cursor.expect("INTERVAL")
    is_negative = cursor.at("-")
    if cursor.at_any("-", "+"):
        cursor.consume()
    first = cursor.token
    pairs = [(cursor.consume().text.strip(), _unit(cursor))]
    while cursor.token.kind in ("number", "string") and pairs[-1][1] is not None:
        pairs.append((cursor.consume().text.strip(), _unit(cursor)))
    if is_negative:
        pairs = [(_turned(text), unit) for text, unit in pairs]
    found = _node(cursor, word, pairs)
    if length_of(found) is None:
        raise cursor.wrong("WS120", f"{first.text!r} is not a length of time", _HINT, first)
    return found


def length_of(node: exp.Expr) -> Length | None:
    """The length that an interval as written means, None where it means none."""
    text, unit = str(node.this.name), node.args.get("unit")
    if unit is None:
        return length_of_units(text)
    if isinstance(unit, exp.IntervalSpan):
        return length_of_fields(text, unit.this.name.upper(), unit.expression.name.upper())
    return length_of_fields(text, unit_named(unit.name) or "", None)


def _node(cursor: Cursor, word: Token, pairs: list[tuple[str, str | None]]) -> exp.Expression:
    text, unit = pairs[0]
    found = exp.Interval(this=exp.Literal.string(text))
    if len(pairs) > 1:
        if any(each is None for _, each in pairs):
            raise cursor.wrong("WS740", "a number of this INTERVAL has no unit", _HINT, word)
        whole = " ".join(f"{number} {each}" for number, each in pairs)
        found = exp.Interval(this=exp.Literal.string(whole))
    elif unit is not None and cursor.at("TO"):
        found.set("unit", _span(cursor, unit))
    elif unit is not None:
        found.set("unit", exp.Var(this=unit))
    found.update_positions(line=None, col=None, start=word.start, end=word.end - 1)
    return found


def _unit(cursor: Cursor) -> str | None:
    if cursor.token.kind != "word":
        return None
    unit = unit_named(cursor.token.text)
    if unit is not None:
        cursor.consume()
    return unit


def _span(cursor: Cursor, first: str) -> exp.Expression:
    cursor.expect("TO")
    last = unit_named(cursor.token.text)
    if last is None:
        raise cursor.expected("a field of the INTERVAL, such as SECOND", hint=_HINT)
    cursor.consume()
    return exp.IntervalSpan(this=exp.Var(this=first), expression=exp.Var(this=last))


def _turned(text: str) -> str:
    return text[1:] if text.startswith("-") else f"-{text.removeprefix('+')}"
