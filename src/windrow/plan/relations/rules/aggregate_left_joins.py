"""An aggregate over a LEFT JOIN by equality joins aggregates instead of rows.

Of each key and group of the left input, and of each key of the right one, counts and sums are kept
by blocks of their own. A left row counts as often as its key has right rows, or once where it has
none: the unmatched term. So no pair is ever formed, as in the factorised inner join.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    Field,
    Item,
    Join,
    Project,
    Relation,
)
from windrow.plan.relations.join_condition import JoinKey, split_condition
from windrow.plan.relations.references import FreshIds, ids_of, passed, read_ids, substituted
from windrow.plan.relations.rules.partial_aggregates import ROWS, PartialAggregate, partial_of
from windrow.plan.types import all_of, arithmetic
from windrow.schema import BIGINT, BOOLEAN

__all__ = ["aggregate_left_joins"]

_ONE = Literal(1, BIGINT)


def aggregate_left_joins(relation: Relation) -> Relation:
    """The relation with such aggregates over joined aggregates."""
    return _Factorising(FreshIds(relation, "f")).of(relation)


@dataclass(frozen=True)
class _Joined:
    """An aggregate over a left join, in terms of the columns of the join's inputs."""

    join: Join
    keys: tuple[JoinKey, ...]
    groups: tuple[Item, ...]
    calls: tuple[AggregateCall, ...]


class _Factorising:
    def __init__(self, fresh: FreshIds) -> None:
        self._fresh = fresh

    def of(self, relation: Relation) -> Relation:
        parts = [self.of(part) for part in relation.inputs]
        relation = relation.with_inputs(*parts) if parts else relation
        joined = _joined(relation) if isinstance(relation, Aggregate) else None
        if joined is None:
            return relation
        return self._factorised(joined) or relation

    def _factorised(self, joined: _Joined) -> Relation | None:
        """None where an aggregate has no two steps."""
        left, right = ids_of(joined.join.left), ids_of(joined.join.right)
        rows = [self._rows(), self._rows()]  # of a left group, and of a right key
        per_left = Call("coalesce", (rows[1].field.ref, _ONE), BIGINT)
        keys = {key.left for key in joined.keys}
        is_whole = keys <= {item.expression for item in joined.groups}
        steps: list[PartialAggregate] = []
        firsts: tuple[list[AggregateCall], list[AggregateCall]] = ([rows[0]], [rows[1]])
        for call in joined.calls:
            reads = frozenset[str]().union(*(read_ids(part) for part in call.arguments))
            if not (reads <= left or reads <= right):
                return None
            is_right = bool(reads) and reads <= right
            often = rows[0].field.ref if is_right else per_left
            step = partial_of(call, self._fresh, partial(_times, often), exact=not is_whole)
            if step is None:
                return None
            steps.append(step)
            firsts[is_right].extend(step.first)
        return self._tree(joined, steps, firsts)

    def _rows(self) -> AggregateCall:
        return AggregateCall(self._fresh.like(Field("", "rows", BIGINT)), ROWS.name)

    def _tree(
        self,
        joined: _Joined,
        steps: list[PartialAggregate],
        firsts: tuple[list[AggregateCall], list[AggregateCall]],
    ) -> Relation:
        left_keys = [self._item(key.left, "key") for key in joined.keys]
        right_keys = [self._item(key.right, "key") for key in joined.keys]
        groups = [self._item(item.expression, item.field.name) for item in joined.groups]
        left = Aggregate(joined.join.left, (*groups, *left_keys), tuple(firsts[0]))
        right = Aggregate(joined.join.right, tuple(right_keys), tuple(firsts[1]))
        same = [
            Call("is_same" if key.is_null_safe else "=", (one.field.ref, two.field.ref), BOOLEAN)
            for key, one, two in zip(joined.keys, left_keys, right_keys, strict=True)
        ]
        pairs = zip(joined.groups, groups, strict=True)
        regrouped = tuple(Item(item.field, own.field.ref) for item, own in pairs)
        second = tuple(call for step in steps for call in step.second)
        whole = Aggregate(Join("left", left, right, all_of(same)), regrouped, second)
        kept = passed(item.field for item in joined.groups)
        return Project(whole, (*kept, *(step.value for step in steps)))

    def _item(self, expression: Expr, name: str) -> Item:
        return Item(self._fresh.like(Field("", name, expression.type)), expression)


def _times(often: Expr, part: Expr) -> Expr:
    return arithmetic("*", part, often)


def _joined(relation: Aggregate) -> _Joined | None:
    """What an aggregate over a left join by equality alone is made of."""
    groups, calls, below = relation.groups, relation.calls, relation.input
    while isinstance(below, Project):
        by_id = {item.field.id: item.expression for item in below.items}
        groups = tuple(
            replace(item, expression=substituted(item.expression, by_id)) for item in groups
        )
        calls = tuple(
            replace(call, arguments=tuple(substituted(part, by_id) for part in call.arguments))
            for call in calls
        )
        below = below.input
    if not isinstance(below, Join) or below.kind != "left":
        return None
    condition = split_condition(below)
    if not condition.keys or condition.residual is not None or any(condition.filters):
        return None
    if any(not read_ids(item.expression) <= ids_of(below.left) for item in groups):
        return None
    return _Joined(below, condition.keys, groups, calls)
