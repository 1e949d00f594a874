"""SELECT: its list, its sources with their windows, its conditions and its service clauses."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from windrow.errors import Place
from windrow.sql.cursor import Cursor
from windrow.sql.limits import check_tree
from windrow.sql.operands import identifier, mark
from windrow.sql.refusals import refuse_clause
from windrow.sql.scalar import parse_conjunct, parse_expression, resume_expression
from windrow.sql.service_clauses import ServiceClauses, parse_service_clauses
from windrow.sql.sources import parse_sources
from windrow.sql.statements import Select, SelectItem

__all__ = ["parse_select"]


@dataclass
class _Conditions:
    """WHERE, taken apart into what stays an expression and what negates a stream."""

    where: exp.Expression | None = None
    not_exists: list[Select] = field(default_factory=list)


def parse_select(cursor: Cursor, *, nested: bool = False) -> Select:
    """The query that comes next; nested means inside NOT EXISTS, where fewer clauses make sense."""
    refuse_clause(cursor)
    first = cursor.token
    places = {"SELECT": cursor.place(cursor.expect("SELECT"))}
    distinct = cursor.accept("DISTINCT")
    items = _items(cursor)
    places["FROM"] = cursor.place()
    sources = parse_sources(cursor)
    conditions = _where(cursor, places, nested)
    group_by = () if nested else _group_by(cursor, places)
    having = None if nested else _having(cursor, places)
    service = ServiceClauses() if nested else parse_service_clauses(cursor, sources)
    refuse_clause(cursor)
    return Select(
        text=cursor.text,
        items=items,
        sources=sources,
        distinct=distinct,
        where=conditions.where,
        group_by=group_by,
        having=having,
        error_percent=service.error_percent,
        every_us=service.every_us,
        duration=service.duration,
        not_exists=tuple(conditions.not_exists),
        places=places | service.places,
        start=first.start,
        end=cursor.before.end,
    )


def _items(cursor: Cursor) -> tuple[SelectItem, ...]:
    if cursor.at("FROM"):
        hint = "name columns or expressions, or write *"
        raise cursor.wrong("WS141", "the select list is empty", hint)
    items = [_item(cursor)]
    while cursor.accept(","):
        items.append(_item(cursor))
    return tuple(items)


def _item(cursor: Cursor) -> SelectItem:
    place = cursor.place()
    if cursor.at("*"):
        return SelectItem(mark(exp.Star(), cursor.consume()), None, place=place)
    if cursor.at_name() and cursor.ahead().upper == "." and cursor.ahead(2).upper == "*":
        return SelectItem(_star_of(cursor), None, place=place)
    expression = _checked(cursor, parse_expression(cursor))
    return SelectItem(expression, _alias(cursor), place=place)


def _star_of(cursor: Cursor) -> exp.Expression:
    table = cursor.consume()
    cursor.expect(".")
    return exp.Column(this=mark(exp.Star(), cursor.expect("*")), table=identifier(table))


def _alias(cursor: Cursor) -> str | None:
    if cursor.accept("AS"):
        return cursor.name("the column").text
    return cursor.consume().text if cursor.at_alias() else None


def _checked(cursor: Cursor, expression: exp.Expression) -> exp.Expression:
    return check_tree(expression, cursor.text)


def _where(cursor: Cursor, places: dict[str, Place], nested: bool) -> _Conditions:
    conditions = _Conditions()
    if not cursor.at("WHERE"):
        return conditions
    places["WHERE"] = cursor.place(cursor.consume())
    while True:
        if cursor.at("NOT", "EXISTS", "("):
            places.setdefault("NOT EXISTS", cursor.place())
            conditions.not_exists.append(_not_exists(cursor, nested))
        else:
            conjunct = parse_conjunct(cursor)
            left = conditions.where
            conditions.where = conjunct if left is None else exp.And(this=left, expression=conjunct)
        if not cursor.accept("AND"):
            break
    if cursor.at("OR"):
        conditions.where = _or(cursor, conditions)
    if conditions.where is not None:
        conditions.where = _checked(cursor, conditions.where)
    return conditions


def _or(cursor: Cursor, conditions: _Conditions) -> exp.Expression:
    if conditions.not_exists or conditions.where is None:
        hint = "join it to the rest of WHERE with AND, and put the OR into brackets"
        raise cursor.wrong("WS142", "NOT EXISTS cannot be one side of OR", hint)
    return resume_expression(cursor, conditions.where)


def _not_exists(cursor: Cursor, nested: bool) -> Select:
    if nested:
        hint = "negate both streams in the outer WHERE"
        raise cursor.unsupported("WU111", "NOT EXISTS within NOT EXISTS is not supported", hint)
    cursor.expect("NOT", "EXISTS", "(")
    select = parse_select(cursor, nested=True)
    cursor.expect(")")
    return select


def _group_by(cursor: Cursor, places: dict[str, Place]) -> tuple[exp.Expression, ...]:
    if not cursor.at("GROUP"):
        return ()
    places["GROUP BY"] = cursor.place(cursor.consume())
    cursor.expect("BY")
    if cursor.at_any("ROLLUP", "CUBE", "GROUPING") and cursor.ahead().upper in ("(", "SETS"):
        hint = "register one query for each grouping"
        raise cursor.unsupported("WU112", f"{cursor.token.upper} is not supported", hint)
    groups = [_checked(cursor, parse_expression(cursor))]
    while cursor.accept(","):
        groups.append(_checked(cursor, parse_expression(cursor)))
    return tuple(groups)


def _having(cursor: Cursor, places: dict[str, Place]) -> exp.Expression | None:
    if not cursor.at("HAVING"):
        return None
    places["HAVING"] = cursor.place(cursor.consume())
    return _checked(cursor, parse_expression(cursor))
