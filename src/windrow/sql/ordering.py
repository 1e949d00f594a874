"""ORDER BY, LIMIT, OFFSET and FETCH FIRST: in which order rows are, and how many of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from windrow.errors import Place
from windrow.sql.cursor import Cursor
from windrow.sql.limits import check_tree
from windrow.sql.spans import parse_whole_number
from windrow.sql.statements import Ordering
from windrow.sql.window_clause import MAX_ROWS

__all__ = ["Tail", "parse_order_keys", "parse_tail"]

_LIMIT_WORDS = ("LIMIT", "OFFSET", "FETCH")


@dataclass
class Tail:
    """What the clauses say that follow the whole of a query."""

    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    places: dict[str, Place] = field(default_factory=dict)


def parse_tail(cursor: Cursor, expression: Callable[[Cursor], exp.Expression]) -> Tail:
    """The clauses that come next; LIMIT and OFFSET in either order."""
    tail = Tail()
    if cursor.at("ORDER"):
        tail.places["ORDER BY"] = cursor.place(cursor.expect("ORDER", "BY"))
        tail.order_by = parse_order_keys(cursor, expression)
    while cursor.at_any(*_LIMIT_WORDS):
        word = cursor.consume()
        clause = "OFFSET" if word.upper == "OFFSET" else "LIMIT"
        if clause in tail.places:
            hint = "keep one of them; FETCH FIRST means the same as LIMIT"
            raise cursor.wrong("WS133", f"{clause} is written twice", hint, word)
        tail.places[clause] = cursor.place(word)
        if word.upper == "OFFSET":
            tail.offset = _count(cursor, "the number of rows to leave out")
            _ = cursor.accept("ROWS") or cursor.accept("ROW")
        else:
            tail.limit = _limit(cursor) if word.upper == "LIMIT" else _fetch(cursor)
    return tail


def parse_order_keys(
    cursor: Cursor, expression: Callable[[Cursor], exp.Expression]
) -> tuple[Ordering, ...]:
    """The keys that follow ORDER BY."""
    keys = [_key(cursor, expression)]
    while cursor.accept(","):
        keys.append(_key(cursor, expression))
    return tuple(keys)


def _key(cursor: Cursor, expression: Callable[[Cursor], exp.Expression]) -> Ordering:
    place = cursor.place()
    key = check_tree(expression(cursor), cursor.text)
    is_descending = cursor.accept("DESC")
    if not is_descending:
        cursor.accept("ASC")
    return Ordering(key, is_descending, _nulls_first(cursor), place=place)


def _nulls_first(cursor: Cursor) -> bool | None:
    if not cursor.accept("NULLS"):
        return None
    if not cursor.at_any("FIRST", "LAST"):
        raise cursor.expected("FIRST or LAST", possible=["FIRST", "LAST"])
    return cursor.consume().upper == "FIRST"


def _limit(cursor: Cursor) -> int | None:
    return None if cursor.accept("ALL") else _count(cursor, "the number of rows")


def _fetch(cursor: Cursor) -> int:
    hint = "write FETCH FIRST 10 ROWS ONLY, or LIMIT 10"
    if not cursor.accept("NEXT"):
        cursor.expect("FIRST", hint=hint)
    count = 1
    if not cursor.at_any("ROW", "ROWS"):
        count = _count(cursor, "the number of rows")
    if not cursor.accept("ROW"):
        cursor.expect("ROWS", hint=hint)
    if cursor.at("WITH"):
        ties = "number the rows with RANK() OVER (ORDER BY ...) in a query in FROM"
        raise cursor.unsupported("WU102", "WITH TIES is not supported", ties)
    cursor.expect("ONLY", hint=hint)
    return count


def _count(cursor: Cursor, what: str) -> int:
    return parse_whole_number(cursor, what, MAX_ROWS, minimum=0)
