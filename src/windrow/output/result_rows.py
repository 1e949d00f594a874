"""Rows of a result: the select list over the groups and aggregates of each group update."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.aggregate_functions import Form
from windrow.event_time import show_instant
from windrow.operators.lanes import LaneLayout, Vector
from windrow.operators.partial import Partial
from windrow.operators.sum_values import too_large
from windrow.output.aggregate_values import aggregate_values
from windrow.output.combine import CodedUpdates
from windrow.output.kernels import is_increasing
from windrow.output.known_groups import KnownGroups
from windrow.output.state_log import States
from windrow.plan.expressions import AggregateRef, Call, Expr, GroupRef
from windrow.plan.model import QueryPlan
from windrow.plan.show import show, show_aggregate
from windrow.rows.evaluate import culprit_in, evaluate, evaluate_checked, filter_checked
from windrow.rows.faults import hint_for, show_fault
from windrow.rows.shape import QueryShape

__all__ = ["FoundRows", "ResultRows", "Words", "coded_columns", "rows_of_groups"]

Flags = NDArray[np.bool_]
# Text of an error: code, message, hint.
Words = tuple[str, str, str]


@dataclass(frozen=True)
class FoundRows:
    """For each update its row, and whether the result has it: many is 1 or 0.

    faults: updates that would be in the result, but have no value. words_of: what is wrong there.
    """

    many: Vector
    table: pa.Table
    faults: Flags | None
    words_of: Callable[[int], Words]


class ResultRows:
    """Makes the rows of one query."""

    def __init__(self, plan: QueryPlan, shape: QueryShape, groups: KnownGroups) -> None:
        self._plan, self._shape, self._groups = plan, shape, groups
        self._is_whole = not plan.group_by and not shape.is_select

    @cached_property
    def is_plain(self) -> bool:
        """Whether every group has a row, of groups and aggregates alone: it can be made late."""
        plain = (GroupRef, AggregateRef)
        items = (item.expression for item in self._plan.select)
        return self._plan.having is None and all(isinstance(each, plain) for each in items)

    def of_states(self, states: States) -> pa.Table:
        """The rows of states, of a plain select list."""
        columns, _ = self._leaves(states)
        chosen = [columns[item.expression] for item in self._plan.select]
        return pa.Table.from_arrays(chosen, names=[item.name for item in self._plan.select])

    def can_be_late(self, layout: LaneLayout) -> bool:
        """Whether rows of states may be made when somebody reads them.

        Of an ungrouped aggregate wide states are much larger than the row that they become.
        """
        is_small = not self._is_whole or not layout.is_wide
        return self.is_plain and is_small and not self.may_lack(layout)

    def may_lack(self, layout: LaneLayout) -> bool:
        """Whether a sum may be beyond its type."""
        return any(
            reading.form is Form.SUM
            and not aggregate.type.is_float
            and (not layout.is_plain or aggregate.type.name == "DECIMAL")
            for aggregate, reading in zip(self._plan.aggregates, self._shape.readings, strict=True)
        )

    def of(self, updates: CodedUpdates) -> FoundRows:
        """The rows of updates."""
        size, plan = updates.at.size, self._plan
        columns, known = self._leaves(updates)
        leaf = columns.__getitem__
        found = [evaluate_checked(item.expression, leaf, size, known) for item in plan.select]
        wrong = [(item.expression, each[1]) for item, each in zip(plan.select, found, strict=True)]
        many = np.ones(size, np.int64)
        if not self._is_whole:
            many[updates.count == 0] = 0
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

        def words_of(update: int) -> Words:
            part = next(part for part, flags in faulty if flags[update])
            return self._words(part, update, int(updates.at[update]), columns, known)

        return FoundRows(many, table, faults, words_of)

    def _leaves(
        self, updates: CodedUpdates | States
    ) -> tuple[dict[Expr, pa.Array], dict[Expr, Flags]]:
        """The groups and aggregates of each update, and where an aggregate is beyond its type."""
        columns: dict[Expr, pa.Array] = {}
        known: dict[Expr, Flags] = {}
        for index, aggregate in enumerate(self._plan.aggregates):
            part = AggregateRef(index, aggregate.type)
            reading = self._shape.readings[index]
            columns[part], faults = aggregate_values(aggregate, reading, self._shape, updates)
            if faults is not None:
                known[part] = faults
        groups = self._group_columns(updates.group)
        for index, expression in enumerate(self._plan.group_by):
            columns[GroupRef(index, expression.type)] = groups[index]
        return columns, known

    def _words(
        self,
        expression: Expr,
        update: int,
        at: int,
        columns: dict[Expr, pa.Array],
        known: dict[Expr, Flags],
    ) -> Words:
        """Code, message and hint for an expression that has no value in an update."""
        plan = self._plan
        groups = [
            f"{show(part, plan)} is {columns[GroupRef(index, part.type)][update].as_py()!r}"
            for index, part in enumerate(plan.group_by)
        ]
        where = f" where {', '.join(groups)}" if groups else ""
        where += f", at {show_instant(at)}"
        for part, flags in known.items():
            if flags[update] and isinstance(part, AggregateRef):
                aggregate = plan.aggregates[part.index]
                code, message, hint = too_large(aggregate, show_aggregate(aggregate, plan))
                return code, message + where, hint
        culprit = culprit_in(expression, lambda part: columns[part].slice(update, 1))
        if isinstance(culprit, Call) and culprit.function == "from_words":
            high, *_ = culprit.arguments
            assert isinstance(high, AggregateRef)
            aggregate = plan.aggregates[high.index]
            code, message, hint = too_large(aggregate, show_aggregate(aggregate, plan))
            return code, message + where, hint
        message = show_fault(culprit, lambda leaf: show(leaf, plan))
        return "WD304", message + where, hint_for(culprit)

    def _group_columns(self, group: NDArray[np.int32]) -> list[pa.Array]:
        """The group columns of each update, in the order of the plan."""
        if not self._shape.group_places:
            return []
        found = iter(self._groups.repeated_columns(group))
        return [
            self.constant(number, group.size)
            if place.kind == "constant"
            else self.typed(next(found), number)
            for number, place in enumerate(self._shape.group_places)
        ]

    def constant(self, number: int, size: int) -> pa.Array:
        """A part of the groups, or of a select list, that is the same in all rows."""
        return evaluate(self._named(number), _no_leaf, size)

    def typed(self, column: pa.Array, number: int) -> pa.Array:
        """A part of the groups, or of a select list, in its own type."""
        # A group that is a join key was coded in the type that both inputs of the join share.
        wanted = self._named(number).type.arrow
        return column if column.type == wanted else column.cast(wanted)

    def _named(self, number: int) -> Expr:
        """What the plan groups by; for a select, its list."""
        plan = self._plan
        return plan.select[number].expression if self._shape.is_select else plan.group_by[number]


def _no_leaf(part: Expr) -> pa.Array:
    raise AssertionError(f"{part} in a constant")


def rows_of_groups(
    partial: Partial, table_of: Callable[[list[pa.Array], int], pa.Table]
) -> Callable[[NDArray[np.int32]], pa.Table]:
    """How to get the rows of the groups of a partial result."""

    def rows(groups: NDArray[np.int32]) -> pa.Table:
        columns = partial.groups.columns
        if groups.size == partial.group_count and is_increasing(groups):
            return table_of(columns, groups.size)
        index = pa.array(groups)
        return table_of([column.take(index) for column in columns], groups.size)

    return rows


def coded_columns(rows: pa.Table, shape: QueryShape) -> list[pa.Array]:
    """The columns of a select list that are no constants, in the types that they are coded."""
    chosen = [
        column.combine_chunks()
        for column, place in zip(rows.columns, shape.group_places, strict=True)
        if place.kind != "constant"
    ]
    types = [column.type.arrow for column in shape.group_columns]
    return [column.cast(kind) for column, kind in zip(chosen, types, strict=True)]
