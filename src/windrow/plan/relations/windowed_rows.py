"""A window behind a query that only chooses, joins and computes rows is that of one stream.

Which rows of the query are in the window depends on the time of that stream alone: so it may as
well be asked of the rows of the stream, before they are joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.algebra import Field, Filter, Item, Join, Project, Relation, Scan
from windrow.plan.relations.context import Context
from windrow.plan.relations.references import passed, substituted
from windrow.plan.relations.window_algebra import SessionScan
from windrow.plan.relations.window_columns import with_bounds
from windrow.plan.types import all_of
from windrow.plan.windows import bind_window
from windrow.schema import TIMESTAMP, Column, StreamSchema
from windrow.sql.statements import Source

__all__ = ["windowed_rows"]


def windowed_rows(
    source: Source, relation: Relation, shown: tuple[Field, ...], context: Context
) -> tuple[Relation, tuple[Field, ...]] | None:
    """The rows in the window, and their columns; None where the query does more than that.

    Only windows by time: whether others count rows before or after the query is not clear.
    """
    if source.window.written and source.window.traits.is_session:
        return _sessions(source, relation, shown, context)
    if not source.window.written or not source.window.traits.has_width:
        return None
    found = list(_timed_scans(relation, shown))
    if not found:
        return None
    scan = found[0][0]
    times = [field for each, field in found if each == scan]
    named = next((each for each in times if _is_named(each, source)), times[0])
    by_name = {field.name: field for field in reversed(shown)}
    columns = tuple(Column(name, field.type) for name, field in by_name.items())
    window = bind_window(source.window, StreamSchema(source.alias, columns, named.name), 0)
    through = replace(scan, window=window)
    context.scans.pop(scan, None)
    context.add_scan(through, source)
    return with_bounds(_over(relation, scan, through), window, shown, context)


def _sessions(
    source: Source, relation: Relation, shown: tuple[Field, ...], context: Context
) -> tuple[Relation, tuple[Field, ...]] | None:
    """Sessions of the rows that a query chooses and computes of one stream."""
    rows = _rows_of(relation)
    if rows is None or not rows.scan.window.traits.is_endless:
        return None
    times = [field for field in shown if rows.is_time(rows.values[field.id])]
    if not times:
        return None
    named = next((each for each in times if _is_named(each, source)), times[0])
    by_name = {field.name: field for field in reversed(shown)}
    columns = tuple(Column(name, field.type) for name, field in by_name.items())
    window = bind_window(source.window, StreamSchema(source.alias, columns, named.name), 0)
    parts = [by_name[each.column] for each in window.partition_by if isinstance(each, ColumnRef)]
    keys = [rows.values[each.id] for each in parts]
    window = replace(window, partition_by=tuple(rows.of_stream(each) for each in keys))
    through = replace(rows.scan, window=window)
    context.scans.pop(rows.scan, None)
    context.add_scan(through, source)
    computed = {
        field.id: Item(context.fresh(field.name, field.type), value)
        for field, value in zip(parts, keys, strict=True)
        if not isinstance(value, ColumnRef)
    }
    found, seen = with_bounds(through, window, shown, context)
    if isinstance(found, SessionScan):
        items = tuple(computed.values())
        found = replace(found, condition=all_of(rows.conditions), computed=items)
    else:
        return None
    values = {known: item.field.ref for known, item in computed.items()}
    own = tuple(Item(field, values.get(field.id, rows.values[field.id])) for field in shown)
    return Project(found, (*own, *passed(seen[len(shown) :]))), seen


@dataclass(frozen=True)
class _Rows:
    """Rows that are chosen and computed of a stream; values: by id, of the columns of the scan."""

    scan: Scan
    conditions: list[Expr]
    values: dict[str, Expr]

    def is_time(self, value: Expr) -> bool:
        return self.of_stream(value) == ColumnRef(0, self.scan.stream.time, TIMESTAMP)

    def of_stream(self, value: Expr) -> Expr:
        """The value by names of columns of the stream."""
        columns = zip(self.scan.given, self.scan.columns, strict=True)
        named = {field.id: ColumnRef(0, name, field.type) for field, name in columns}
        return substituted(value, named)


def _rows_of(relation: Relation) -> _Rows | None:
    if isinstance(relation, Scan):
        return _Rows(relation, [], {field.id: field.ref for field in relation.given})
    if not isinstance(relation, Project | Filter):
        return None
    inner = _rows_of(relation.input)
    if inner is None:
        return None
    if isinstance(relation, Filter):
        condition = substituted(relation.condition, inner.values)
        return replace(inner, conditions=[*inner.conditions, condition])
    values = {item.field.id: substituted(item.expression, inner.values) for item in relation.items}
    return replace(inner, values=values)


def _is_named(time: Field, source: Source) -> bool:
    """Whether the window names this column: PROCTIME() AS p is the time once more."""
    return time.name.lower() == source.window.time.lower()


def _timed_scans(relation: Relation, shown: tuple[Field, ...]) -> Iterator[tuple[Scan, Field]]:
    """The streams without a window whose rows are passed on, each with the columns of its time."""
    for scan in _passed_scans(relation):
        times = _times_of(relation, scan)
        yield from ((scan, field) for field in shown if field.id in times)


def _passed_scans(relation: Relation) -> Iterator[Scan]:
    """Those whose rows, or what is made of them, are in the relation, none of it padded."""
    if isinstance(relation, Scan) and relation.window.traits.is_endless:
        yield relation
    elif isinstance(relation, Project | Filter):
        yield from _passed_scans(relation.input)
    elif isinstance(relation, Join) and relation.kind != "full":
        yield from _passed_scans(relation.left)
        if relation.kind == "inner":
            yield from _passed_scans(relation.right)


def _times_of(relation: Relation, scan: Scan) -> set[str]:
    """The ids of the columns that are the time of the stream."""
    if relation == scan:
        pairs = zip(scan.columns, scan.given, strict=True)
        return {field.id for name, field in pairs if name == scan.stream.time}
    inner = {found for part in relation.inputs for found in _times_of(part, scan)}
    if not isinstance(relation, Project):
        return inner
    return {
        item.field.id
        for item in relation.items
        if isinstance(item.expression, ColumnRef) and item.expression.column in inner
    }


def _over(relation: Relation, scan: Scan, through: Scan) -> Relation:
    if relation == scan:
        return through
    parts = [_over(part, scan, through) for part in relation.inputs]
    return relation.with_inputs(*parts) if parts else relation
