"""Numbers, lengths of time and instants as they are written in WQL."""

from __future__ import annotations

import re
from decimal import Context, Decimal

from windrow.errors import BindingError
from windrow.event_time import (
    MAX_EVENT_TIME,
    MIN_EVENT_TIME,
    UNITS_US,
    instant_of,
    is_plausible,
    show_span,
)
from windrow.sql.cursor import Cursor
from windrow.sql.elsewhere import UNITS
from windrow.sql.limits import MAX_NUMBER_CHARS
from windrow.sql.tokens import Token
from windrow.sql.words import NOT_AN_ALIAS, nearest

__all__ = [
    "MAX_SPAN_US",
    "UNIT_WORDS",
    "at_span",
    "at_unit",
    "parse_instant",
    "parse_positive_span",
    "parse_quoted_span",
    "parse_span",
    "parse_whole_number",
    "print_span",
    "whole_span",
]

MAX_SPAN_US = MAX_EVENT_TIME - MIN_EVENT_TIME
UNIT_WORDS = {word: size for unit, size in UNITS_US.items() for word in (unit, f"{unit}S")}
_EXACT = Context(prec=2 * MAX_NUMBER_CHARS)  # no product of a number and a unit is rounded
_NUMBER = re.compile(r"\d{1,40}(\.\d{1,20})?\Z", re.ASCII)
_UNIT_LIST = "MICROSECOND, MILLISECOND, SECOND, MINUTE, HOUR or DAY"


def at_unit(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether a unit of time comes next, or that many tokens behind."""
    return cursor.ahead(ahead).upper in UNIT_WORDS


def at_span(cursor: Cursor) -> bool:
    """Whether a length of time comes next."""
    return cursor.token.kind == "number" or cursor.at("-")


def parse_positive_span(cursor: Cursor, what: str) -> int:
    """`60 MINUTES` in microseconds; `what` names it in the error when it is not above zero."""
    first = cursor.token
    span_us = parse_span(cursor, what)
    if span_us == 0:
        raise cursor.wrong("WS122", f"{what} is zero", "write a length above zero", first)
    return span_us


def parse_span(cursor: Cursor, what: str) -> int:
    """`60 MINUTES` in microseconds, zero included; a bare number is seconds."""
    if cursor.at("-"):
        raise cursor.wrong("WS123", f"{what} is negative", "write a length above zero")
    if cursor.token.kind != "number":
        raise cursor.expected(f"{what}", hint="write a number and a unit, such as 10 SECONDS")
    number = cursor.consume()
    span_us = _EXACT.multiply(Decimal(number.text), _unit_us(cursor))
    return whole_span(cursor, what, number, span_us)


def parse_quoted_span(cursor: Cursor, what: str) -> int:
    """`'10' SECONDS` or `'10 SECONDS'` in microseconds, as INTERVAL has them."""
    token = cursor.consume()
    number, _, unit = token.text.strip().partition(" ")
    inside = UNIT_WORDS.get(unit.strip().upper())
    if not _NUMBER.match(number) or (unit and inside is None):
        hint = "write it like INTERVAL '10' SECOND or INTERVAL '10 seconds'"
        raise cursor.wrong("WS120", f"{token.text!r} is not a length of time", hint, token)
    unit_us = inside or _unit_us(cursor)
    return whole_span(cursor, what, token, _EXACT.multiply(Decimal(number), unit_us))


def whole_span(cursor: Cursor, what: str, number: Token, span_us: Decimal) -> int:
    """A length in whole microseconds that is not too long; number: the token that says it."""
    if span_us > MAX_SPAN_US:
        hint = "write [UNBOUNDED] to keep everything"
        raise cursor.wrong(
            "WS124", f"{what} is longer than the largest possible span", hint, number
        )
    if span_us != int(span_us):
        hint = "time is counted in whole microseconds"
        raise cursor.wrong("WS121", f"{what} is not a whole number of microseconds", hint, number)
    return int(span_us)


def _unit_us(cursor: Cursor) -> int:
    unit = UNIT_WORDS.get(cursor.token.upper)
    if unit is not None:
        cursor.consume()
        return unit
    # Clause words end the span; any other word stands where only a unit makes sense.
    if cursor.token.kind == "word" and not cursor.at_any(*_AFTER_A_SPAN):
        meant = nearest(cursor.token.text, UNIT_WORDS)
        otherwise = f"did you mean {meant}?" if meant else f"use {_UNIT_LIST}, singular or plural"
        hint = UNITS.get(cursor.token.upper, otherwise)
        raise cursor.wrong("WS120", f"{cursor.token.shown()} is not a unit of time", hint)
    return UNITS_US["SECOND"]


_AFTER_A_SPAN = NOT_AN_ALIAS | {
    *("SLIDE", "FOR", "FOREVER", "MAX", "UNIT", "IDLE", "KEEP", "UNKNOWN"),
    *("BY", "ADVANCE"),
}


def parse_whole_number(cursor: Cursor, what: str, maximum: int, minimum: int = 1) -> int:
    """A whole number from the minimum, 0 or 1, to the maximum."""
    token = cursor.token
    if cursor.at("-") or token.kind != "number":
        kind = "a whole number above zero" if minimum else "a whole number"
        raise cursor.expected(f"{what}, {kind}")
    cursor.consume()
    if not token.text.isdigit() or not minimum <= int(token.text) <= maximum:
        hint = f"write a whole number from {minimum} to {maximum}"
        raise cursor.wrong("WS125", f"{token.text} cannot be {what}", hint, token)
    return int(token.text)


def parse_instant(cursor: Cursor) -> int:
    """`'2026-01-01 09:30'`, TIMESTAMP before it or not, in microseconds since the epoch."""
    cursor.accept("TIMESTAMP")
    token = cursor.token
    if token.kind != "string":
        hint = "write it as a text, such as '2026-01-01 09:30'"
        raise cursor.expected("an instant", hint=hint)
    cursor.consume()
    try:
        instant_us = instant_of(token.text)
    except BindingError as error:
        raise BindingError(
            error.code, error.message, hint=error.hint, place=cursor.place(token)
        ) from None
    except OverflowError:
        instant_us = MAX_EVENT_TIME
    if not is_plausible(instant_us):
        hint = "use the years 1 to 2199"
        raise cursor.wrong("WS126", f"{token.text!r} is not a possible event time", hint, token)
    return instant_us


def print_span(span_us: int) -> str:
    """The span as WQL, in its largest whole unit.

    >>> print_span(3_600_000_000), print_span(1_500_000), print_span(0)
    ('1 HOUR', '1500 MILLISECONDS', '0 SECONDS')
    """
    return show_span(span_us).upper() if span_us else "0 SECONDS"
