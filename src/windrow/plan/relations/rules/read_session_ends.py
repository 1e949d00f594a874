"""The end of a session changes with each of its rows; its rows are not told, but joined with it.

A row of an open session would have to leave and come back with every later row of the session. So
its rows have their start only, and a relation with one row for each session has the end: it is
joined where the end is read, above aggregates of whole sessions. A row then costs O(1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.plan.fallible import uncounted
from windrow.plan.relations.algebra import (
    Aggregate,
    Field,
    Filter,
    Item,
    Join,
    Project,
    Relation,
    walk_relations,
)
from windrow.plan.relations.references import (
    FreshIds,
    passed,
    read_ids,
    same_columns,
    substituted,
)
from windrow.plan.relations.rules.prune_columns import prune_columns, pruned_sessions
from windrow.plan.relations.window_algebra import SessionScan, WindowBound
from windrow.schema import TIMESTAMP

__all__ = ["read_session_ends"]


def read_session_ends(relation: Relation) -> Relation:
    """The relation with ends of open sessions as a relation of their own."""
    scans = [each for each in walk_relations(relation) if isinstance(each, SessionScan)]
    if not any(each.mode == "rows" for each in scans):
        return relation
    return _Reading(FreshIds(relation, "e")).of(prune_columns(relation))


class _Reading:
    def __init__(self, fresh: FreshIds) -> None:
        self._fresh = fresh

    def of(self, relation: Relation) -> Relation:
        """Inputs first: an aggregate is put below the join that is found there."""
        if isinstance(relation, SessionScan):
            return self._joined(relation) if relation.mode == "rows" else relation
        parts = [self.of(part) for part in relation.inputs]
        relation = relation.with_inputs(*parts) if parts else relation
        if isinstance(relation, Filter):
            return _filtered(relation)
        return self._aggregated(relation) if isinstance(relation, Aggregate) else relation

    def _joined(self, scan: SessionScan) -> Relation:
        ends = tuple(each for each in scan.bounds if each.part != "start")
        if not ends:
            return scan
        start = next((each for each in scan.bounds if each.part == "start"), None)
        start = start or WindowBound("start", self._fresh.like(Field("", "start", TIMESTAMP)))
        rows, keys = self._with_keys(replace(scan, bounds=(start,)))
        since = self._fresh.like(start.field)
        newest, own = self._again(rows)
        bounds = (WindowBound("start", since), *ends)
        newest = replace(newest, mode="newest", bounds=bounds)
        pairs = [(key, own[key.id]) for key in keys]
        wanted = {own[key.id].id for key in keys} | {each.field.id for each in bounds}
        newest = pruned_sessions(newest, frozenset(wanted))
        return Join("inner", rows, newest, same_columns([*pairs, (start.field, since)]))

    def _with_keys(self, scan: SessionScan) -> tuple[SessionScan, list[Field]]:
        """The scan with a column for each of PARTITION BY, and these columns."""
        keys: list[Field] = []
        for part in scan.scan.window.partition_by:
            if isinstance(part, ColumnRef):
                scan = _reading(scan, [part.column], self._fresh)
                keys.append(_column(scan, part.column))
                continue
            scan = _reading(scan, sorted(read_ids(part)), self._fresh)
            value = substituted(part, {name: _column(scan, name).ref for name in read_ids(part)})
            known = next((each for each in scan.computed if each.expression == value), None)
            if known is None:
                known = Item(self._fresh.like(Field("", "key", part.type)), value)
                scan = replace(scan, computed=(*scan.computed, known))
            keys.append(known.field)
        return scan, keys

    def _again(self, scan: SessionScan) -> tuple[SessionScan, dict[str, Field]]:
        """The same rows under other ids, and these by those that they had."""
        own = {field.id: self._fresh.like(field) for field in scan.rows.fields}
        refs = {known: field.ref for known, field in own.items()}
        inner = replace(scan.scan, given=tuple(own[field.id] for field in scan.scan.given))
        computed = tuple(
            Item(own[each.field.id], substituted(each.expression, refs)) for each in scan.computed
        )
        condition = scan.condition
        condition = None if condition is None else uncounted(substituted(condition, refs))
        return replace(scan, scan=inner, computed=computed, condition=condition), own

    def _aggregated(self, node: Aggregate) -> Relation:
        join = node.input
        if not _reads_ends(join):
            return node
        assert isinstance(join, Join)
        ends = frozenset(field.id for field in join.right.fields)
        above = [item for item in node.groups if read_ids(item.expression) & ends]
        below = [item for item in node.groups if item not in above]
        arguments = (part for call in node.calls for part in call.arguments)
        if not all(_is_column(item.expression) for item in above) or _read(arguments, ends):
            return node
        pairs = _pairs(join)
        known = {item.expression: item.field for item in below}
        # Without an end in the groups nothing of the join is read above.
        keys = [left for left, _ in pairs[:-1]]
        if not above or not all(key in known for key in keys):
            return node
        missing = [left for left, _ in pairs if left not in known]
        more = [Item(self._fresh.like(_field_of(join.left, each)), each) for each in missing]
        inner = Aggregate(join.left, (*below, *more), node.calls)
        known |= {item.expression: item.field for item in more}
        same = same_columns((known[left], _field_of(join.right, right)) for left, right in pairs)
        joined = Join("inner", inner, join.right, same)
        items = [
            item if item in above else Item(item.field, item.field.ref) for item in node.groups
        ]
        return Project(joined, (*items, *passed(call.field for call in node.calls)))


def _filtered(node: Filter) -> Relation:
    """Below the join, if it reads no end."""
    join = node.input
    if not _reads_ends(join):
        return node
    assert isinstance(join, Join)
    if read_ids(node.condition) & frozenset(field.id for field in join.right.fields):
        return node
    return replace(join, left=Filter(join.left, node.condition))


def _reads_ends(relation: Relation) -> bool:
    return (
        isinstance(relation, Join)
        and isinstance(relation.right, SessionScan)
        and relation.right.mode == "newest"
        and relation.kind == "inner"
    )


def _pairs(join: Join) -> list[tuple[Expr, Expr]]:
    """What is equal in both: the columns of PARTITION BY, then the start."""
    condition = join.condition
    assert isinstance(condition, Call)
    parts = condition.arguments if condition.function == "and" else (condition,)
    found: list[tuple[Expr, Expr]] = []
    for part in parts:
        assert isinstance(part, Call)
        if part.function == "and":
            found += _pairs(replace(join, condition=part))
        else:
            left, right = part.arguments
            found.append((left, right))
    return found


def _reading(scan: SessionScan, names: list[str], fresh: FreshIds) -> SessionScan:
    """The scan, which reads these columns of the stream, too."""
    own = scan.scan
    columns, given = list(own.columns), list(own.given)
    for name in names:
        if name not in columns:
            columns.append(name)
            given.append(fresh.like(Field("", name, own.stream.column(name).type)))
    return replace(scan, scan=replace(own, columns=tuple(columns), given=tuple(given)))


def _column(scan: SessionScan, name: str) -> Field:
    return scan.scan.given[scan.scan.columns.index(name)]


def _field_of(relation: Relation, expression: Expr) -> Field:
    assert isinstance(expression, ColumnRef)
    return next(field for field in relation.fields if field.id == expression.column)


def _is_column(expression: Expr) -> bool:
    return isinstance(expression, ColumnRef)


def _read(expressions: Iterable[Expr], ids: frozenset[str]) -> bool:
    return any(read_ids(each) & ids for each in expressions)
