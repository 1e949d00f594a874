"""GROUP BY over a UNION ALL of windows: a block for each part, whose exact states add up.

Nothing is published between the parts and the whole: sums of doubles, too, are rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from windrow.aggregate_functions import Form
from windrow.plan.expressions import Expr, Literal, inputs_of
from windrow.plan.model import QueryPlan
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    Item,
    Relation,
    SetOperation,
)
from windrow.plan.relations.blocks import Block, with_blocks
from windrow.plan.relations.references import substituted

__all__ = ["UnionBlock", "part_of_union", "union_block", "with_union_blocks"]


@dataclass(frozen=True)
class UnionBlock(Block):
    """Blocks of one window each, of equal form; plan: that of the first one, for all of them."""

    parts: tuple[Block, ...]

    @property
    def plans(self) -> tuple[QueryPlan, ...]:
        """One for each part."""
        return tuple(part.plan for part in self.parts)


def with_union_blocks(relation: Relation, every_us: int | None, text: str) -> Relation:
    """The relation with every aggregate over such a union as a block."""
    found = union_block(relation, every_us, text)
    if found is not None:
        return found
    parts = [with_union_blocks(part, every_us, text) for part in relation.inputs]
    return relation.with_inputs(*parts) if parts else relation


def union_block(relation: Relation, every_us: int | None, text: str) -> UnionBlock | None:
    """The aggregate over a union as one block; None where it is none, or the parts differ."""
    if not isinstance(relation, Aggregate):
        return None
    union = relation.input
    if not isinstance(union, SetOperation) or union.kind != "union":
        return None
    types = [field.type for field in union.given]
    if any([field.type for field in part.fields] != types for part in union.parts):
        return None
    parts = [
        with_blocks(part_of_union(relation, union, part), every_us, text) for part in union.parts
    ]
    blocks = tuple(part for part in parts if isinstance(part, Block))
    if len(blocks) < len(parts) or not _are_alike([block.plan for block in blocks]):
        return None
    return UnionBlock(blocks[0].plan, relation.fields, blocks)


def part_of_union(relation: Aggregate, union: SetOperation, part: Relation) -> Aggregate:
    """The aggregate over one part, under the fields of the whole."""
    columns = zip(union.given, part.fields, strict=True)
    by_id = {given.id: own.ref for given, own in columns}
    groups = tuple(
        Item(item.field, substituted(item.expression, by_id)) for item in relation.groups
    )
    calls = tuple(
        AggregateCall(
            call.field,
            call.function,
            tuple(substituted(each, by_id) for each in call.arguments),
            call.is_distinct,
        )
        for call in relation.calls
    )
    return Aggregate(part, groups, calls, relation.on_error)


def _are_alike(plans: Sequence[QueryPlan]) -> bool:
    """Whether the states of their groups have the same columns, with the same meaning."""
    if not all(map(_adds_up, plans)):
        return False
    forms = [_form(plan) for plan in plans]
    return all(form == forms[0] for form in forms)


def _adds_up(plan: QueryPlan) -> bool:
    # A group that is a constant, or written twice, has no column of its own.
    is_grouped = all(map(inputs_of, plan.group_by)) and len({*plan.group_by}) == len(plan.group_by)
    is_distinct = any(each.traits.form is Form.DISTINCT for each in plan.aggregates)
    return len(plan.inputs) == 1 and is_grouped and not is_distinct and plan.residual is None


def _form(plan: QueryPlan) -> tuple[Any, ...]:
    measured = list(dict.fromkeys(each.measured for each in plan.aggregates))
    aggregates = [
        (each.function, each.type, *_kind(each.argument), measured.index(each.measured))
        for each in plan.aggregates
    ]
    groups = [part.type for part in plan.group_by]
    return aggregates, groups, [column.expression for column in plan.select], plan.on_error


def _kind(argument: Expr | None) -> tuple[Any, ...]:
    return (None, False) if argument is None else (argument.type, isinstance(argument, Literal))
