"""FROM: streams with their windows and aliases, joined by commas, JOIN or LEFT ANTI JOIN."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.limits import check_tree
from windrow.sql.refusals import refuse_join
from windrow.sql.scalar import parse_expression
from windrow.sql.statements import Source, Window
from windrow.sql.window_clause import parse_history_range, parse_window
from windrow.sql.words import print_name
from windrow.window_kinds import UNBOUNDED

__all__ = ["parse_sources"]


def parse_sources(cursor: Cursor) -> tuple[Source, ...]:
    """FROM and all its sources."""
    if not cursor.at("FROM"):
        raise cursor.expected("FROM", possible=["FROM"], hint=_before_from(cursor))
    cursor.consume()
    sources = [_source(cursor)]
    while True:
        joined = _joined(cursor)
        if joined is None:
            return tuple(sources)
        sources.append(joined)


def _before_from(cursor: Cursor) -> str:
    if cursor.token.kind == "word" and cursor.ahead().upper in ("FROM", ","):
        return f"as a name for the column before it, write AS {print_name(cursor.token.text)}"
    return "name the stream: FROM s [10 MINUTES]"


def _joined(cursor: Cursor) -> Source | None:
    if cursor.accept(","):
        return replace(_source(cursor), join="inner")
    if cursor.accept("INNER", "JOIN") or cursor.accept("JOIN"):
        source = _source(cursor)
        return replace(source, join="inner", on=_on(cursor))
    if cursor.at("LEFT", "ANTI"):
        word = cursor.expect("LEFT", "ANTI", "JOIN")
        source = _source(cursor)
        on = _on(cursor)
        if on is None:
            hint = "write LEFT ANTI JOIN s [10 MINUTES] ON a.k = s.k"
            raise cursor.wrong("WS145", "LEFT ANTI JOIN needs ON", hint, word)
        return replace(source, join="anti", on=on)
    refuse_join(cursor)
    return None


def _on(cursor: Cursor) -> exp.Expression | None:
    if cursor.at("USING"):
        hint = "write ON a.k = b.k"
        raise cursor.unsupported("WU116", "USING is not supported", hint)
    if not cursor.accept("ON"):
        return None
    return check_tree(parse_expression(cursor), cursor.text)


def _source(cursor: Cursor) -> Source:
    if cursor.at("("):
        hint = "a query reads streams: write its joins and conditions here"
        raise cursor.unsupported("WU117", "a query in FROM is not supported", hint)
    refuse_join(cursor)
    if cursor.at("HISTORY", "("):
        return _history(cursor)
    stream = cursor.name("a stream")
    if cursor.at("("):
        hint = "a window goes in square brackets after the stream: s [10 MINUTES]"
        raise cursor.expected("a window", hint=hint)
    window = parse_window(cursor)
    alias = _alias(cursor, stream.text)
    if cursor.at("["):
        hint = f"the window comes before the alias: {stream.text} [10 MINUTES] AS {alias}"
        raise cursor.wrong("WS129", "a window is not allowed here", hint)
    return Source(stream.text, alias, window, place=cursor.place(stream))


def _history(cursor: Cursor) -> Source:
    cursor.expect("HISTORY", "(")
    stream = cursor.name("a stream")
    cursor.expect(")")
    history = parse_history_range(cursor)
    return Source(
        stream.text,
        _alias(cursor, stream.text),
        Window(UNBOUNDED.name, written=False),
        history=history,
        place=cursor.place(stream),
    )


def _alias(cursor: Cursor, otherwise: str) -> str:
    if cursor.accept("AS"):
        return cursor.name("the alias").text
    return cursor.consume().text if cursor.at_alias() else otherwise
