"""GROUP BY: expressions, and the sets of them that GROUPING SETS, ROLLUP and CUBE stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations, product

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.limits import MAX_GROUPING_SETS, check_tree
from windrow.sql.scalar import parse_expression

__all__ = ["Groups", "parse_groups", "unbracketed"]

_Set = tuple[exp.Expression, ...]


@dataclass
class Groups:
    """expressions: all of them, each once where there are sets; sets: their places in these."""

    expressions: tuple[exp.Expression, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()


@dataclass
class _Reading:
    """The parts of GROUP BY so far: of each, the sets that it allows."""

    parts: list[list[_Set]] = field(default_factory=list)
    has_sets: bool = False


def parse_groups(cursor: Cursor) -> Groups:
    """What follows GROUP BY."""
    first = cursor.token
    reading = _Reading()
    _part(cursor, reading)
    while cursor.accept(","):
        _part(cursor, reading)
    if cursor.at("WITH") and cursor.ahead().upper in ("ROLLUP", "CUBE"):
        _with_word(cursor, reading)
    if not reading.has_sets:
        return Groups(tuple(each for (only,) in reading.parts for each in only))
    count = 1
    for part in reading.parts:
        count *= len(part)
    if count > MAX_GROUPING_SETS:
        hint = "list the sets that you need: GROUPING SETS ((a, b), (a), ())"
        message = f"GROUP BY stands for {count} grouping sets, more than {MAX_GROUPING_SETS}"
        raise cursor.wrong("WS138", message, hint, first)
    return _numbered([tuple(chain) for chain in map(_joined, product(*reading.parts))])


def _joined(sets: Iterable[_Set]) -> list[exp.Expression]:
    return [expression for each in sets for expression in each]


def _numbered(sets: list[_Set]) -> Groups:
    """Expressions in the order in which the sets name them: printed sets are read the same."""
    numbers: dict[exp.Expression, int] = {}
    for each in sets:
        for expression in each:
            numbers.setdefault(expression, len(numbers))
    indexes = tuple(tuple(sorted({numbers[e] for e in each})) for each in sets)
    return Groups(tuple(numbers), indexes)


def _part(cursor: Cursor, reading: _Reading) -> None:
    if cursor.at("GROUPING", "SETS") or _at_call(cursor):
        reading.has_sets = True
        reading.parts.append(_sets(cursor))
    elif cursor.accept("(", ")"):
        reading.has_sets = True
        reading.parts.append([()])
    else:
        expression = check_tree(parse_expression(cursor), cursor.text)
        parts = expression.expressions if isinstance(expression, exp.Tuple) else [expression]
        reading.parts.append([tuple(parts)])


def _at_call(cursor: Cursor) -> bool:
    return cursor.at("ROLLUP", "(") or cursor.at("CUBE", "(")


def _sets(cursor: Cursor) -> list[_Set]:
    """The sets of ROLLUP (...), CUBE (...) or GROUPING SETS (...)."""
    if _at_call(cursor):
        word = cursor.consume().upper
        elements = _elements(cursor)
        return _rollup(elements) if word == "ROLLUP" else _cube(cursor, elements)
    cursor.expect("GROUPING", "SETS", "(")
    found = _entry(cursor)
    while cursor.accept(","):
        found += _entry(cursor)
    cursor.expect(")")
    return found


def _entry(cursor: Cursor) -> list[_Set]:
    if cursor.at("GROUPING", "SETS") or _at_call(cursor):
        return _sets(cursor)
    return [_element(cursor)]


def _elements(cursor: Cursor) -> list[_Set]:
    cursor.expect("(")
    elements = [_element(cursor)]
    while cursor.accept(","):
        elements.append(_element(cursor))
    cursor.expect(")")
    return elements


def _element(cursor: Cursor) -> _Set:
    if cursor.accept("(", ")"):
        return ()
    return unbracketed(check_tree(parse_expression(cursor), cursor.text))


def unbracketed(expression: exp.Expression) -> _Set:
    """The values in the brackets of (a, b) or (a); any other expression is alone."""
    if isinstance(expression, exp.Tuple):
        return tuple(expression.expressions)
    return (expression.this,) if isinstance(expression, exp.Paren) else (expression,)


def _rollup(elements: list[_Set]) -> list[_Set]:
    return [tuple(_joined(elements[:count])) for count in range(len(elements), -1, -1)]


def _cube(cursor: Cursor, elements: list[_Set]) -> list[_Set]:
    if 2 ** len(elements) > MAX_GROUPING_SETS:
        hint = "list the sets that you need: GROUPING SETS ((a, b), (a), ())"
        message = f"CUBE of {len(elements)} columns stands for too many grouping sets"
        raise cursor.wrong("WS138", message, hint, cursor.before)
    counts = range(len(elements), -1, -1)
    return [tuple(_joined(some)) for count in counts for some in combinations(elements, count)]


def _with_word(cursor: Cursor, reading: _Reading) -> None:
    """GROUP BY a, b WITH ROLLUP, as Spark has it."""
    if reading.has_sets:
        hint = "write GROUP BY ROLLUP (a, b)"
        raise cursor.wrong("WS144", f"unexpected {cursor.token.shown()}", hint)
    cursor.expect("WITH")
    word = cursor.consume().upper
    elements: list[_Set] = [(each,) for (only,) in reading.parts for each in only]
    reading.parts = [_rollup(elements) if word == "ROLLUP" else _cube(cursor, elements)]
    reading.has_sets = True
