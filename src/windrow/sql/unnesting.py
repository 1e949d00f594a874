"""UNNEST and EXPLODE in FROM, and Spark's LATERAL VIEW, which means the same as a join."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.limits import check_tree
from windrow.sql.scalar import parse_expression
from windrow.sql.statements import Source, Window
from windrow.window_kinds import UNBOUNDED

__all__ = ["GENERATORS", "at_unnest", "is_outer_name", "parse_lateral_view", "parse_unnest"]

GENERATORS = frozenset(
    name + suffix for name in ("EXPLODE", "POSEXPLODE", "INLINE") for suffix in ("", "_OUTER")
) | {"UNNEST"}


def is_outer_name(name: str) -> bool:
    """Whether rows without entries are kept: EXPLODE_OUTER."""
    return name.upper().endswith("_OUTER")


def at_unnest(cursor: Cursor, ahead: int = 0) -> bool:
    """Whether a call comes next that gives rows."""
    return cursor.ahead(ahead).upper in GENERATORS and cursor.ahead(ahead + 1).upper == "("


def parse_unnest(cursor: Cursor) -> Source:
    """The call that comes next, without its alias."""
    word = cursor.token
    call = check_tree(parse_expression(cursor), cursor.text)
    if not isinstance(call, exp.Anonymous) or len(call.expressions) != 1:
        hint = "write UNNEST(items) AS t (x)"
        raise cursor.wrong("WS720", f"{word.upper} takes one array or map", hint, word)
    has_ordinality = cursor.accept("WITH", "ORDINALITY")
    join = "left" if is_outer_name(word.upper) else "first"
    window = Window(UNBOUNDED.name, written=False)
    call = exp.Anonymous(this=word.upper, expressions=call.expressions)
    call.update_positions(line=None, col=None, start=word.start, end=word.end - 1)
    return Source("", "", window, join=join, unnest=call, has_ordinality=has_ordinality)


def parse_lateral_view(cursor: Cursor) -> Source:
    """LATERAL VIEW [OUTER] explode(items) [t] [AS x, y]."""
    place = cursor.place(cursor.expect("LATERAL", "VIEW"))
    is_outer = cursor.accept("OUTER")
    if not at_unnest(cursor):
        hint = "write LATERAL VIEW EXPLODE(items) t AS x"
        raise cursor.expected("EXPLODE, POSEXPLODE or INLINE", hint=hint)
    source = parse_unnest(cursor)
    alias = cursor.consume().text if cursor.at_alias() else ""
    columns: list[str] = []
    if cursor.accept("AS"):
        columns.append(cursor.name("a column").text)
        while cursor.accept(","):
            columns.append(cursor.name("a column").text)
    kind = "left" if is_outer or source.join == "left" else "inner"
    on = exp.Boolean(this=True) if kind == "left" else None
    return replace(source, alias=alias, columns=tuple(columns), join=kind, on=on, place=place)
