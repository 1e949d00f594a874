"""Statements back to text that parses to an equal statement; expressions in other dialects, too."""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from windrow.sql.dialect import WQL
from windrow.sql.endpoints import print_endpoint, print_option_name, print_value
from windrow.sql.service_clauses import print_service_clauses
from windrow.sql.spans import print_span
from windrow.sql.statements import (
    CreateHistory,
    CreateQuery,
    CreateStream,
    Explain,
    Select,
    SelectItem,
    SetOption,
    Source,
    Statement,
)
from windrow.sql.window_clause import print_history_range, print_window
from windrow.sql.words import print_name

__all__ = ["print_expression", "print_statement"]


def print_statement(statement: Statement) -> str:
    """The statement as WQL on one line.

    >>> from windrow.sql import parse_statement
    >>> print_statement(parse_statement("select count(*) from s [60 second] every 5"))
    'SELECT COUNT(*) FROM s [RANGE 1 MINUTE] EVERY (5 SECONDS)'
    """
    if isinstance(statement, Select):
        return _select(statement)
    if isinstance(statement, CreateStream):
        return _create_stream(statement)
    if isinstance(statement, CreateHistory):
        return _create_history(statement)
    if isinstance(statement, CreateQuery):
        into = "" if statement.sink is None else f" INTO {print_endpoint(statement.sink)}"
        return f"CREATE QUERY {print_name(statement.name)} AS {_select(statement.select)}{into}"
    if isinstance(statement, Explain):
        return f"EXPLAIN {_select(statement.select)}"
    return _set(statement)


def print_expression(expression: exp.Expr, dialect: Literal["spark", "duckdb"] = "spark") -> str:
    """The expression as SQL of 'spark' or 'duckdb'.

    For DuckDB all names are quoted: words are reserved there that are none in WQL.
    """
    return expression.sql(
        dialect=WQL if dialect == "spark" else dialect,
        identify=dialect != "spark",
        comments=False,
    )


def _select(select: Select) -> str:
    parts = ["SELECT DISTINCT" if select.distinct else "SELECT"]
    parts.append(", ".join(_item(item) for item in select.items))
    parts.append("FROM " + "".join(_source(source) for source in select.sources))
    conditions = _conditions(select)
    if conditions:
        parts.append("WHERE " + " AND ".join(conditions))
    if select.group_by:
        parts.append("GROUP BY " + ", ".join(print_expression(e) for e in select.group_by))
    if select.having is not None:
        parts.append("HAVING " + print_expression(select.having))
    parts += print_service_clauses(select.error_percent, select.every_us, select.duration)
    return " ".join(parts)


def _item(item: SelectItem) -> str:
    printed = print_expression(item.expression)
    return printed if item.alias is None else f"{printed} AS {print_name(item.alias)}"


def _source(source: Source) -> str:
    printed = _stream(source)
    if source.alias != source.stream:
        printed += f" AS {print_name(source.alias)}"
    if source.join == "first":
        return printed
    if source.on is None:
        return f", {printed}"
    word = "LEFT ANTI JOIN" if source.join == "anti" else "JOIN"
    return f" {word} {printed} ON {print_expression(source.on)}"


def _stream(source: Source) -> str:
    name = print_name(source.stream)
    if source.history is not None:
        return f"HISTORY({name}) {print_history_range(source.history)}"
    return name + print_window(source.window)


def _conditions(select: Select) -> list[str]:
    conditions = []
    where = select.where
    if where is not None:
        if select.not_exists and isinstance(where, exp.Or):
            where = exp.Paren(this=where.copy())
        conditions.append(print_expression(where))
    conditions += [f"NOT EXISTS ({_select(negated)})" for negated in select.not_exists]
    return conditions


def _create_stream(statement: CreateStream) -> str:
    columns = ", ".join(f"{print_name(name)} {kind}" for name, kind in statement.columns)
    printed = f"CREATE STREAM {print_name(statement.name)} ({columns})"
    printed += f" TIME {print_name(statement.time)}"
    if statement.lateness_us:
        printed += f" LATENESS {print_span(statement.lateness_us)}"
    if statement.max_ahead != "auto":
        ahead = statement.max_ahead
        printed += f" MAX AHEAD {'OFF' if isinstance(ahead, str) else print_span(ahead)}"
    if statement.on_bad_row != "auto":
        printed += f" ON BAD ROW {statement.on_bad_row.upper()}"
    if statement.bad_rows_into is not None:
        printed += f" INTO {print_endpoint(statement.bad_rows_into)}"
    if statement.source is not None:
        printed += f" FROM {print_endpoint(statement.source)}"
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
