"""FROM: streams with their windows, queries and joins in brackets, and how they are joined."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import QuerySyntaxError
from windrow.sql.cursor import Cursor
from windrow.sql.limits import check_tree
from windrow.sql.refusals import refuse_clause
from windrow.sql.scalar import parse_expression
from windrow.sql.statements import QueryText, Source, ValuesList, Window
from windrow.sql.tokens import Token
from windrow.sql.unnesting import at_unnest, parse_lateral_view, parse_unnest
from windrow.sql.window_clause import parse_history_range, parse_window
from windrow.sql.window_tables import at_window_table, parse_window_table
from windrow.window_kinds import UNBOUNDED

__all__ = ["parse_sources"]

# The words before JOIN, and the join that they mean.
_JOINS: dict[tuple[str, ...], str] = {
    (): "inner",
    ("INNER",): "inner",
    ("CROSS",): "cross",
    **{
        words: kind
        for kind in ("left", "right", "full")
        for words in ((kind.upper(),), (kind.upper(), "OUTER"))
    },
    **{
        words: kind
        for kind in ("semi", "anti")
        for words in ((kind.upper(),), ("LEFT", kind.upper()))
    },
    ("ASOF",): "asof",
    ("ASOF", "INNER"): "asof",
    **{words: "asof left" for words in (("ASOF", "LEFT"), ("ASOF", "LEFT", "OUTER"))},
}
_JOIN_WORDS = frozenset(word for words in _JOINS for word in words)
_NO_WINDOW = Window(UNBOUNDED.name, written=False)


def parse_sources(cursor: Cursor) -> tuple[Source, ...]:
    """All sources of FROM, or of joins in brackets."""
    sources = [_source(cursor)]
    while True:
        joined = _joined(cursor)
        if joined is None:
            return tuple(sources)
        sources.append(joined)


def _joined(cursor: Cursor) -> Source | None:
    if cursor.accept(","):
        source = _source(cursor)
        return replace(source, join=_outer(source), is_comma=source.join == "first")
    if cursor.at("LATERAL", "VIEW"):
        return parse_lateral_view(cursor)
    first = cursor.token
    is_natural = cursor.accept("NATURAL")
    words = _join_words(cursor)
    if not words and not is_natural and not cursor.at("JOIN"):
        refuse_clause(cursor)
        return None
    cursor.expect("JOIN")
    kind = _JOINS.get(words)
    if kind is None:
        hint = "swap the two inputs, and write LEFT SEMI JOIN or LEFT ANTI JOIN"
        raise cursor.unsupported("WU115", f"{' '.join(words)} JOIN is not supported", hint, first)
    if kind == "cross" and is_natural:
        hint = "write NATURAL JOIN, or CROSS JOIN for all pairs"
        raise cursor.wrong("WS144", "a CROSS JOIN cannot be NATURAL", hint, first)
    source = _source(cursor)
    if kind == "cross":
        return replace(source, join=_outer(source))
    source = replace(source, join=kind, is_natural=is_natural)
    return source if is_natural else _matched(cursor, source, first, words)


def _outer(source: Source) -> str:
    """EXPLODE_OUTER keeps rows without entries, however it is joined."""
    return "left" if source.join == "left" else "inner"


def _join_words(cursor: Cursor) -> tuple[str, ...]:
    words = []
    while cursor.token.upper in _JOIN_WORDS:
        words.append(cursor.consume().upper)
    return tuple(words)


def _matched(cursor: Cursor, source: Source, first: Token, words: tuple[str, ...]) -> Source:
    """The source with its ON or USING, which only inner joins can do without."""
    if cursor.accept("USING"):
        return replace(source, using=_names(cursor))
    on = _on(cursor)
    if on is None and source.join != "inner":
        join = f"{' '.join(words)} JOIN"
        hint = f"write {join} s [10 MINUTES] ON a.k = s.k"
        raise cursor.wrong("WS145", f"{join} needs ON", hint, first)
    return replace(source, on=on)


def _on(cursor: Cursor) -> exp.Expression | None:
    # ON ERROR ends the query; a column of that name is compared with something.
    is_clause = any(cursor.at("ON", "ERROR", word) for word in ("FAIL", "NULL", "SET"))
    if is_clause or not cursor.accept("ON"):
        return None
    return check_tree(parse_expression(cursor), cursor.text)


def _names(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("(")
    names = [cursor.name("a column").text]
    while cursor.accept(","):
        names.append(cursor.name("a column").text)
    cursor.expect(")")
    return tuple(names)


def _source(cursor: Cursor) -> Source:
    if cursor.at("LATERAL") and at_unnest(cursor, 1):
        cursor.consume()
    if cursor.at("LATERAL", "("):
        cursor.consume()
        return replace(_query(cursor), is_lateral=True)
    refuse_clause(cursor)
    if at_unnest(cursor):
        return _unnest(cursor)
    if cursor.at_query_in_brackets():
        return _query(cursor)
    if cursor.at("("):
        return _brackets(cursor)
    if cursor.at("HISTORY", "("):
        return _history(cursor)
    if at_window_table(cursor):
        table = parse_window_table(cursor)
        alias, columns = _alias(cursor, table.alias)
        return replace(table, alias=alias, columns=columns)
    stream = cursor.name("a stream")
    if cursor.at("("):
        hint = "a window goes in square brackets after the stream: s [10 MINUTES]"
        raise cursor.expected("a window", hint=hint)
    window = parse_window(cursor)
    as_of = _as_of(cursor)
    alias, columns = _alias(cursor, stream.text)
    as_of = as_of or _as_of(cursor)
    _refuse_window(cursor, f"{stream.text} [10 MINUTES] AS {alias}")
    place = cursor.place(stream)
    return Source(stream.text, alias, window, columns=columns, place=place, as_of=as_of)


def _as_of(cursor: Cursor) -> exp.Expression | None:
    """FOR SYSTEM_TIME AS OF a.ts: before the alias, as Flink has it, or behind it."""
    if not cursor.accept("FOR", "SYSTEM_TIME"):
        return None
    cursor.expect("AS", "OF", hint="write FOR SYSTEM_TIME AS OF a.ts, the time of the other input")
    return check_tree(parse_expression(cursor), cursor.text)


def _unnest(cursor: Cursor) -> Source:
    place = cursor.place()
    source = parse_unnest(cursor)
    alias, columns = _alias(cursor, "")
    return replace(source, alias=alias, columns=columns, place=place)


def _query(cursor: Cursor) -> Source:
    place = cursor.place()
    query = cursor.query_in_brackets(service=True)
    window = parse_window(cursor)
    if not window.written:
        _refuse_service(query)
    alias, columns = _alias(cursor, "")
    _refuse_window(cursor, f"(SELECT ...) [10 MINUTES] AS {alias}")
    return Source("", alias, window, query=query, columns=columns, place=place)


def _refuse_service(query: QueryText) -> None:
    if isinstance(query, ValuesList):
        return
    for clause in ("ERROR", "EVERY", "DURATION"):
        if clause in query.places:
            hint = "the answers go through a window: (SELECT ... EVERY (10 SECONDS)) [1 HOUR]"
            raise QuerySyntaxError(
                "WS146",
                f"a query in FROM with {clause} needs a window",
                hint=hint,
                place=query.places[clause],
            )


def _brackets(cursor: Cursor) -> Source:
    """Joins in brackets; around a single source they mean nothing."""
    place = cursor.place(cursor.expect("("))
    sources = parse_sources(cursor)
    cursor.expect(")")
    _refuse_window(cursor, "(a [10 MINUTES] JOIN b [10 MINUTES] ON ...)")
    if len(sources) > 1:
        alias, columns = _alias(cursor, "")
        return Source("", alias, _NO_WINDOW, joined=sources, columns=columns, place=place)
    alias, columns = _alias(cursor, sources[0].alias)
    return replace(sources[0], alias=alias, columns=columns or sources[0].columns)


def _refuse_window(cursor: Cursor, instead: str) -> None:
    if cursor.at("["):
        hint = f"the window comes before the alias: {instead}"
        raise cursor.wrong("WS129", "a window is not allowed here", hint)


def _history(cursor: Cursor) -> Source:
    cursor.expect("HISTORY", "(")
    stream = cursor.name("a stream")
    cursor.expect(")")
    history = parse_history_range(cursor)
    alias, columns = _alias(cursor, stream.text)
    return Source(
        stream.text,
        alias,
        _NO_WINDOW,
        history=history,
        columns=columns,
        place=cursor.place(stream),
    )


def _alias(cursor: Cursor, otherwise: str) -> tuple[str, tuple[str, ...]]:
    """AS t (a, b): the name and the names of its columns, none where there are none."""
    if cursor.accept("AS"):
        alias = cursor.name("the alias").text
    elif cursor.at_alias() and not cursor.at("FOR", "SYSTEM_TIME"):
        alias = cursor.consume().text
    else:
        return otherwise, ()
    has_columns = cursor.at("(") and cursor.ahead().kind in ("word", "quoted")
    return alias, _names(cursor) if has_columns else ()
