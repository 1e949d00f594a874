"""Texts to statements: one query, one statement, or a script of them separated by semicolons."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from windrow.errors import QuerySyntaxError, WindrowError
from windrow.sql.cursor import Cursor
from windrow.sql.definitions import parse_create, parse_replace, parse_set
from windrow.sql.double_quotes import settings_applied
from windrow.sql.elsewhere import STATEMENTS
from windrow.sql.queries import parse_query_text, read_nested
from windrow.sql.refusals import refuse_clause, refuse_rest
from windrow.sql.statements import (
    CreateAlert,
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Explain,
    QueryText,
    Statement,
)
from windrow.sql.words import CLAUSES

__all__ = ["parse_all", "parse_query", "parse_script", "parse_statement"]

Result = TypeVar("Result")
_BEGINNINGS = ("SELECT", "WITH", "VALUES", "CREATE", "REPLACE", "EXPLAIN", "SET")


def parse_query(text: str) -> QueryText:
    """The one query that the text holds."""
    statement = parse_statement(text)
    if isinstance(statement, QueryText):
        return statement
    raise QuerySyntaxError(
        "WS160",
        "the text is a statement, not a query",
        hint="a query begins with SELECT; run other statements as a script",
        place=Cursor(text).place(),
    )


def parse_statement(text: str) -> Statement:
    """The one statement that the text holds; a semicolon may end it."""

    def read(cursor: Cursor) -> Statement:
        _skip_semicolons(cursor)
        statement = _statement(cursor)
        _skip_semicolons(cursor)
        if cursor.before.text == ";" and cursor.token.kind != "end":
            hint = "give one statement, or run the text as a script"
            raise cursor.wrong("WS161", "a second statement begins here", hint)
        refuse_rest(cursor, _may_follow(statement))
        return statement

    return _reading(text, read)


def parse_script(text: str) -> tuple[Statement, ...]:
    """All statements of a script, in their order; empty ones are skipped."""
    text = settings_applied(text)

    def read(cursor: Cursor) -> tuple[Statement, ...]:
        statements = []
        _skip_semicolons(cursor)
        while cursor.token.kind != "end":
            statements.append(_statement(cursor))
            if not cursor.at(";"):
                refuse_rest(cursor, _may_follow(statements[-1]))
            _skip_semicolons(cursor)
        return tuple(statements)

    return _reading(text, read)


def parse_all(text: str) -> tuple[list[Statement], list[str], list[WindrowError]]:
    """Statements of a script, streams, tables and views that could not be read, and all errors.

    After an error it continues with the next statement.
    """

    def read(cursor: Cursor) -> tuple[list[Statement], list[str], list[WindrowError]]:
        statements, unread, problems = list[Statement](), list[str](), list[WindrowError]()
        _skip_semicolons(cursor)
        while cursor.token.kind != "end":
            is_named = any(cursor.at("CREATE", each) for each in ("STREAM", "TABLE", "VIEW"))
            stream = cursor.ahead(2).text if is_named else None
            try:
                statement = _statement(cursor)
                if not cursor.at(";"):
                    refuse_rest(cursor, _may_follow(statement))
                statements.append(statement)
            except WindrowError as problem:
                problems.append(problem)
                if stream is not None:
                    unread.append(stream.strip("`"))
                while cursor.token.kind != "end" and not cursor.at(";"):
                    cursor.consume()
            _skip_semicolons(cursor)
        return statements, unread, problems

    text = settings_applied(text)
    try:
        return _reading(text, read)
    except WindrowError as problem:  # no tokens to begin with
        return [], [], [problem]


def _reading(text: str, read: Callable[[Cursor], Result]) -> Result:
    try:
        return read(Cursor(text, read_nested))
    except RecursionError:
        # The limits keep our own depth small: only a caller that is deep itself gets here.
        raise QuerySyntaxError(
            "WS162",
            "the text is nested too deeply to be parsed from here",
            hint="remove unnecessary brackets",
        ) from None


def _may_follow(statement: Statement) -> tuple[str, ...]:
    """Clauses that could continue a statement, including those that it already has."""
    if isinstance(statement, QueryText | Explain | CreateView):
        return CLAUSES[:-1]
    if isinstance(statement, CreateQuery):
        return CLAUSES if statement.sink is None else ()
    if isinstance(statement, CreateAlert):
        return (*CLAUSES[:-1], "WHEN", "FOR", "INTO") if statement.sink is None else ()
    if isinstance(statement, CreateTable):
        return ("PRIMARY KEY", "TIME", "FROM")
    return (
        (
            *("LATENESS", "MAX AHEAD", "UNIT", "IDLE AFTER", "KEEP", "UNKNOWN FIELDS"),
            *("ON BAD ROW", "FROM"),
        )
        if isinstance(statement, CreateStream)
        else ()
    )


def _skip_semicolons(cursor: Cursor) -> None:
    while cursor.accept(";"):
        continue


def _statement(cursor: Cursor) -> Statement:
    if cursor.at_query() or cursor.at_query_in_brackets():
        return parse_query_text(cursor)
    if cursor.accept("CREATE"):
        return parse_create(cursor)
    if cursor.accept("REPLACE"):
        return parse_replace(cursor)
    if cursor.accept("EXPLAIN"):
        return Explain(parse_query_text(cursor))
    if cursor.accept("SET"):
        return parse_set(cursor)
    refuse_clause(cursor)
    if cursor.token.kind == "end":
        raise cursor.wrong("WS163", "there is no statement in the text", "begin with SELECT")
    known = STATEMENTS.get(cursor.token.upper)
    hint = known or f"a statement begins with one of {', '.join(_BEGINNINGS)}"
    raise cursor.expected("a statement", possible=() if known else _BEGINNINGS, hint=hint)
