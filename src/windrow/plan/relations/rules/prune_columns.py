"""Columns that nobody reads are not computed, carried or kept.

Every operator remembers the rows of its inputs: a column less is a column less in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    AsOfJoin,
    AtMostOne,
    Distinct,
    Field,
    Filter,
    Join,
    Project,
    Relation,
    Scan,
    SetOperation,
    TableScan,
    TopRows,
    Unnest,
    ValidRows,
    Values,
    VersionScan,
    ViewScan,
    WindowFunctions,
)
from windrow.plan.relations.references import expressions_of, ids_of, passed, read_ids
from windrow.plan.relations.window_algebra import SessionScan, WindowBounds

__all__ = ["prune_columns", "pruned_sessions"]

Ids = frozenset[str]


def prune_columns(relation: Relation) -> Relation:
    """The relation, with all of its own columns and as few as it needs below."""
    return _pruned(relation, ids_of(relation))


def _pruned(relation: Relation, wanted: Ids) -> Relation:
    """The relation with at least the columns that are wanted."""
    rule = _RULES.get(type(relation))
    if rule is not None:
        return rule(relation, wanted)
    assert isinstance(relation, Filter | Join | AtMostOne | Unnest | ValidRows | AsOfJoin)
    return _over(relation, wanted)


def _project(relation: Project, wanted: Ids) -> Relation:
    items = tuple(item for item in relation.items if item.field.id in wanted)
    kept = replace(relation, items=items or relation.items[:1])
    return _over(kept, frozenset())


def _aggregate(relation: Aggregate, wanted: Ids) -> Relation:
    calls = tuple(call for call in relation.calls if call.field.id in wanted)
    if not calls and not relation.groups:
        calls = relation.calls[:1]
    return _over(replace(relation, calls=calls), frozenset())


def _window_functions(relation: WindowFunctions, wanted: Ids) -> Relation:
    calls = tuple(call for call in relation.calls if call.field.id in wanted)
    if not calls:
        return _pruned(relation.input, wanted)
    return _all_of_input(replace(relation, calls=calls), wanted)


def _whole(relation: Distinct | TopRows, wanted: Ids) -> Relation:
    """Equal rows are told apart by all their columns, and so are ties."""
    del wanted
    return relation.with_inputs(_pruned(relation.input, ids_of(relation.input)))


def _answer_window(relation: AnswerWindow, wanted: Ids) -> Relation:
    inner = wanted & ids_of(relation.input) or ids_of(relation.input)
    return relation.with_inputs(_exactly(_pruned(relation.input, inner), inner))


def _over(relation: Relation, wanted: Ids) -> Relation:
    """The node over inputs with what it reads, and what is wanted of them."""
    reads = wanted.union(*(read_ids(part) for part in expressions_of(relation)))
    if isinstance(relation, AsOfJoin) and not isinstance(relation.right, VersionScan):
        # Whole rows decide between equal times; versions have times of their own.
        reads |= ids_of(relation.right)
    parts = []
    for part in relation.inputs:
        needed = reads & ids_of(part)
        parts.append(_exactly(_pruned(part, needed), needed))
    return relation.with_inputs(*parts)


def _all_of_input(relation: WindowFunctions, wanted: Ids) -> Relation:
    """Ties are broken by whole rows: the input keeps what is wanted and what is read."""
    reads = wanted.union(*(read_ids(part) for part in expressions_of(relation)))
    needed = reads & ids_of(relation.input)
    shown = wanted & ids_of(relation.input)
    own = replace(relation, shown=shown)
    return own.with_inputs(_exactly(_pruned(relation.input, needed), needed))


def _exactly(relation: Relation, wanted: Ids) -> Relation:
    """The relation with only these columns, where dropping others shortens its rows."""
    kept = _chosen(relation.fields, wanted)
    if len(kept) == len(relation.fields) or not isinstance(relation, Filter | Join | AsOfJoin):
        return relation
    return Project(relation, passed(kept or relation.fields[:1]))


def _chosen(fields: Iterable[Field], wanted: Ids) -> tuple[Field, ...]:
    return tuple(field for field in fields if field.id in wanted)


def _window_bounds(relation: WindowBounds, wanted: Ids) -> Relation:
    bounds = tuple(each for each in relation.bounds if each.field.id in wanted)
    if not bounds:
        return _pruned(relation.input, wanted)
    return _over(replace(relation, bounds=bounds), wanted)


def pruned_sessions(relation: SessionScan, wanted: Ids) -> SessionScan:
    """The sessions with at least the columns that are wanted."""
    computed = tuple(each for each in relation.computed if each.field.id in wanted)
    bounds = tuple(each for each in relation.bounds if each.field.id in wanted)
    relation = replace(relation, computed=computed, bounds=bounds)
    reads = wanted.union(*(read_ids(part) for part in expressions_of(relation)))
    scan = _leaf(relation.scan, reads)
    assert isinstance(scan, Scan)
    return replace(relation, scan=scan)


def _leaf(relation: Scan | ViewScan | TableScan | VersionScan | Values, wanted: Ids) -> Relation:
    if isinstance(relation, Values):
        return relation
    read = relation.columns if isinstance(relation, Scan) else relation.places
    pairs = list(zip(read, relation.given, strict=True))
    kept = [pair for pair in pairs if pair[1].id in wanted] or pairs[:1]
    columns, given = zip(*kept, strict=True)
    if isinstance(relation, Scan):
        return replace(relation, columns=columns, given=given)
    return replace(relation, places=columns, given=given)


def _set_operation(relation: SetOperation, wanted: Ids) -> Relation:
    """Rows of a UNION ALL may lose columns; those of the others are compared by all."""
    if relation.kind != "union":
        parts = [_pruned(part, ids_of(part)) for part in relation.parts]
        return relation.with_inputs(*parts)
    places = [i for i, field in enumerate(relation.given) if field.id in wanted] or [0]
    parts = []
    for part in relation.parts:
        kept = tuple(part.fields[i] for i in places)
        inner = _pruned(part, frozenset(field.id for field in kept))
        parts.append(inner if inner.fields == kept else Project(inner, passed(kept)))
    given = tuple(relation.given[i] for i in places)
    return replace(relation, parts=tuple(parts), given=given)


# Any: a rule is for its own kind of node.
_RULES: dict[type[Relation], Callable[[Any, Ids], Relation]] = {
    Scan: _leaf,
    SessionScan: pruned_sessions,
    ViewScan: _leaf,
    TableScan: _leaf,
    VersionScan: _leaf,
    Values: _leaf,
    Project: _project,
    Aggregate: _aggregate,
    WindowFunctions: _window_functions,
    SetOperation: _set_operation,
    Distinct: _whole,
    TopRows: _whole,
    WindowBounds: _window_bounds,
    AnswerWindow: _answer_window,
}
