"""Statements back to text that parses to an equal statement; expressions in other dialects, too."""

from __future__ import annotations

from windrow.sql.endpoints import print_endpoint, print_option_name, print_value
from windrow.sql.query_printer import print_expression, print_query
from windrow.sql.spans import print_span
from windrow.sql.statements import (
    CreateAlert,
    CreateFunction,
    CreateHistory,
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Explain,
    QueryText,
    SetOption,
    Statement,
)
from windrow.sql.words import print_name
from windrow.stream_options import StreamOptions

__all__ = ["print_expression", "print_statement"]


def print_statement(statement: Statement) -> str:
    """The statement as WQL on one line.

    >>> from windrow.sql import parse_statement
    >>> print_statement(parse_statement("select count(*) from s [60 second] every 5"))
    'SELECT COUNT(*) FROM s [RANGE 1 MINUTE] EVERY (5 SECONDS)'
    """
    if isinstance(statement, QueryText):
        return print_query(statement)
    if isinstance(statement, CreateStream):
        return _create_stream(statement)
    if isinstance(statement, CreateTable):
        return _create_table(statement)
    if isinstance(statement, CreateHistory):
        return _create_history(statement)
    if isinstance(statement, CreateQuery):
        into = "" if statement.sink is None else f" INTO {print_endpoint(statement.sink)}"
        begin = f"{statement.mode.upper()} QUERY {print_name(statement.name)}"
        return f"{begin} AS {print_query(statement.select)}{into}"
    if isinstance(statement, CreateAlert):
        return _create_alert(statement)
    if isinstance(statement, CreateView):
        return f"CREATE VIEW {print_name(statement.name)} AS {print_query(statement.query)}"
    if isinstance(statement, CreateFunction):
        return _create_function(statement)
    if isinstance(statement, Explain):
        return f"EXPLAIN {print_query(statement.select)}"
    return _set(statement)


def _create_alert(statement: CreateAlert) -> str:
    printed = f"CREATE ALERT {print_name(statement.name)} AS {print_query(statement.select)}"
    if statement.when is not None:
        printed += f" WHEN {print_expression(statement.when)}"
    if statement.for_us:
        printed += f" FOR {print_span(statement.for_us)}"
    return printed if statement.sink is None else f"{printed} INTO {print_endpoint(statement.sink)}"


def _create_stream(statement: CreateStream) -> str:
    columns = ", ".join(f"{print_name(name)} {kind}" for name, kind in statement.columns)
    printed = f"CREATE STREAM {print_name(statement.name)} ({columns})"
    printed += f" TIME {print_name(statement.time)}"
    if statement.lateness_us:
        printed += f" LATENESS {print_span(statement.lateness_us)}"
    if statement.max_ahead != "auto":
        ahead = statement.max_ahead
        printed += f" MAX AHEAD {'OFF' if isinstance(ahead, str) else print_span(ahead)}"
    printed += _options(statement.options)
    if statement.on_bad_row != "auto":
        printed += f" ON BAD ROW {statement.on_bad_row.upper()}"
    if statement.bad_rows_into is not None:
        printed += f" INTO {print_endpoint(statement.bad_rows_into)}"
    if statement.source is not None:
        printed += f" FROM {print_endpoint(statement.source)}"
    return printed


def _create_table(statement: CreateTable) -> str:
    columns = ", ".join(f"{print_name(name)} {kind}" for name, kind in statement.columns)
    key = ", ".join(print_name(name) for name in statement.key)
    printed = f"CREATE TABLE {print_name(statement.name)} ({columns}, PRIMARY KEY ({key}))"
    if statement.time:
        printed += f" TIME {print_name(statement.time)}"
    if statement.source is not None:
        printed += f" FROM {print_endpoint(statement.source)}"
    return printed


def _create_function(statement: CreateFunction) -> str:
    printed = f"CREATE FUNCTION {print_name(statement.name)}"
    if statement.parameters is not None:
        parts = ", ".join(f"{print_name(name)} {kind}" for name, kind in statement.parameters)
        printed += f" ({parts})"
    if statement.returns:
        printed += f" RETURNS {statement.returns}"
    if statement.body is not None:
        return f"{printed} AS {print_expression(statement.body)}"
    printed += f" AS {print_value(statement.python_name)} LANGUAGE PYTHON"
    return f"{printed} VECTORISED" if statement.is_vectorised else printed


def _options(options: StreamOptions) -> str:
    printed = f" UNIT {options.unit}" if options.unit else ""
    if options.idle_after_us is not None:
        printed += f" IDLE AFTER {print_span(options.idle_after_us)}"
    if options.keep_us:
        printed += f" KEEP {print_span(options.keep_us)}"
    if options.unknown_fields != "auto":
        printed += f" UNKNOWN FIELDS {options.unknown_fields.upper()}"
    return printed


def _create_history(statement: CreateHistory) -> str:
    measures = ", ".join(print_name(name) for name in statement.measures)
    printed = f"CREATE HISTORY ON {print_name(statement.stream)} ({measures})"
    if statement.group_by:
        printed += " GROUP BY " + ", ".join(print_name(name) for name in statement.group_by)
    levels = ", ".join(
        f"{print_span(level.grain_us)} {_retention(level.retention_us)}"
        for level in statement.levels
    )
    return f"{printed} LEVELS ({levels})"


def _retention(retention_us: int | None) -> str:
    return "FOREVER" if retention_us is None else f"FOR {print_span(retention_us)}"


def _set(statement: SetOption) -> str:
    return f"SET {print_option_name(statement.name)} = {print_value(statement.value)}"
