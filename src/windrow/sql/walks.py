"""What a query is made of: its own expressions, and the queries inside it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from windrow.sql.nested_query import NestedQuery
from windrow.sql.statements import QueryText, Select, SetQuery, Source, ValuesList

__all__ = ["expressions_of", "parts_of", "queries_in", "sources_of"]


def expressions_of(query: QueryText) -> Iterator[exp.Expression]:
    """The expressions that stand in the query itself, not those of queries inside it."""
    if isinstance(query, ValuesList):
        for row in query.rows:
            yield from row
        return
    if isinstance(query, Select):
        yield from _of_select(query)
    yield from (key.expression for key in query.order_by)


def _of_select(select: Select) -> Iterator[exp.Expression]:
    yield from (item.expression for item in select.items)
    yield from (source.on for source in sources_of(select) if source.on is not None)
    yield from (source.unnest for source in sources_of(select) if source.unnest is not None)
    yield from select.group_by
    for condition in (select.where, select.having, select.qualify):
        if condition is not None:
            yield condition


def sources_of(select: Select) -> Iterator[Source]:
    """All entries of FROM, those of joins in brackets after the brackets themselves."""
    waiting = list(reversed(select.sources))
    while waiting:
        source = waiting.pop()
        yield source
        waiting.extend(reversed(source.joined))


def queries_in(query: QueryText) -> Iterator[QueryText]:
    """The queries that stand directly in it: its parts, and those in its expressions."""
    yield from parts_of(query)
    for expression in expressions_of(query):
        yield from (node.query for node in expression.find_all(NestedQuery))


def parts_of(query: QueryText) -> Iterator[QueryText]:
    """The queries of its WITH, of its FROM, of NOT EXISTS, and those that it unites."""
    if not isinstance(query, ValuesList):
        yield from (table.query for table in query.common_tables)
    if isinstance(query, SetQuery):
        yield from (query.left, query.right)
    if isinstance(query, Select):
        yield from (each.query for each in sources_of(query) if each.query is not None)
        yield from query.not_exists
