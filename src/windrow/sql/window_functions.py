"""function(...) OVER (...), the frames of windows over rows, and WINDOW w AS (...).

A call becomes sqlglot's Window: `this` the call, `partition_by` a list, `order` an Order of Ordered
whose nulls_first is always said, `spec` a WindowSpec with both bounds. A bound is 'UNBOUNDED' or
'CURRENT ROW', a number, or an Interval, of which `interval_us` is the length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal

from sqlglot import exp

from windrow.event_time import UNITS_US, show_span
from windrow.sql.cursor import Cursor
from windrow.sql.intervals import at_interval, parse_interval
from windrow.sql.limits import check_tree
from windrow.sql.ordering import parse_order_keys
from windrow.sql.spans import at_unit, parse_span, parse_whole_number
from windrow.sql.statements import Ordering
from windrow.sql.tokens import Token
from windrow.sql.window_clause import MAX_ROWS

__all__ = [
    "Definitions",
    "interval_us",
    "named_windows",
    "parse_definitions",
    "parse_order_nodes",
    "parse_over",
]

Reader = Callable[[Cursor], exp.Expression]
Definitions = dict[str, exp.Window]

_UNBOUNDED, _CURRENT = "UNBOUNDED", "CURRENT ROW"
# From the first row of a partition to its last.
_RANKS = {
    (_UNBOUNDED, "PRECEDING"): 0,
    ("", "PRECEDING"): 1,
    (_CURRENT, None): 2,
    ("", "FOLLOWING"): 3,
    (_UNBOUNDED, "FOLLOWING"): 4,
}
Bound = tuple[str | exp.Expression, str | None]


def parse_over(cursor: Cursor, call: exp.Expression, expression: Reader) -> exp.Expression:
    """OVER and its window: a name, or what stands in brackets."""
    cursor.expect("OVER")
    if cursor.at("("):
        window = _definition(cursor, expression)
        window.set("this", call)
        return window
    name = cursor.name("a window of the WINDOW clause")
    return exp.Window(this=call, alias=_name(name), over="OVER")


def parse_definitions(cursor: Cursor, expression: Reader) -> Definitions:
    """What follows WINDOW: w AS (...), ..."""
    found: Definitions = {}
    while True:
        name = cursor.name("a window")
        cursor.expect("AS")
        window = _definition(cursor, expression)
        named_windows([window], found, cursor)
        if name.text.lower() in found:
            hint = "give each window its own name"
            raise cursor.wrong("WS139", f"the window {name.text!r} is defined twice", hint, name)
        found[name.text.lower()] = window
        if not cursor.accept(","):
            return found


def named_windows(
    expressions: Iterable[exp.Expr], definitions: Definitions, cursor: Cursor
) -> None:
    """Puts what WINDOW says in the place of each name of a window."""
    for expression in expressions:
        for window in list(expression.find_all(exp.Window)):
            name = window.args.get("alias")
            if name is not None:
                _expand(window, definitions.get(name.name.lower()), name, cursor)


def interval_us(interval: exp.Interval) -> int:
    """The length of a bound of a RANGE frame, in microseconds."""
    return int(Decimal(interval.this.name) * UNITS_US[interval.args["unit"].name])


def _name(token: Token) -> exp.Identifier:
    name = exp.Identifier(this=token.text)
    name.update_positions(line=None, col=None, start=token.start, end=token.end - 1)
    return name


def _expand(
    window: exp.Window, definition: exp.Window | None, name: exp.Identifier, cursor: Cursor
) -> None:
    if definition is None:
        token = Token("word", name.name, name.meta["start"], name.meta["end"] + 1)
        hint = "define it behind HAVING: WINDOW w AS (PARTITION BY ... ORDER BY ...)"
        raise cursor.wrong("WS139", f"there is no window {name.name!r}", hint, token)
    window.set("alias", None)
    for part in ("partition_by", "order", "spec"):
        given = definition.args.get(part)
        if not window.args.get(part) and given:
            copied = [each.copy() for each in given] if isinstance(given, list) else given.copy()
            window.set(part, copied)


def _definition(cursor: Cursor, expression: Reader) -> exp.Window:
    cursor.expect("(")
    window = exp.Window(this=exp.Null(), over="OVER")
    if cursor.at_name() and not cursor.at_any("PARTITION", "ROWS", "RANGE", "GROUPS"):
        window.set("alias", _name(cursor.consume()))
    if cursor.accept("PARTITION"):
        cursor.expect("BY")
        window.set("partition_by", _list(cursor, expression))
    if cursor.accept("ORDER"):
        cursor.expect("BY")
        keys = [_ordered(key) for key in parse_order_keys(cursor, expression)]
        window.set("order", exp.Order(expressions=keys))
    if cursor.at_any("ROWS", "RANGE", "GROUPS"):
        window.set("spec", _frame(cursor))
    cursor.expect(")", hint="write PARTITION BY, then ORDER BY, then ROWS or RANGE")
    return window


def _list(cursor: Cursor, expression: Reader) -> list[exp.Expression]:
    found = [check_tree(expression(cursor), cursor.text)]
    while cursor.accept(","):
        found.append(check_tree(expression(cursor), cursor.text))
    return found


def parse_order_nodes(cursor: Cursor, expression: Reader) -> list[exp.Expression]:
    """The keys behind ORDER BY, as nodes."""
    return [_ordered(key) for key in parse_order_keys(cursor, expression)]


def _ordered(key: Ordering) -> exp.Expression:
    nulls_first = not key.is_descending if key.nulls_first is None else key.nulls_first
    return exp.Ordered(this=key.expression, desc=key.is_descending or None, nulls_first=nulls_first)


def _frame(cursor: Cursor) -> exp.Expression:
    word = cursor.consume()
    if word.upper == "GROUPS":
        raise cursor.unsupported("WU104", "GROUPS is not supported", "use ROWS or RANGE", word)
    read = _row_count if word.upper == "ROWS" else _distance
    if cursor.accept("BETWEEN"):
        start = _bound(cursor, read)
        cursor.expect("AND")
        end = _bound(cursor, read)
    else:
        start, end = _bound(cursor, read), (_CURRENT, None)
    if _rank(start) > _rank(end) or _rank(start) == 4 or _rank(end) == 0:
        hint = "write the bound that comes first: BETWEEN 5 PRECEDING AND CURRENT ROW"
        raise cursor.wrong("WS155", "the frame ends before it begins", hint, word)
    if cursor.at("EXCLUDE"):
        hint = "omit it: the current row is part of the frame"
        raise cursor.unsupported("WU104", "EXCLUDE is not supported", hint)
    return exp.WindowSpec(
        kind=word.upper, start=start[0], start_side=start[1], end=end[0], end_side=end[1]
    )


def _rank(bound: Bound) -> int:
    value, direction = bound
    return _RANKS[value if isinstance(value, str) else "", direction]


def _bound(cursor: Cursor, read: Reader) -> Bound:
    if cursor.accept("CURRENT"):
        cursor.expect("ROW")
        return _CURRENT, None
    value = _UNBOUNDED if cursor.accept("UNBOUNDED") else read(cursor)
    if not cursor.at_any("PRECEDING", "FOLLOWING"):
        words = ["PRECEDING", "FOLLOWING"]
        raise cursor.expected("PRECEDING or FOLLOWING", possible=words)
    return value, cursor.consume().upper


def _row_count(cursor: Cursor) -> exp.Expression:
    rows = parse_whole_number(cursor, "the number of rows", MAX_ROWS, minimum=0)
    return exp.Literal.number(rows)


def _distance(cursor: Cursor) -> exp.Expression:
    """A number, or a length of time with or without INTERVAL."""
    what = "the length of the frame"
    if at_interval(cursor):
        return parse_interval(cursor)
    if cursor.accept("INTERVAL"):
        return _interval(parse_span(cursor, what))
    if cursor.token.kind == "number" and at_unit(cursor, 1):
        return _interval(parse_span(cursor, what))
    if cursor.token.kind != "number":
        hint = "write a number, or a length of time such as INTERVAL '10' SECOND"
        raise cursor.expected(what, hint=hint)
    return exp.Literal.number(cursor.consume().text)


def _interval(span_us: int) -> exp.Expression:
    number, unit = (show_span(span_us) if span_us else "0 seconds").upper().split()
    return exp.Interval(this=exp.Literal.string(number), unit=exp.Var(this=unit.removesuffix("S")))
