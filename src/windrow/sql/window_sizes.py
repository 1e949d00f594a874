"""Lengths of time as other dialects write them: INTERVAL '10' MINUTE, '1 hour 30 minutes'."""

from __future__ import annotations

import re
from decimal import Context, Decimal

from windrow.sql.cursor import Cursor
from windrow.sql.limits import MAX_NUMBER_CHARS
from windrow.sql.spans import UNIT_WORDS, at_unit, parse_positive_span, whole_span

__all__ = ["parse_size"]

_EXACT = Context(prec=2 * MAX_NUMBER_CHARS)
_PART = re.compile(r"\s*(\d{1,40}(?:\.\d{1,20})?)\s*([A-Za-z]*)\s*", re.ASCII)
_SHORT = {
    "S": "SECOND",
    "SEC": "SECOND",
    "MIN": "MINUTE",
    "H": "HOUR",
    "D": "DAY",
    "MS": "MILLISECOND",
}


def parse_size(cursor: Cursor, what: str) -> int:
    """The length that comes next, in microseconds, above zero."""
    cursor.accept("INTERVAL")
    if cursor.token.kind != "string":
        return parse_positive_span(cursor, what)
    token = cursor.consume()
    span_us, place = Decimal(0), 0
    while place < len(token.text):
        found = _PART.match(token.text, place)
        unit = None if found is None else _unit(cursor, found[2])
        if found is None or unit is None:
            hint = "write it like INTERVAL '10' SECOND, INTERVAL '10 seconds' or '10 seconds'"
            raise cursor.wrong("WS120", f"{token.text!r} is not a length of time", hint, token)
        span_us = _EXACT.add(span_us, _EXACT.multiply(Decimal(found[1]), unit))
        place = found.end()
    size_us = whole_span(cursor, what, token, span_us)
    if size_us == 0:
        raise cursor.wrong("WS122", f"{what} is zero", "write a length above zero", token)
    return size_us


def _unit(cursor: Cursor, written: str) -> int | None:
    """The unit in the quotes, or behind them."""
    if written:
        word = written.upper()
        return UNIT_WORDS.get(_SHORT.get(word, word))
    return UNIT_WORDS[cursor.consume().upper] if at_unit(cursor) else None
