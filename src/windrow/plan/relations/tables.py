"""One item of FROM: a stream through its window, a table, a view, a common table, or a query."""

from __future__ import annotations

from dataclasses import dataclass, replace

from windrow.errors import BindingError, UnsupportedError
from windrow.plan.catalog import View
from windrow.plan.expressions import ColumnRef
from windrow.plan.model import WindowSpec
from windrow.plan.refusals import refusal
from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    Field,
    Relation,
    Scan,
    TableScan,
    TopRows,
    VersionScan,
    ViewScan,
    walk_relations,
)
from windrow.plan.relations.answer_times import AnswerTime, answer_time
from windrow.plan.relations.closing import closes_of, has_sessions
from windrow.plan.relations.context import Answer, Common, Context, Environment
from windrow.plan.relations.references import free_ids
from windrow.plan.relations.visible import Table
from windrow.plan.relations.window_algebra import SessionScan
from windrow.plan.relations.window_columns import with_bounds
from windrow.plan.relations.windowed_rows import windowed_rows
from windrow.plan.windows import bind_window
from windrow.schema import BOOLEAN, TIMESTAMP, Column, StreamSchema
from windrow.sql.statements import QueryText, Source, ValuesList
from windrow.table_schema import TableSchema

__all__ = ["FromRows", "bind_table", "named_columns", "streams_of"]

# What the answers of a query are timed by.
ANSWER_TIME = "at"


@dataclass(frozen=True)
class FromRows:
    """Rows of FROM as far as it is read: tables by qualifier, and the columns that * stands for."""

    relation: Relation
    tables: tuple[Table, ...]
    columns: tuple[Field, ...]
    hidden: tuple[Table, ...] = ()


def bind_table(source: Source, context: Context, environment: Environment) -> FromRows:
    """The rows of an item of FROM that is no join."""
    if source.history is not None:
        place = source.history.place or source.place
        raise refusal("WU211", "HISTORY here", place, "make it the only input in FROM")
    _check_as_of(source, context, environment)
    if source.query is not None:
        return _of_query(source, source.query, context, environment.within())
    common = environment.common.get(source.stream.lower())
    if common is not None:
        return _of_common(source, common, context, environment)
    view = context.catalog.view(source.stream)
    if view is not None:
        if view.name.lower() in environment.views:
            raise _recursion(f"the view {view.name!r} reads itself", source)
        scans = dict(context.scans)
        answer = context.bind(view.query, environment.within_view(view.name))
        shared = _of_view(source, view, answer, context)
        if shared is not None:
            context.scans = scans
            return shared
        return _of_answer(source, view.query, answer, context)
    table = context.catalog.table(source.stream)
    return _of_stream(source, context) if table is None else _of_table(source, table, context)


def named_columns(
    fields: tuple[Field, ...], names: tuple[str, ...], source_name: str, source: Source | None
) -> tuple[Field, ...]:
    """The fields under the names that AS t (a, b) gives them."""
    if not names:
        return fields
    if len(names) != len(fields):
        raise BindingError(
            "WB261",
            f"{source_name!r} has {len(fields)} columns, but {len(names)} names are given",
            hint=f"name all of them: {', '.join(field.name for field in fields)}",
            place=source.place if source is not None else None,
        )
    return tuple(replace(field, name=name) for field, name in zip(fields, names, strict=True))


def _of_stream(source: Source, context: Context) -> FromRows:
    stream = context.catalog.stream(source.stream, source.place)
    window = bind_window(source.window, stream, 0)
    given = tuple(context.fresh(column.name, column.type) for column in stream.columns)
    columns = tuple(column.name for column in stream.columns)
    scan = Scan(stream, source.alias, window, columns, given)
    context.add_scan(scan, source)
    relation, given = with_bounds(scan, window, given, context)
    shown = named_columns(given, source.columns, source.alias, source)
    return FromRows(relation, (Table(source.alias, shown, stream.name),), shown)


def _check_as_of(source: Source, context: Context, environment: Environment) -> None:
    """Versions are kept of tables only."""
    if source.as_of is None:
        return
    is_other = source.stream.lower() in environment.common or source.query is not None
    if is_other or context.catalog.table(source.stream) is None:
        raise BindingError(
            "WB716",
            f"{source.alias or 'the query'} is no table: FOR SYSTEM_TIME AS OF reads versions of "
            "a table's rows",
            hint="declare it with CREATE TABLE ... PRIMARY KEY (...); between streams write "
            "a [1 MINUTE] ASOF JOIN b [1 MINUTE] ON a.k = b.k AND a.ts >= b.ts",
            place=source.place,
        )


def _of_table(source: Source, table: TableSchema, context: Context) -> FromRows:
    if source.window.written:
        raise BindingError(
            "WB714",
            f"{table.name!r} is a table: it holds the newest row of each key, and has no window",
            hint=f"omit the brackets: {table.name} AS {source.alias}",
            place=source.window.place or source.place,
        )
    given = tuple(context.fresh(column.name, column.type) for column in table.columns)
    place = (table.name, source.alias, tuple(range(len(given))), given)
    scan: Relation = TableScan(*place, key=table.key_places)
    if source.as_of is not None:
        since, gone = context.fresh("since", TIMESTAMP), context.fresh("gone", BOOLEAN)
        # For how long versions are kept is known when it is joined.
        scan = VersionScan(*place, since, gone, None, key=table.key_places)
    shown = named_columns(given, source.columns, source.alias, source)
    return FromRows(scan, (Table(source.alias, shown, table.name),), shown)


def _of_view(source: Source, view: View, answer: Answer, context: Context) -> FromRows | None:
    """The view as it runs by itself; None where it has to be part of the query.

    A window reads its answers as a stream. A view that keeps every row for ever would do so for a
    query that only counts them. Of sessions a query answers with those that close, which the rows
    of a view do not show.
    """
    if not context.shares_views or source.window.written:
        return None
    streams = streams_of(answer.relation)
    if not streams or _keeps_endless(answer.relation) or has_sessions(answer.relation):
        return None
    given = tuple(context.fresh(field.name, field.type) for field in answer.shown)
    tables = _tables_of(answer.relation)
    every_us = None if isinstance(view.query, ValuesList) else view.query.every_us
    closes = closes_of(answer.relation) if every_us is None else None
    places = tuple(range(len(given)))
    scan = ViewScan(view.name, source.alias, streams, places, given, tables, closes)
    shown = named_columns(given, source.columns, source.alias, source)
    return FromRows(scan, (Table(source.alias, shown, source.stream),), shown)


def streams_of(relation: Relation) -> tuple[str, ...]:
    """The streams that a bound relation reads, each once."""
    found: list[str] = []
    for node in walk_relations(relation):
        if isinstance(node, Scan):
            found.append(node.stream.name)
        elif isinstance(node, SessionScan):
            found.append(node.scan.stream.name)
        elif isinstance(node, ViewScan):
            found += node.streams
    return tuple(dict.fromkeys(found))


def _tables_of(relation: Relation) -> tuple[str, ...]:
    """The tables that a bound relation reads, each once."""
    found: list[str] = []
    for node in walk_relations(relation):
        if isinstance(node, TableScan | VersionScan):
            found.append(node.table)
        elif isinstance(node, ViewScan):
            found += node.tables
    return tuple(dict.fromkeys(found))


def _of_common(
    source: Source, common: Common, context: Context, environment: Environment
) -> FromRows:
    inner = replace(
        common.environment.within(), depth=environment.depth + 1, views=environment.views
    )
    context.common_read.add(id(common.table))
    try:
        return _of_query(source, common.table.query, context, inner, common.table.columns)
    except BindingError as error:
        if error.code == "WB201" and repr(common.table.name) in error.message:
            raise _recursion(f"{common.table.name!r} reads itself", source) from None
        raise


def _of_query(
    source: Source,
    query: QueryText,
    context: Context,
    environment: Environment,
    names: tuple[str, ...] = (),
) -> FromRows:
    return _of_answer(source, query, context.bind(query, environment), context, names)


def _of_answer(
    source: Source, query: QueryText, answer: Answer, context: Context, names: tuple[str, ...] = ()
) -> FromRows:
    alias = source.alias or "the query"
    shown = named_columns(answer.shown, names, alias, source)
    relation = answer.relation
    every_us = None if isinstance(query, ValuesList) else query.every_us
    rows = windowed_rows(source, relation, shown, context) if every_us is None else None
    if rows is not None:
        relation, shown = rows
    elif source.window.written:
        timed = None
        if every_us is None:
            every_us = _own_ticks(relation)
            timed = answer_time(source, relation, shown)
        relation, time = _through_window(source, answer, shown, every_us, timed, context)
        if timed is None:
            shown = (time, *shown)
        elif timed.hidden:
            shown = tuple(field for field in shown if field.id not in timed.hidden)
        if isinstance(relation, AnswerWindow):
            relation, shown = with_bounds(relation, relation.window, shown, context)
    elif every_us is not None:
        raise BindingError(
            "WB264",
            f"{alias} is a query with EVERY: its answers are a stream, which needs a window",
            hint="write a window behind it, such as [10 MINUTES], or omit EVERY",
            place=source.place,
        )
    shown = named_columns(shown, source.columns, alias, source)
    return FromRows(relation, (Table(source.alias, shown, source.stream),), shown)


def _own_ticks(relation: Relation) -> int | None:
    """When a query without EVERY answers by itself: when all its windows close."""
    closes = closes_of(relation)
    return closes[0] if closes is not None and closes[1] == 0 else None


def _through_window(
    source: Source,
    answer: Answer,
    shown: tuple[Field, ...],
    every_us: int | None,
    timed: AnswerTime | None,
    context: Context,
) -> tuple[Relation, Field]:
    """The answers as a stream in a window, and the field that times them."""
    if every_us is None:
        raise BindingError(
            "WB263",
            f"{source.alias or 'the query'} has a window, but no EVERY says when its rows are read",
            hint="write EVERY (1 MINUTE) at its end, or omit the window: the query is a relation",
            place=source.window.place or source.place,
        )
    name = source.window.time if timed is not None else ANSWER_TIME
    time = context.fresh(name, TIMESTAMP)
    window = _window_of(source, (time, *shown))
    place = source.window.place or source.place
    if not window.traits.leaves_by_time:
        hint = "write a window of time, such as [10 MINUTES], over (SELECT ... EVERY ...)"
        what = "a window that counts rows over the answers of a query"
        raise UnsupportedError("WU246", what, hint=hint, place=place)
    if free_ids(answer.relation):
        raise UnsupportedError(
            "WU244",
            "a sub-query with EVERY and a window cannot read columns of the outer query",
            hint="select the column in the sub-query, and join: "
            "JOIN (SELECT k, ... GROUP BY k EVERY (...)) [1 HOUR] AS b ON b.k = a.k",
            place=place,
        )
    offset_us = 0 if timed is None else timed.offset_us
    return AnswerWindow(answer.relation, every_us, window, time, offset_us), time


def _window_of(source: Source, fields: tuple[Field, ...]) -> WindowSpec:
    by_name = {field.name: field for field in reversed(fields)}
    columns = tuple(Column(name, field.type) for name, field in by_name.items())
    name = source.alias or "the query"
    window = bind_window(source.window, StreamSchema(name, columns, fields[0].name), 0)
    parts = (part for part in window.partition_by if isinstance(part, ColumnRef))
    return replace(window, partition_by=tuple(by_name[part.column].ref for part in parts))


def _recursion(what: str, source: Source) -> BindingError:
    return BindingError(
        "WB260",
        f"{what}: recursion is not possible",
        hint="a query reads streams and what was named before it",
        place=source.place,
    )


def _keeps_endless(relation: Relation) -> bool:
    """Whether the rows of the relation become ever more."""
    if isinstance(relation, Scan):
        return relation.window.traits.is_endless
    is_cut = isinstance(relation, TopRows) and relation.limit is not None
    if is_cut or isinstance(relation, Aggregate | AnswerWindow):
        return False
    return any(_keeps_endless(part) for part in relation.inputs)
