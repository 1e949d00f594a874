"""What follows CREATE and SET."""

from __future__ import annotations

from windrow.sql.cursor import Cursor
from windrow.sql.endpoints import parse_endpoint, parse_option_name, parse_value
from windrow.sql.function_definitions import parse_function
from windrow.sql.operands import parse_type
from windrow.sql.queries import parse_query_text
from windrow.sql.scalar import parse_expression
from windrow.sql.spans import parse_positive_span, parse_quoted_span, parse_span
from windrow.sql.statements import (
    CreateAlert,
    CreateHistory,
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Creation,
    Endpoint,
    HistoryLevel,
    SetOption,
    Statement,
)
from windrow.stream_options import EPOCH_UNITS, StreamOptions

__all__ = ["parse_create", "parse_replace", "parse_set"]


def parse_create(cursor: Cursor) -> Statement:
    """What follows CREATE."""
    if cursor.accept("OR"):
        cursor.expect("REPLACE", "QUERY", hint="CREATE OR REPLACE QUERY name AS SELECT ...")
        return _query(cursor, "create or replace")
    if cursor.accept("STREAM"):
        return _stream(cursor)
    if cursor.accept("TABLE"):
        return _table(cursor)
    if cursor.accept("HISTORY"):
        return _history(cursor)
    if cursor.accept("QUERY"):
        return _query(cursor)
    if cursor.accept("ALERT"):
        return _alert(cursor)
    if cursor.accept("VIEW"):
        return _view(cursor)
    if cursor.accept("FUNCTION"):
        return parse_function(cursor)
    words = ["STREAM", "TABLE", "HISTORY", "QUERY", "ALERT", "VIEW", "FUNCTION"]
    hint = "CREATE STREAM, TABLE, HISTORY, QUERY, ALERT, VIEW and FUNCTION are possible"
    if cursor.at_any("MATERIALIZED"):
        hint = "use CREATE QUERY name AS SELECT ...: its result is always up to date"
    raise cursor.expected(
        "STREAM, TABLE, HISTORY, QUERY, ALERT, VIEW or FUNCTION", possible=words, hint=hint
    )


def parse_replace(cursor: Cursor) -> Statement:
    """What follows REPLACE."""
    cursor.expect("QUERY", hint="REPLACE QUERY name AS SELECT ... changes a query")
    return _query(cursor, "replace")


def parse_set(cursor: Cursor) -> SetOption:
    """What follows SET: `memory = '64 MB'`."""
    place = cursor.place()
    name = parse_option_name(cursor)
    cursor.expect("=")
    value = parse_value(cursor)
    if cursor.before.kind == "number" and cursor.token.kind == "word":
        raise cursor.expected(
            "the end of the statement", hint=f"write '{value} {cursor.token.text}'"
        )
    return SetOption(name, value, place=place)


def _stream(cursor: Cursor) -> CreateStream:
    name = cursor.name("the stream")
    cursor.expect("(")
    columns = [_column(cursor)]
    while cursor.accept(","):
        columns.append(_column(cursor))
    cursor.expect(")", hint="a column is a name and a type, and nothing else")
    cursor.expect("TIME", hint="TIME and the column that is the time of a row stand here: TIME ts")
    time = cursor.name("the time column").text
    lateness_us = parse_span(cursor, "the lateness") if cursor.accept("LATENESS") else 0
    max_ahead = _max_ahead(cursor)
    options = _options(cursor)
    on_bad_row, bad_rows_into = _bad_rows(cursor)
    source = parse_endpoint(cursor, "a source") if cursor.accept("FROM") else None
    return CreateStream(
        name.text,
        tuple(columns),
        time,
        lateness_us,
        source,
        max_ahead,
        on_bad_row,
        bad_rows_into,
        options,
        place=cursor.place(name),
    )


def _table(cursor: Cursor) -> CreateTable:
    """`name (id STRING PRIMARY KEY, ...)`, or `PRIMARY KEY (id, ...)` in or behind the brackets."""
    name = cursor.name("the table")
    cursor.expect("(")
    columns: list[tuple[str, str]] = []
    keys: list[str] = []
    while True:
        if not keys and columns and cursor.at("PRIMARY", "KEY", "("):
            keys += _primary_key(cursor)
        else:
            column = _column(cursor)
            columns.append(column)
            cursor.accept("NOT", "NULL")
            if cursor.accept("PRIMARY", "KEY"):
                cursor.accept("NOT", "ENFORCED")
                keys.append(column[0])
        if not cursor.accept(","):
            break
    cursor.expect(")", hint="a column is a name and a type; the key is PRIMARY KEY (id)")
    if cursor.at("PRIMARY", "KEY") and not keys:
        keys += _primary_key(cursor)
    if not keys:
        hint = "name the columns that tell rows apart: PRIMARY KEY (id)"
        raise cursor.wrong("WS785", f"the table {name.text!r} has no PRIMARY KEY", hint, name)
    time = cursor.name("the time column").text if cursor.accept("TIME") else ""
    source = parse_endpoint(cursor, "a source") if cursor.accept("FROM") else None
    return CreateTable(
        name.text, tuple(columns), tuple(keys), time, source, place=cursor.place(name)
    )


def _primary_key(cursor: Cursor) -> list[str]:
    cursor.expect("PRIMARY", "KEY", "(")
    keys = [cursor.name("a column").text]
    while cursor.accept(","):
        keys.append(cursor.name("a column").text)
    cursor.expect(")")
    cursor.accept("NOT", "ENFORCED")
    return keys


def _max_ahead(cursor: Cursor) -> int | str:
    """`MAX AHEAD 1 HOUR`, or `MAX AHEAD OFF`."""
    if not cursor.accept("MAX"):
        return "auto"
    cursor.expect("AHEAD", hint="write MAX AHEAD 1 HOUR, or MAX AHEAD OFF")
    return (
        "off" if cursor.accept("OFF") else parse_positive_span(cursor, "how far ahead rows may be")
    )


def _options(cursor: Cursor) -> StreamOptions:
    """`UNIT ms IDLE AFTER 5 SECONDS KEEP 10 MINUTES UNKNOWN FIELDS IGNORE`, in this order."""
    unit = _unit(cursor) if cursor.accept("UNIT") else None
    idle_after_us, keep_us, unknown_fields = None, 0, "auto"
    if cursor.accept("IDLE"):
        cursor.expect("AFTER", hint="write IDLE AFTER 5 SECONDS")
        idle_after_us = parse_positive_span(cursor, "the time without rows")
    if cursor.accept("KEEP"):
        keep_us = parse_positive_span(cursor, "the time that rows are kept")
    if cursor.accept("UNKNOWN"):
        hint = "write UNKNOWN FIELDS IGNORE, or UNKNOWN FIELDS REFUSE"
        cursor.expect("FIELDS", hint=hint)
        if not cursor.at_any("IGNORE", "REFUSE"):
            raise cursor.expected("IGNORE or REFUSE", possible=["IGNORE", "REFUSE"], hint=hint)
        unknown_fields = cursor.consume().upper.lower()
    return StreamOptions(unit, idle_after_us, keep_us, unknown_fields)


def _unit(cursor: Cursor) -> str:
    units = [unit.upper() for unit in EPOCH_UNITS]
    if not cursor.at_any(*units):
        hint = "write UNIT ms where times are milliseconds since 1970; s, us and ns are others"
        raise cursor.expected("a unit of times", possible=units, hint=hint)
    return cursor.consume().upper.lower()


def _bad_rows(cursor: Cursor) -> tuple[str, Endpoint | None]:
    """`ON BAD ROW FAIL`, or `ON BAD ROW SET ASIDE INTO parquet('...')`."""
    if not cursor.accept("ON"):
        return "auto", None
    hint = "write ON BAD ROW FAIL, or ON BAD ROW SET ASIDE"
    cursor.expect("BAD", "ROW", hint=hint)
    if cursor.accept("FAIL"):
        return "fail", None
    if not cursor.at("SET"):
        raise cursor.expected("FAIL or SET ASIDE", possible=["FAIL", "SET"], hint=hint)
    cursor.expect("SET", "ASIDE", hint=hint)
    into = parse_endpoint(cursor, "a sink") if cursor.accept("INTO") else None
    return "set aside", into


def _column(cursor: Cursor) -> tuple[str, str]:
    name = cursor.name("a column").text
    return name, str(parse_type(cursor))


def _history(cursor: Cursor) -> CreateHistory:
    cursor.expect("ON")
    stream = cursor.name("a stream")
    cursor.expect("(")
    measures = _names(cursor)
    cursor.expect(")")
    group_by: tuple[str, ...] = ()
    if cursor.accept("GROUP"):
        cursor.expect("BY")
        group_by = _names(cursor)
    cursor.expect("LEVELS")
    cursor.expect("(")
    levels = [_level(cursor)]
    while cursor.accept(","):
        levels.append(_level(cursor))
    cursor.expect(")")
    return CreateHistory(stream.text, measures, group_by, tuple(levels), place=cursor.place(stream))


def _names(cursor: Cursor) -> tuple[str, ...]:
    names = [cursor.name("a column").text]
    while cursor.accept(","):
        names.append(cursor.name("a column").text)
    return tuple(names)


def _level(cursor: Cursor) -> HistoryLevel:
    grain_us = parse_positive_span(cursor, "the grain of the level")
    if cursor.accept("FOREVER"):
        return HistoryLevel(grain_us, None)
    word = cursor.expect("FOR", hint="write 1 SECOND FOR 10 MINUTES, or 1 HOUR FOREVER")
    retention_us = parse_positive_span(cursor, "the time that the level is kept")
    if retention_us < grain_us:
        hint = "keep at least one grain: 1 SECOND FOR 10 MINUTES"
        raise cursor.wrong("WS153", "the level is kept for less than its grain", hint, word)
    return HistoryLevel(grain_us, retention_us)


def _query(cursor: Cursor, mode: Creation = "create") -> CreateQuery:
    name = cursor.name("the query")
    cursor.expect("AS")
    select = parse_query_text(cursor)
    sink = parse_endpoint(cursor, "a sink") if cursor.accept("INTO") else None
    return CreateQuery(name.text, select, sink, cursor.place(name), mode)


def _alert(cursor: Cursor) -> CreateAlert:
    """`name AS SELECT ... WHEN condition FOR 5 MINUTES INTO webhook(...)`."""
    name = cursor.name("the alert")
    cursor.expect("AS")
    select = parse_query_text(cursor)
    when = parse_expression(cursor) if cursor.accept("WHEN") else None
    for_us = 0
    if cursor.accept("FOR"):
        what = "the time for which the condition holds"
        is_quoted = cursor.token.kind == "string"
        for_us = parse_quoted_span(cursor, what) if is_quoted else parse_span(cursor, what)
    sink = parse_endpoint(cursor, "a sink") if cursor.accept("INTO") else None
    return CreateAlert(name.text, select, when, for_us, sink, place=cursor.place(name))


def _view(cursor: Cursor) -> CreateView:
    name = cursor.name("the view")
    cursor.expect("AS")
    return CreateView(name.text, parse_query_text(cursor), place=cursor.place(name))
