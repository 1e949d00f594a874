"""Conditions go down to the inputs that they read, and equalities of two inputs into their join.

A row that a condition leaves out is then never joined, grouped or kept.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.plan.fallible import is_guard
from windrow.plan.relations.algebra import (
    Aggregate,
    AsOfJoin,
    AtMostOne,
    Distinct,
    Filter,
    Join,
    Project,
    Relation,
    SetOperation,
    Unnest,
    WindowFunctions,
)
from windrow.plan.relations.instants import reads_instant
from windrow.plan.relations.references import conjuncts_of, ids_of, read_ids, substituted
from windrow.plan.relations.window_algebra import WindowBounds
from windrow.plan.types import all_of

__all__ = ["push_filters"]


def push_filters(relation: Relation) -> Relation:
    """The relation with every condition as far down as it may go."""
    return _pushed(relation, [])


def _pushed(relation: Relation, conditions: list[Expr]) -> Relation:
    """The rows of the relation for which all conditions hold."""
    if isinstance(relation, Filter):
        return _pushed(relation.input, [*conjuncts_of(relation.condition), *conditions])
    if isinstance(relation, Join):
        return _into_join(relation, conditions)
    if isinstance(relation, AsOfJoin):
        return _into_as_of(relation, conditions)
    if isinstance(relation, Project):
        values = {item.field.id: item.expression for item in relation.items}
        inner = [substituted(each, values) for each in conditions]
        return replace(relation, input=_pushed(relation.input, inner))
    if isinstance(relation, Distinct):
        return Distinct(_pushed(relation.input, conditions))
    if isinstance(relation, SetOperation):
        return _into_parts(relation, conditions)
    if isinstance(relation, Aggregate):
        return _into_aggregate(relation, conditions)
    if isinstance(relation, WindowFunctions):
        kept = [part.column for part in relation.partition if isinstance(part, ColumnRef)]
        return _below(relation, conditions, frozenset(kept))
    if isinstance(relation, AtMostOne | Unnest | WindowBounds):
        # At most one row is asked of all; bounds are of no row, and entries leave rows as they are.
        may = frozenset() if isinstance(relation, AtMostOne) else ids_of(relation.input)
        return _below(relation, conditions, may)
    parts = tuple(_pushed(part, []) for part in relation.inputs)
    return _kept(relation.with_inputs(*parts) if parts else relation, conditions)


def _kept(relation: Relation, conditions: list[Expr]) -> Relation:
    condition = all_of(list(dict.fromkeys(conditions)))
    return relation if condition is None else Filter(relation, condition)


def _below(
    relation: WindowFunctions | AtMostOne | Unnest | WindowBounds,
    conditions: list[Expr],
    may: frozenset[str],
) -> Relation:
    """Conditions that read only columns by which rows are kept apart hold for whole partitions."""
    inner = [each for each in conditions if read_ids(each) and read_ids(each) <= may]
    outer = [each for each in conditions if each not in inner]
    return _kept(replace(relation, input=_pushed(relation.input, inner)), outer)


def _into_as_of(relation: AsOfJoin, conditions: list[Expr]) -> Relation:
    """A left row has its match whatever others there are; one on the right may hide another."""
    left = ids_of(relation.left)
    inner = [each for each in conditions if read_ids(each) <= left]
    outer = [each for each in conditions if each not in inner]
    parts = _pushed(relation.left, inner), _pushed(relation.right, [])
    return _kept(relation.with_inputs(*parts), outer)


def _into_aggregate(relation: Aggregate, conditions: list[Expr]) -> Relation:
    values = {item.field.id: item.expression for item in relation.groups}
    may = frozenset(values)
    inner = [each for each in conditions if read_ids(each) and read_ids(each) <= may]
    outer = [each for each in conditions if each not in inner]
    below = [substituted(each, values) for each in inner]
    return _kept(replace(relation, input=_pushed(relation.input, below)), outer)


def _into_parts(relation: SetOperation, conditions: list[Expr]) -> Relation:
    parts = []
    for part in relation.parts:
        columns = zip(relation.given, part.fields, strict=True)
        values: dict[str, Expr] = {given.id: own.ref for given, own in columns}
        same = all(
            given.type == own.type for given, own in zip(relation.given, part.fields, strict=True)
        )
        if not same:
            parts = [_pushed(each, []) for each in relation.parts]
            return _kept(relation.with_inputs(*parts), conditions)
        parts.append(_pushed(part, [substituted(each, values) for each in conditions]))
    return relation.with_inputs(*parts)


def _into_join(relation: Join, conditions: list[Expr]) -> Relation:
    """Above an outer join a condition on the side that may be padded with NULL stays above."""
    left, right = ids_of(relation.left), ids_of(relation.right)
    on = conjuncts_of(relation.condition)
    to_left: list[Expr] = []
    to_right: list[Expr] = []
    above: list[Expr] = []
    kept: list[Expr] = []
    # Joined rows that are set aside are counted above the join, not where pairs are compared.
    guarded = [each for each in conditions if is_guard(each)]
    guarded += [part for each in guarded if isinstance(each, Call) for part in each.arguments]
    for each in conditions:
        reads = read_ids(each)
        if reads <= left and relation.kind != "full":
            to_left.append(each)
        elif relation.kind == "inner" and (reads <= right or _may_join(each, guarded)):
            (to_right if reads <= right else kept).append(each)
        else:
            above.append(each)
    for each in on:
        reads = read_ids(each)
        if reads and reads <= right and relation.kind != "full":
            to_right.append(each)
        elif reads and reads <= left and relation.kind in ("inner", "semi"):
            to_left.append(each)
        else:
            kept.append(each)
    joined = replace(
        relation,
        left=_pushed(relation.left, to_left),
        right=_pushed(relation.right, to_right),
        condition=all_of(list(dict.fromkeys(kept))),
    )
    return _kept(joined, above)


def _may_join(condition: Expr, guarded: Container[Expr]) -> bool:
    """Whether it may become part of a join: it cannot fail there, nor read the instant."""
    return condition not in guarded and not reads_instant(condition)
