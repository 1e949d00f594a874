"""An aggregate over a UNION ALL adds up the aggregates of its parts.

Parts that a fused operator can run are blocks of their own then, and only what changes in their
groups goes on. Where all of them are windows the union is one block, which adds up exact states.
"""

from __future__ import annotations

from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    Item,
    Project,
    Relation,
    SetOperation,
)
from windrow.plan.relations.references import FreshIds, passed, substituted
from windrow.plan.relations.rules.partial_aggregates import PartialAggregate, partial_of
from windrow.plan.relations.union_blocks import union_block

__all__ = ["aggregate_parts_of_unions"]


def aggregate_parts_of_unions(relation: Relation) -> Relation:
    """The relation with such aggregates in two steps."""
    return _Splitting(FreshIds(relation, "p")).of(relation)


class _Splitting:
    def __init__(self, fresh: FreshIds) -> None:
        self._fresh = fresh

    def of(self, relation: Relation) -> Relation:
        parts = [self.of(part) for part in relation.inputs]
        relation = relation.with_inputs(*parts) if parts else relation
        if not isinstance(relation, Aggregate):
            return relation
        union = relation.input
        if not isinstance(union, SetOperation) or union.kind != "union":
            return relation
        types = [field.type for field in union.given]
        if any([field.type for field in part.fields] != types for part in union.parts):
            return relation
        if union_block(relation, None, "") is not None:
            return relation
        found = [partial_of(call, self._fresh) for call in relation.calls]
        steps = [each for each in found if each is not None]
        return self._split(relation, union, steps) if len(steps) == len(found) else relation

    def _split(
        self, relation: Aggregate, union: SetOperation, steps: list[PartialAggregate]
    ) -> Relation:
        groups = [self._fresh.like(item.field) for item in relation.groups]
        first = [call for step in steps for call in step.first]
        given = (*groups, *(call.field for call in first))
        parts = tuple(self._part(relation, union, part, first) for part in union.parts)
        combined = SetOperation("union", parts, given)
        regrouped = tuple(
            Item(item.field, field.ref) for item, field in zip(relation.groups, groups, strict=True)
        )
        second = tuple(call for step in steps for call in step.second)
        whole = Aggregate(combined, regrouped, second)
        kept = passed(item.field for item in relation.groups)
        return Project(whole, (*kept, *(step.value for step in steps)))

    def _part(
        self, relation: Aggregate, union: SetOperation, part: Relation, first: list[AggregateCall]
    ) -> Relation:
        """The first step over one part, under fields of its own."""
        columns = zip(union.given, part.fields, strict=True)
        by_id = {given.id: own.ref for given, own in columns}
        groups = tuple(
            Item(self._fresh.like(item.field), substituted(item.expression, by_id))
            for item in relation.groups
        )
        calls = tuple(
            AggregateCall(
                self._fresh.like(call.field),
                call.function,
                tuple(substituted(each, by_id) for each in call.arguments),
            )
            for call in first
        )
        return Aggregate(part, groups, calls)
