"""Aggregates of the same rows in the same groups are one, of which each reader takes its part.

Two readers of one name of WITH may need different aggregates of it; each has lost those that it
does not read by then. Only windows with their conditions are compared: they are what costs most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.fallible import is_guard
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    Field,
    Filter,
    Item,
    Project,
    Relation,
    Scan,
    walk_relations,
)
from windrow.plan.relations.references import conjuncts_of, substituted
from windrow.plan.types import all_of

__all__ = ["share_aggregates"]


def share_aggregates(relation: Relation) -> Relation:
    """The relation in which such aggregates are equal nodes."""
    nodes = dict.fromkeys(walk_relations(relation))
    found = [each for each in map(_described, nodes) if each is not None]
    alike: dict[Any, list[_Described]] = {}
    for each in found:
        alike.setdefault(each.key, []).append(each)
    shared: dict[Relation, Relation] = {}
    for several in alike.values():
        if len({frozenset(each.calls) for each in several}) > 1:
            shared |= _merged(several)
    return _replaced(relation, shared) if shared else relation


@dataclass(frozen=True)
class _Described:
    """An aggregate of a window. key: all but its calls, over the columns of the stream."""

    node: Aggregate
    scan: Scan
    conditions: tuple[Expr, ...]
    key: Any
    calls: tuple[Any, ...]


def _described(node: Relation) -> _Described | None:
    if not isinstance(node, Aggregate):
        return None
    read = _read(node.input)
    # Rows that are set aside are counted for each reader.
    if read is None or any(map(is_guard, read[1])):
        return None
    scan, plain, names = read
    groups = tuple(substituted(item.expression, names) for item in node.groups)
    calls = tuple(
        (
            each.function,
            tuple(substituted(part, names) for part in each.arguments),
            each.is_distinct,
        )
        for each in node.calls
    )
    key = (scan.stream, scan.window, frozenset(plain), groups, node.on_error)
    return _Described(node, scan, plain, key, calls)


def _read(relation: Relation) -> tuple[Scan, tuple[Expr, ...], dict[str, Expr]] | None:
    """The window below, the conditions on it, and what each column is of those of the stream."""
    if isinstance(relation, Scan):
        columns = zip(relation.given, relation.columns, strict=True)
        return relation, (), {own.id: ColumnRef(0, name, own.type) for own, name in columns}
    if not isinstance(relation, Filter | Project):
        return None
    inner = _read(relation.input)
    if inner is None:
        return None
    scan, conditions, names = inner
    if isinstance(relation, Project):
        items = relation.items
        return scan, conditions, {i.field.id: substituted(i.expression, names) for i in items}
    own = (substituted(each, names) for each in conjuncts_of(relation.condition))
    return scan, (*conditions, *own), names


def _form(call: AggregateCall, names: Mapping[str, Expr]) -> tuple[Any, ...]:
    arguments = tuple(substituted(part, names) for part in call.arguments)
    return call.function, arguments, call.is_distinct


def _merged(several: list[_Described]) -> dict[Relation, Relation]:
    """One aggregate with the calls of all, and what each of these becomes over it."""
    first = several[0]
    fields: dict[str, Field] = {}
    for each in several:
        for column, field in zip(each.scan.columns, each.scan.given, strict=True):
            fields.setdefault(column, field)
    calls: dict[Any, AggregateCall] = {}
    for each in several:
        for form, call in zip(each.calls, each.node.calls, strict=True):
            arguments = tuple(_over(part, fields) for part in form[1])
            calls.setdefault(form, replace(call, arguments=arguments))
    scan = replace(first.scan, columns=tuple(fields), given=tuple(fields.values()))
    condition = all_of([_over(part, fields) for part in first.conditions])
    inner: Relation = scan if condition is None else Filter(scan, condition)
    groups = tuple(
        Item(item.field, _over(expression, fields))
        for item, expression in zip(first.node.groups, first.key[3], strict=True)
    )
    whole = Aggregate(inner, groups, tuple(calls.values()), first.node.on_error)
    return {each.node: _part(each, whole, calls) for each in several}


def _part(each: _Described, whole: Aggregate, calls: dict[Any, AggregateCall]) -> Relation:
    """The columns of one of them, under their own ids."""
    pairs = zip(each.node.groups, whole.groups, strict=True)
    items = [Item(own.field, item.field.ref) for own, item in pairs]
    items += [
        Item(call.field, calls[form].field.ref)
        for call, form in zip(each.node.calls, each.calls, strict=True)
    ]
    return Project(whole, tuple(items))


def _over(expression: Expr, fields: dict[str, Field]) -> Expr:
    """An expression over columns of a stream as one over the fields of a scan."""
    return substituted(expression, {name: field.ref for name, field in fields.items()})


def _replaced(relation: Relation, shared: dict[Relation, Relation]) -> Relation:
    found = shared.get(relation)
    if found is not None:
        return found
    parts = [_replaced(part, shared) for part in relation.inputs]
    return relation.with_inputs(*parts) if parts else relation
