"""The stages of a tree on Spark: cut where the next operator needs rows by another key.

Each stage runs in buckets, and sends the changes of some relations to the next one. The largest
parts that can be partitioned are the first stage; what is above them is cut in the same way, until
it can be partitioned itself, or a further stage would not do anything. Then the rest is in one
bucket. Of the first n rows, and of an aggregate without groups, a stage has what each bucket knows,
and the next one puts that together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.plan.exact_terms import is_exact_sum
from windrow.plan.expressions import Call, Expr
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    AnswerWindow,
    AtMostOne,
    Filter,
    Item,
    Project,
    Relation,
    SetOperation,
    TopRows,
    Unnest,
    ValidRows,
    walk_relations,
)
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.exact_sums import summed_in_words
from windrow.plan.relations.exchange_algebra import LocalAggregate, LocalTopRows, Received, Sent
from windrow.plan.relations.first_rows import has_first_rows
from windrow.plan.relations.references import FreshIds, passed
from windrow.plan.relations.rules.partial_aggregates import partial_of
from windrow.plan.relations.tree_partitioning import can_be_partitioned
from windrow.plan.relations.tree_plan import TreePlan
from windrow.schema import BIGINT

__all__ = ["STAGES_LIMIT", "stages_of"]

# Each stage adds to a batch most of what the first one costs it, whatever it has to do.
STAGES_LIMIT = 3

# What keeps nothing is not worth a stage.
_LIGHT = (Received, Project, Filter, ValidRows, Unnest)


class _Cut(NamedTuple):
    """What a stage sends, which of it is in one bucket, and the relation above."""

    parts: tuple[Relation, ...]
    alone: tuple[bool, ...]
    rest: Relation


def stages_of(plan: TreePlan) -> tuple[TreePlan, ...]:
    """The plans of the stages, first to last; the plan alone where one is enough or helps.

    All but the last have Sent as their root, all but the first have Received as their leaves.
    """
    is_one = plan.partitioning.is_sharded or plan.combined is not None
    # Answers of sessions that close are a second tree.
    if is_one or plan.closing is not None:
        return (plan,)
    cuts: list[_Cut] = []
    relation, fresh = plan.relation, FreshIds(plan.relation, "x")
    while len(cuts) + 1 < STAGES_LIMIT and not _is_last(relation):
        cut = _cut(relation, fresh, plan.grid_us)
        if not any(map(_is_work, cut.parts, cut.alone)):
            break
        cuts.append(cut)
        relation = cut.rest
    if not cuts:
        return (plan,)
    plans = [replace(plan, relation=relation)]
    for cut in reversed(cuts):
        entered = {node.number for node in plans[0].entered if isinstance(node, Received)}
        flags = tuple(number in entered for number in range(len(cut.parts)))
        sent = Sent(cut.parts, flags, cut.alone, plan.grid_us)
        plans.insert(0, replace(plan, relation=sent, outputs=(), order=(), hidden=()))
    return tuple(plans)


def _is_last(relation: Relation) -> bool:
    """Whether it runs in many buckets as the last stage.

    Rows that are there before any row has come are told by one bucket: the publisher knows when.
    """
    return can_be_partitioned(relation) and not has_first_rows(relation)


def _cut(relation: Relation, fresh: FreshIds, grid_us: int) -> _Cut:
    """A stage below; what several read is sent twice only where that lets these be partitioned."""
    found = _Cutting(fresh, grid_us, is_apart=False).of(relation)
    if _is_last(found.rest):
        return found
    apart = _Cutting(fresh, grid_us, is_apart=True).of(relation)
    return apart if _is_last(apart.rest) else found


class _Cutting:
    def __init__(self, fresh: FreshIds, grid_us: int, *, is_apart: bool) -> None:
        self._fresh, self._grid_us, self._is_apart = fresh, grid_us, is_apart
        self._parts: list[Relation] = []
        self._alone: list[bool] = []

    def of(self, relation: Relation) -> _Cut:
        rest = self._rest(relation)
        return _Cut(tuple(self._parts), tuple(self._alone), rest)

    def _rest(self, node: Relation) -> Relation:
        """The node over what is received of the largest parts that fit into the stage."""
        if self._fits(node):
            return self._received(node)
        if not node.inputs:
            return self._received(node, alone=True)
        split = self._split(node)
        if split is not None and self._fits(split[0]):
            lower, whole_of = split
            return whole_of(self._received(lower))
        return node.with_inputs(*map(self._rest, node.inputs))

    def _fits(self, node: Relation) -> bool:
        """Whether it can be partitioned beside what the stage has already."""
        known = [part for part, alone in zip(self._parts, self._alone, strict=True) if not alone]
        flags = (False,) * (len(known) + 1)
        return can_be_partitioned(Sent((*known, node), flags, flags))

    def _received(self, part: Relation, *, alone: bool = False) -> Received:
        if self._is_apart or part not in self._parts:
            self._parts.append(part)
            self._alone.append(alone)
        number = len(self._parts) - 1 if self._is_apart else self._parts.index(part)
        begins, is_small = has_first_rows(part), _has_one_row(part)
        return Received(number, part.fields, begins, is_small)

    def _split(self, node: Relation) -> tuple[Relation, Callable[[Relation], Relation]] | None:
        """What a bucket can do of the node, and what the node is over that of all buckets."""
        if isinstance(node, TopRows) and not node.partition and node.limit is not None:
            if not _reads_more_than_received(node.input):
                return None
            limit = node.limit + node.offset
            lower = LocalTopRows(node.input, (), node.order, limit)
            return lower, lambda received: node.with_inputs(received)
        if not isinstance(node, Aggregate) or node.on_error != "fail":
            return None
        is_worth_it = not node.groups or self._changes_together(node.input)
        return self._split_aggregate(node) if is_worth_it else None

    def _changes_together(self, relation: Relation) -> bool:
        """Whether many rows change at one instant, so that a group changes less often than they.

        Otherwise each of them would be sent as a group that goes and one that comes.
        """
        return self._grid_us > 1 or _is_coarse(relation)

    def _split_aggregate(
        self, node: Aggregate
    ) -> tuple[Relation, Callable[[Relation], Relation]] | None:
        if not _reads_more_than_received(node.input):
            return None
        # What the sums of a bucket are need not fit into the type of the whole.
        wide = {call.field.id for call in node.calls if _is_wide_sum(call)}
        if wide:
            whole = summed_in_words(node, wide, self._fresh)
            assert isinstance(whole.input, Aggregate)
            inner = self._split_aggregate(whole.input)
            return inner and (inner[0], lambda received: whole.with_inputs(inner[1](received)))
        steps = [partial_of(call, self._fresh) for call in node.calls if not _is_mean(call)]
        found = [each for each in steps if each is not None]
        if len(found) < len(node.calls):
            return None
        first = tuple(call for step in found for call in step.first)
        second = tuple(call for step in found for call in step.second)
        pairs = [(item, self._fresh.like(item.field)) for item in node.groups]
        own = tuple(Item(part, item.expression) for item, part in pairs)
        groups = tuple(Item(item.field, part.ref) for item, part in pairs)
        values = (*passed(item.field for item in groups), *(step.value for step in found))
        lower = LocalAggregate(node.input, own, first)
        return lower, lambda received: Project(Aggregate(received, groups, second), values)


def _has_one_row(part: Relation) -> bool:
    """Whether a bucket has at most one row of it."""
    if isinstance(part, Block):
        return part.plan.kind == "aggregate" and not part.plan.group_by
    if isinstance(part, Aggregate):
        return not part.groups
    if isinstance(part, TopRows):
        return part.limit == 1 and not part.partition
    if isinstance(part, AtMostOne):
        return not part.by
    return isinstance(part, Project | Filter) and _has_one_row(part.input)


def _is_wide_sum(call: AggregateCall) -> bool:
    if not is_exact_sum(call.function, is_distinct=call.is_distinct):
        return False
    (argument,) = call.arguments
    return argument.type == BIGINT and not _is_word(argument)


def _is_word(argument: Expr) -> bool:
    return isinstance(argument, Call) and argument.function.endswith("_word")


def _is_mean(call: AggregateCall) -> bool:
    """A mean is rounded once, from exact sums: not from what is told of a part."""
    return AGGREGATE_FUNCTIONS[call.function].form is Form.MEAN


def _is_coarse(relation: Relation) -> bool:
    """Whether it changes at the ticks of answers, or where windows close, only."""
    if isinstance(relation, AnswerWindow):
        return True
    if isinstance(relation, Block):
        return all(entry.window.traits.closes for entry in relation.entries)
    return bool(relation.inputs) and all(map(_is_coarse, relation.inputs))


def _reads_more_than_received(relation: Relation) -> bool:
    """Whether it is more than what the stage below has put together for it."""
    return any(isinstance(node, Block) or not _is_light(node) for node in walk_relations(relation))


def _is_work(part: Relation, alone: bool) -> bool:
    """Whether a stage that sends it does more than to pass rows on."""
    return not alone and not all(map(_is_light, walk_relations(part)))


def _is_light(node: Relation) -> bool:
    if isinstance(node, Block):
        return node.is_scan
    if isinstance(node, SetOperation):
        return node.kind == "union"
    return isinstance(node, _LIGHT)
