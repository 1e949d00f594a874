"""The NOT EXISTS of a WHERE that negates streams: kept apart from its other conditions."""

from __future__ import annotations

from sqlglot import exp

from windrow.sql.nested_query import NestedQuery
from windrow.sql.statements import QueryText, Select, Source
from windrow.sql.walks import expressions_of

__all__ = ["is_simple_negation"]

# These need a partition or a group, or are queries: then the whole is an expression like any other.
_NOT_SIMPLE = (NestedQuery, exp.Window, exp.Filter, exp.Tuple)


def is_simple_negation(condition: exp.Expression) -> bool:
    """Whether it is NOT EXISTS (SELECT ... FROM streams [WHERE ...]), with nothing nested."""
    if not isinstance(condition, exp.Not) or not isinstance(condition.this, exp.Exists):
        return False
    return _is_simple(condition.this.this.query)


def _is_simple(query: QueryText) -> bool:
    if not isinstance(query, Select) or not query.sources or query.not_exists:
        return False
    clauses = (query.group_by, query.grouping_sets, query.having, query.qualify, query.order_by)
    ends = (query.limit, query.offset or None)
    if any(clauses) or any(each is not None for each in ends) or query.common_tables:
        return False
    if not all(_is_stream(source) for source in query.sources):
        return False
    return all(each.find(*_NOT_SIMPLE) is None for each in expressions_of(query))


def _is_stream(source: Source) -> bool:
    is_plain = not source.using and not source.is_natural and not source.columns
    return bool(source.stream) and is_plain and source.join in ("first", "inner", "anti")
