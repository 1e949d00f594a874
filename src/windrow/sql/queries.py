"""A whole query: WITH, SELECT or VALUES, what unites them, their order and service clauses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from windrow.errors import Place, QuerySyntaxError
from windrow.sql.cursor import EMITS, Cursor
from windrow.sql.grouping import unbracketed
from windrow.sql.limits import check_query, check_tree
from windrow.sql.ordering import Tail, parse_tail
from windrow.sql.parser import parse_select
from windrow.sql.refusals import refuse_clause
from windrow.sql.scalar import parse_expression
from windrow.sql.service_clauses import (
    ServiceClauses,
    at_service_clause,
    parse_service_clauses,
)
from windrow.sql.statements import (
    CommonTable,
    QueryText,
    Select,
    SelectItem,
    SetQuery,
    Source,
    ValuesList,
    Window,
)
from windrow.sql.tokens import Token
from windrow.sql.window_functions import Definitions, named_windows
from windrow.window_kinds import UNBOUNDED

__all__ = ["parse_query_text", "read_nested"]

_SET_WORDS = {
    "UNION": "union",
    "EXCEPT": "except",
    "MINUS": "except",
    "INTERSECT": "intersect",
}


@dataclass
class _Body:
    """What stands before ORDER BY; windows: those that a SELECT names, for its ORDER BY."""

    query: QueryText
    windows: Definitions = field(default_factory=dict)


@dataclass
class _Ending:
    """What WITH, the order and the service clauses add to a body."""

    first: Token
    common_tables: tuple[CommonTable, ...]
    tail: Tail
    service: ServiceClauses

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written before or behind the body."""
        return not (self.common_tables or self.places)

    @property
    def places(self) -> dict[str, Place]:
        """Where its clauses begin."""
        return self.tail.places | self.service.places


def parse_query_text(cursor: Cursor) -> QueryText:
    """The query that comes next, up to what cannot continue it."""
    first = cursor.token
    return check_query(read_nested(cursor, True), cursor.text, first)


def read_nested(cursor: Cursor, service: bool) -> QueryText:
    """The same inside brackets; service: whether it may have service clauses there."""
    first = cursor.token
    common_tables = _common_tables(cursor)
    body = _united(cursor)
    _skip_emit(cursor)
    tail = parse_tail(cursor, parse_expression)
    _move_top(body, tail)
    sources = body.query.sources if isinstance(body.query, Select) else ()
    if not service and at_service_clause(cursor):
        hint = "it ends the whole query; in FROM: (SELECT ... EVERY (10 SECONDS)) [1 HOUR]"
        raise cursor.wrong("WS147", f"{cursor.token.upper} is not allowed here", hint)
    ending = _Ending(first, common_tables, tail, parse_service_clauses(cursor, sources))
    _skip_emit(cursor)
    refuse_clause(cursor)
    _refuse_early_ending(cursor, ending)
    named_windows([key.expression for key in tail.order_by], body.windows, cursor)
    return _with_ending(cursor, body.query, ending)


def _move_top(body: _Body, tail: Tail) -> None:
    """TOP of a query is its LIMIT, behind its ORDER BY."""
    query = body.query
    if not isinstance(query, Select) or "TOP" not in query.places:
        return
    if tail.limit is not None:
        raise QuerySyntaxError(
            "WS791",
            "the query has TOP and LIMIT",
            hint="write one of them",
            place=query.places["TOP"],
        )
    places = {name: place for name, place in query.places.items() if name != "TOP"}
    tail.limit, tail.places["LIMIT"] = query.limit, query.places["TOP"]
    body.query = replace(query, limit=None, places=places)


def _skip_emit(cursor: Cursor) -> None:
    """EMIT of others says which rows are told: answers() and changes() are read as one likes."""
    for words in EMITS:
        if cursor.accept(*words):
            return


def _refuse_early_ending(cursor: Cursor, ending: _Ending) -> None:
    if ending.places and cursor.token.upper in _SET_WORDS:
        clause = next(iter(ending.places))
        hint = f"{clause} is of the whole query: write it at the end, or put this part in brackets"
        raise cursor.wrong("WS148", f"{cursor.token.upper} follows {clause}", hint)


def _with_ending(cursor: Cursor, query: QueryText, ending: _Ending) -> QueryText:
    if ending.is_empty:
        return query
    if isinstance(query, ValuesList) or _is_ended(query):
        query = _rows_of(cursor, query)
    changes = {
        "common_tables": ending.common_tables,
        "order_by": ending.tail.order_by,
        "limit": ending.tail.limit,
        "offset": ending.tail.offset,
        "error_percent": ending.service.error_percent,
        "every_us": ending.service.every_us,
        "duration": ending.service.duration,
        "on_error": ending.service.on_error,
        "places": query.places | ending.places,
        "start": ending.first.start,
        "end": cursor.before.end,
    }
    return replace(query, **changes)  # type: ignore[arg-type]  # each has the type of its field


def _is_ended(query: Select | SetQuery) -> bool:
    """Whether it has clauses of its own that another would be mixed up with."""
    service = (query.error_percent, query.every_us, query.duration, query.on_error)
    counts = (query.limit, query.offset or None)
    return bool(query.order_by or query.common_tables) or any(
        each is not None for each in (*service, *counts)
    )


def _rows_of(cursor: Cursor, query: QueryText) -> Select:
    """SELECT * FROM (query): what a query in brackets is, once more is said of it."""
    window = Window(UNBOUNDED.name, written=False)
    source = Source("", "", window, query=query, place=cursor.place())
    return Select(cursor.text, (SelectItem(exp.Star(), None),), (source,))


def _common_tables(cursor: Cursor) -> tuple[CommonTable, ...]:
    if not cursor.accept("WITH"):
        return ()
    if cursor.at("RECURSIVE") and cursor.ahead().upper not in ("AS", "("):
        hint = "a query reads streams and other queries, never itself"
        raise cursor.unsupported("WU113", "WITH RECURSIVE is not supported", hint)
    tables = [_common_table(cursor)]
    while cursor.accept(","):
        tables.append(_common_table(cursor))
    return tuple(tables)


def _common_table(cursor: Cursor) -> CommonTable:
    name = cursor.name("the common table")
    columns: list[str] = []
    if cursor.accept("("):
        columns.append(cursor.name("a column").text)
        while cursor.accept(","):
            columns.append(cursor.name("a column").text)
        cursor.expect(")")
    cursor.expect("AS")
    query = cursor.query_in_brackets(service=True)
    return CommonTable(name.text, query, tuple(columns), place=cursor.place(name))


def _united(cursor: Cursor) -> _Body:
    first = cursor.token
    body = _intersected(cursor)
    while cursor.at_any("UNION", "EXCEPT", "MINUS"):
        body = _set_query(cursor, first, body, _intersected)
    return body


def _intersected(cursor: Cursor) -> _Body:
    first = cursor.token
    body = _part(cursor)
    while cursor.at("INTERSECT"):
        body = _set_query(cursor, first, body, _part)
    return body


def _set_query(cursor: Cursor, first: Token, left: _Body, read: Callable[[Cursor], _Body]) -> _Body:
    word = cursor.consume()
    is_all = cursor.accept("ALL")
    if not is_all:
        cursor.accept("DISTINCT")
    right = read(cursor).query
    return _Body(
        SetQuery(
            text=cursor.text,
            kind=_SET_WORDS[word.upper],
            left=left.query,
            right=right,
            is_all=is_all,
            places={word.upper: cursor.place(word)},
            start=first.start,
            end=cursor.before.end,
        )
    )


def _part(cursor: Cursor) -> _Body:
    """SELECT, VALUES, or a query in brackets."""
    if cursor.at("("):
        return _Body(cursor.query_in_brackets())
    if cursor.at("VALUES"):
        return _Body(_values(cursor))
    if cursor.at("SELECT"):
        return _Body(*parse_select(cursor))
    refuse_clause(cursor)
    words = ["SELECT", "VALUES"]
    raise cursor.expected("a query", possible=words, hint="a query begins with SELECT")


def _values(cursor: Cursor) -> ValuesList:
    word = cursor.expect("VALUES")
    rows = [_row(cursor)]
    while cursor.accept(","):
        here = cursor.token
        rows.append(_row(cursor))
        if len(rows[-1]) != len(rows[0]):
            hint = "give every row the same number of values"
            message = f"a row of {len(rows[-1])} values follows one of {len(rows[0])}"
            raise cursor.wrong("WS156", message, hint, here)
    return ValuesList(cursor.text, tuple(rows), place=cursor.place(word))


def _row(cursor: Cursor) -> tuple[exp.Expression, ...]:
    return unbracketed(check_tree(parse_expression(cursor), cursor.text))
