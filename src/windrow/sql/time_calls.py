"""Calls of functions of time that have words among their arguments.

    EXTRACT(YEAR FROM ts), TIMESTAMPADD(HOUR, 1, ts), DATEDIFF(DAY, a, b), FLOOR(ts TO DAY)

They become calls with texts in place of the words, which mean the same: DATE_PART('YEAR', ts).
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.tokens import Token

__all__ = ["clock_call", "parse_time_call", "with_unit"]

Reader = Callable[[Cursor], exp.Expression]

_WITH_UNIT = frozenset(
    [
        *("DATEADD", "DATE_ADD", "TIMESTAMPADD", "DATEDIFF", "DATE_DIFF", "TIMEDIFF"),
        "TIMESTAMPDIFF",
    ]
)
_TRUNCATED = {"FLOOR": "DATE_TRUNC", "CEIL": "DATE_CEIL", "CEILING": "DATE_CEIL"}


def parse_time_call(cursor: Cursor, name: Token, expression: Reader) -> exp.Expression | None:
    """What follows the opening bracket of EXTRACT; None for any other function."""
    if name.upper != "EXTRACT" or cursor.ahead().upper != "FROM":
        return None
    field = cursor.consume()
    cursor.expect("FROM")
    arguments = [_unit(field.text.upper(), field.start, field.end), expression(cursor)]
    cursor.expect(")")
    return exp.Anonymous(this="DATE_PART", expressions=arguments)


def with_unit(
    cursor: Cursor, name: Token, arguments: list[exp.Expression]
) -> tuple[str, list[exp.Expression]]:
    """The name and arguments of a call, a unit among them as a text that comes first."""
    if name.upper in _TRUNCATED and cursor.accept("TO"):
        unit = cursor.name("a unit of time")
        return _TRUNCATED[name.upper], [_unit(unit.upper, unit.start, unit.end), *arguments]
    if name.upper in _WITH_UNIT and len(arguments) == 3:
        first = arguments[0]
        if isinstance(first, exp.Column) and not first.table:
            place = first.this.meta
            unit_word = _unit(first.name.upper(), place["start"], place["end"] + 1)
            return name.upper, [unit_word, *arguments[1:]]
    return name.text, arguments


def _unit(word: str, start: int, end: int) -> exp.Expression:
    """A word as a text, at its place."""
    return exp.Literal.string(word).update_positions(line=None, col=None, start=start, end=end - 1)


def clock_call(cursor: Cursor) -> exp.Expression:
    """CURRENT_TIMESTAMP and its kin without brackets."""
    return exp.Anonymous(this=cursor.consume().upper, expressions=[])
