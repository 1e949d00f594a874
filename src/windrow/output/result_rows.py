"""Rows of a result: the select list over the groups and aggregates of each touch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import show_instant
from windrow.operators.lanes import Vector
from windrow.output.aggregate_values import aggregate_values, too_large
from windrow.output.combine import EntityTouches
from windrow.output.entities import Entities
from windrow.output.result_faults import Words
from windrow.plan.expressions import AggregateRef, Expr, GroupRef
from windrow.plan.model import QueryPlan
from windrow.plan.show import show, show_aggregate
from windrow.rows.evaluate import culprit_in, evaluate, evaluate_checked, filter_checked
from windrow.rows.faults import hint_for, show_fault
from windrow.rows.shape import QueryShape

__all__ = ["FoundRows", "ResultRows"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class FoundRows:
    """For each touch its row, and whether the result has it: many is 1 or 0.

    faults: touches that would be in the result, but have no value. words_of: what is wrong there.
    """

    many: Vector
    table: pa.Table
    faults: Flags | None
    words_of: Callable[[int], Words]


class ResultRows:
    """Makes the rows of one query."""

    def __init__(self, plan: QueryPlan, shape: QueryShape, entities: Entities) -> None:
        self._plan, self._shape, self._entities = plan, shape, entities
        self._is_whole = not plan.group_by and not shape.is_select

    def of(self, touches: EntityTouches) -> FoundRows:
        """The rows of touches."""
        size, plan = touches.at.size, self._plan
        columns, known = self._leaves(touches)
        leaf = columns.__getitem__
        found = [evaluate_checked(item.expression, leaf, size, known) for item in plan.select]
        wrong = [(item.expression, each[1]) for item, each in zip(plan.select, found, strict=True)]
        many = np.ones(size, np.int64)
        if not self._is_whole:
            many[touches.count == 0] = 0
        if plan.having is not None:
            kept, doubtful = filter_checked(plan.having, leaf, size, known)
            # What HAVING leaves out need not have values; what it cannot judge is not left out.
            many[~kept if doubtful is None else ~(kept | doubtful)] = 0
            wrong.append((plan.having, doubtful))
        table = pa.Table.from_arrays(
            [each[0] for each in found], names=[item.name for item in plan.select]
        )
        faulty = [(part, flags) for part, flags in wrong if flags is not None]
        faults = None
        if faulty:
            faults = np.logical_or.reduce([flags for _, flags in faulty]) & (many > 0)
            many[faults] = 0

        def words_of(touch: int) -> Words:
            part = next(part for part, flags in faulty if flags[touch])
            return self._words(part, touch, int(touches.at[touch]), columns, known)

        return FoundRows(many, table, faults, words_of)

    def _leaves(self, touches: EntityTouches) -> tuple[dict[Expr, pa.Array], dict[Expr, Flags]]:
        """The groups and aggregates of each touch, and where an aggregate is beyond its type."""
        columns: dict[Expr, pa.Array] = {}
        known: dict[Expr, Flags] = {}
        for index, aggregate in enumerate(self._plan.aggregates):
            part = AggregateRef(index, aggregate.type)
            reading = self._shape.readings[index]
            columns[part], faults = aggregate_values(aggregate, reading, self._shape, touches)
            if faults is not None:
                known[part] = faults
        groups = self._group_columns(touches.entity)
        for index, expression in enumerate(self._plan.group_by):
            columns[GroupRef(index, expression.type)] = groups[index]
        return columns, known

    def _words(
        self,
        expression: Expr,
        touch: int,
        at: int,
        columns: dict[Expr, pa.Array],
        known: dict[Expr, Flags],
    ) -> Words:
        """Code, message and hint for an expression that has no value in a touch."""
        plan = self._plan
        groups = [
            f"{show(part, plan)} is {columns[GroupRef(index, part.type)][touch].as_py()!r}"
            for index, part in enumerate(plan.group_by)
        ]
        where = f" where {', '.join(groups)}" if groups else ""
        where += f", at {show_instant(at)}"
        for part, flags in known.items():
            if flags[touch] and isinstance(part, AggregateRef):
                aggregate = plan.aggregates[part.index]
                code, message, hint = too_large(aggregate, show_aggregate(aggregate, plan))
                return code, message + where, hint
        culprit = culprit_in(expression, lambda part: columns[part].slice(touch, 1))
        message = show_fault(culprit, lambda leaf: show(leaf, plan))
        return "WD304", message + where, hint_for(culprit)

    def _group_columns(self, entity: NDArray[np.int32]) -> list[pa.Array]:
        """The group columns of each touch, in the order of the plan."""
        if not self._shape.group_places:
            return []
        distinct, places = self._entities.distinct(entity)
        index = pa.array(places)
        found = iter(self._entities.columns(distinct))
        return [
            self.constant(number, entity.size)
            if place.kind == "constant"
            else self.typed(next(found), number).take(index)
            for number, place in enumerate(self._shape.group_places)
        ]

    def constant(self, number: int, size: int) -> pa.Array:
        """A part of the groups, or of a select list, that is the same in all rows."""
        return evaluate(self._named(number), _no_leaf, size)

    def typed(self, column: pa.Array, number: int) -> pa.Array:
        """A part of the groups, or of a select list, in its own type."""
        # A group that is a join key was coded in the type that both sides of the join share.
        wanted = self._named(number).type.arrow
        return column if column.type == wanted else column.cast(wanted)

    def _named(self, number: int) -> Expr:
        """What the plan groups by; for a select, its list."""
        plan = self._plan
        return plan.select[number].expression if self._shape.is_select else plan.group_by[number]


def _no_leaf(part: Expr) -> pa.Array:
    raise AssertionError(f"{part} in a constant")
