"""SELECT up to QUALIFY: its list, its sources with their windows, its conditions and groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from windrow.errors import Place
from windrow.sql.cursor import Cursor
from windrow.sql.group_windows import parse_window_clause, with_group_windows
from windrow.sql.grouping import Groups, parse_groups
from windrow.sql.limits import check_tree
from windrow.sql.negations import is_simple_negation
from windrow.sql.nested_query import NestedQuery
from windrow.sql.operands import identifier, mark
from windrow.sql.refusals import refuse_clause
from windrow.sql.scalar import parse_conjunct, parse_expression, resume_expression
from windrow.sql.sources import parse_sources
from windrow.sql.statements import Select, SelectItem, Source
from windrow.sql.tokens import Token
from windrow.sql.walks import expressions_of
from windrow.sql.window_functions import Definitions, named_windows, parse_definitions
from windrow.sql.words import CLAUSES, NOT_AN_ALIAS, print_name

__all__ = ["parse_select"]

# What may follow the list of a SELECT without FROM.
_AFTER_ITEMS = frozenset(
    [
        *(clause.split()[0] for clause in CLAUSES),
        "MINUS",
        "FETCH",
        "SORT",
        "CLUSTER",
        "DISTRIBUTE",
        "EMIT",
    ]
)


@dataclass
class _Conditions:
    """WHERE, taken apart into what stays an expression and what negates a stream."""

    where: exp.Expression | None = None
    not_exists: list[Select] = field(default_factory=list)


@dataclass
class _AfterGroups:
    """WINDOW and QUALIFY."""

    windows: Definitions = field(default_factory=dict)
    qualify: exp.Expression | None = None


def parse_select(cursor: Cursor) -> tuple[Select, Definitions]:
    """The SELECT that comes next, without what follows QUALIFY, and its named windows."""
    refuse_clause(cursor)
    first = cursor.token
    places = {"SELECT": cursor.place(cursor.expect("SELECT"))}
    distinct = cursor.accept("DISTINCT")
    if not distinct:
        cursor.accept("ALL")
    top = _top(cursor, places)
    items = _items(cursor)
    sources = _from(cursor, places)
    window = parse_window_clause(cursor)
    conditions = _where(cursor, places)
    groups = _group_by(cursor, places)
    having = _clause(cursor, places, "HAVING")
    rest = _after_groups(cursor, places)
    refuse_clause(cursor)
    select = Select(
        text=cursor.text,
        items=items,
        sources=sources,
        distinct=distinct,
        where=conditions.where,
        group_by=groups.expressions,
        having=having,
        not_exists=tuple(conditions.not_exists),
        places=places,
        start=first.start,
        end=cursor.before.end,
        grouping_sets=groups.sets,
        qualify=rest.qualify,
        limit=top,
    )
    select = with_group_windows(select, window, cursor)
    named_windows(expressions_of(select), rest.windows, cursor)
    return select, rest.windows


def _top(cursor: Cursor, places: dict[str, Place]) -> int | None:
    """`TOP 5`, or `TOP (5)`: LIMIT as SQL Server has it; any other TOP is a name."""
    if not cursor.at("TOP"):
        return None
    in_brackets = cursor.ahead().text == "("
    number = cursor.ahead(2) if in_brackets else cursor.ahead()
    if number.kind != "number" or not number.text.isdigit():
        return None
    if in_brackets and not (cursor.ahead(3).text == ")" and _begins_item(cursor.ahead(4))):
        return None
    places["TOP"] = cursor.place(cursor.consume())
    for _ in range(3 if in_brackets else 1):
        cursor.consume()
    if cursor.at("PERCENT") or cursor.at("WITH", "TIES"):
        hint = "give a number of rows: SELECT TOP 5 x, or ORDER BY x LIMIT 5"
        raise cursor.unsupported("WU792", f"TOP ... {cursor.token.upper} is not supported", hint)
    return int(number.text)


def _begins_item(token: Token) -> bool:
    """Whether an item of a select list begins, rather than goes on, with this."""
    return token.text == "*" or (
        token.kind in ("word", "quoted") and token.upper not in NOT_AN_ALIAS
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
        ends = cursor.ahead().kind == "end" or cursor.ahead().upper in (",", ")", "FROM", ";")
        if cursor.token.kind == "word" and cursor.token.upper != "FROM" and ends:
            return cursor.consume().text  # nothing else can stand here: `AS end` is a name
        return cursor.name("the column").text
    return cursor.consume().text if cursor.at_alias() else None


def _checked(cursor: Cursor, expression: exp.Expression) -> exp.Expression:
    return check_tree(expression, cursor.text)


def _from(cursor: Cursor, places: dict[str, Place]) -> tuple[Source, ...]:
    if cursor.at("FROM"):
        places["FROM"] = cursor.place(cursor.consume())
        return parse_sources(cursor)
    token = cursor.token
    ends = token.kind == "end" or token.upper in (")", ";") or token.upper in _AFTER_ITEMS
    is_alias = token.kind == "word" and cursor.ahead().upper in ("FROM", ",")
    if not ends or is_alias:
        raise cursor.expected("FROM", possible=["FROM"], hint=_before_from(cursor))
    return ()


def _before_from(cursor: Cursor) -> str:
    if cursor.token.kind == "word" and cursor.ahead().upper in ("FROM", ","):
        return f"as a name for the column before it, write AS {print_name(cursor.token.text)}"
    return "name the stream: FROM s [10 MINUTES]"


def _where(cursor: Cursor, places: dict[str, Place]) -> _Conditions:
    conditions = _Conditions()
    if not cursor.at("WHERE"):
        return conditions
    places["WHERE"] = cursor.place(cursor.consume())
    found = [_conjunct(cursor, places)]
    while cursor.accept("AND"):
        found.append(_conjunct(cursor, places))
    if cursor.at("OR"):
        conditions.where = resume_expression(cursor, _all_of(found))
    else:
        rest = [each for each in found if not is_simple_negation(each)]
        negated = [each.this.this for each in found if is_simple_negation(each)]
        conditions.where = _all_of(rest) if rest else None
        conditions.not_exists = [_negated(node) for node in negated]
    if conditions.where is not None:
        conditions.where = _checked(cursor, conditions.where)
    return conditions


def _conjunct(cursor: Cursor, places: dict[str, Place]) -> exp.Expression:
    if cursor.at("NOT", "EXISTS"):
        places.setdefault("NOT EXISTS", cursor.place())
    return parse_conjunct(cursor)


def _all_of(conditions: list[exp.Expression]) -> exp.Expression:
    joined = conditions[0]
    for condition in conditions[1:]:
        joined = exp.And(this=joined, expression=condition)
    return joined


def _negated(node: NestedQuery) -> Select:
    assert isinstance(node.query, Select)
    return node.query


def _group_by(cursor: Cursor, places: dict[str, Place]) -> Groups:
    if not cursor.at("GROUP"):
        return Groups()
    places["GROUP BY"] = cursor.place(cursor.consume())
    cursor.expect("BY")
    return parse_groups(cursor)


def _clause(cursor: Cursor, places: dict[str, Place], word: str) -> exp.Expression | None:
    """The condition of HAVING or QUALIFY, if the word comes next."""
    if not cursor.at(word):
        return None
    places[word] = cursor.place(cursor.consume())
    return _checked(cursor, parse_expression(cursor))


def _after_groups(cursor: Cursor, places: dict[str, Place]) -> _AfterGroups:
    """Dialects differ in whether WINDOW or QUALIFY comes first: both are read."""
    found = _AfterGroups(qualify=_clause(cursor, places, "QUALIFY"))
    if cursor.at("WINDOW"):
        places["WINDOW"] = cursor.place(cursor.consume())
        found.windows = parse_definitions(cursor, parse_expression)
    if found.qualify is None:
        found.qualify = _clause(cursor, places, "QUALIFY")
    return found
