"""A window behind a query that only chooses, filters and computes rows is that of its stream."""

from __future__ import annotations

from dataclasses import replace

from windrow.plan.expressions import ColumnRef
from windrow.plan.relations.algebra import Field, Filter, Project, Relation, Scan
from windrow.plan.relations.context import Context
from windrow.plan.relations.window_columns import with_bounds
from windrow.plan.windows import bind_window
from windrow.schema import Column, StreamSchema
from windrow.sql.statements import Source

__all__ = ["windowed_rows"]


def windowed_rows(
    source: Source, relation: Relation, shown: tuple[Field, ...], context: Context
) -> tuple[Relation, tuple[Field, ...]] | None:
    """The rows in the window, and their columns; None where the query does more than that.

    Only windows by time: whether others count rows before or after the query is not clear.
    """
    scan = _only_scan(relation)
    if not source.window.written or scan is None or not source.window.traits.has_width:
        return None
    time = _time_of(relation, scan)
    named = next((field for field in shown if field.id == time), None)
    if named is None:
        return None
    by_name = {field.name: field for field in reversed(shown)}
    columns = tuple(Column(name, field.type) for name, field in by_name.items())
    window = bind_window(source.window, StreamSchema(source.alias, columns, named.name), 0)
    through = replace(scan, window=window)
    context.scans.pop(scan, None)
    context.add_scan(through, source)
    return with_bounds(_over(relation, through), window, shown, context)


def _only_scan(relation: Relation) -> Scan | None:
    """The stream without a window that the relation reads row by row."""
    while isinstance(relation, Project | Filter):
        relation = relation.input
    is_endless = isinstance(relation, Scan) and relation.window.traits.is_endless
    return relation if isinstance(relation, Scan) and is_endless else None


def _time_of(relation: Relation, scan: Scan) -> str | None:
    """The id of the column that is the time of the stream."""
    if isinstance(relation, Filter):
        return _time_of(relation.input, scan)
    if not isinstance(relation, Project):
        pairs = zip(scan.columns, scan.given, strict=True)
        return next((field.id for name, field in pairs if name == scan.stream.time), None)
    inner = _time_of(relation.input, scan)
    for item in relation.items:
        if isinstance(item.expression, ColumnRef) and item.expression.column == inner:
            return item.field.id
    return None


def _over(relation: Relation, scan: Scan) -> Relation:
    if not isinstance(relation, Project | Filter):
        return scan
    return relation.with_inputs(_over(relation.input, scan))
