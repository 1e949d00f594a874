"""What a shard needs to know of a plan: columns per side, names of groups, which sums to make."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.exact.kernels import DOUBLE, INTEGER
from windrow.joins import kernels
from windrow.joins.factorised import SINGLE
from windrow.plan.expressions import Expr
from windrow.plan.model import QueryPlan

__all__ = ["GroupPlace", "QueryShape", "SideShape", "shape_of"]


@dataclass(frozen=True)
class SideShape:
    """Expressions to evaluate for the rows of one input."""

    keys: tuple[Expr, ...]
    groups: tuple[Expr, ...]
    partitions: tuple[Expr, ...]
    values: tuple[Expr, ...]
    kinds: tuple[int, ...]  # of the values: INTEGER or DOUBLE


@dataclass(frozen=True)
class GroupPlace:
    """Where a group column's value is found: 'key' (index), 'side' (side, index) or 'constant'."""

    kind: str
    index: int = 0
    side: int = 0


@dataclass(frozen=True)
class QueryShape:
    """The plan as the engine sees it.

    mode: SINGLE for one window, else one of joins.kernels. A select is a count of equal rows: its
    groups are its select list. value_of_aggregate: the number of the aggregate's value among all
    values of all sides, or None where it has none.
    """

    sides: tuple[SideShape, ...]
    mode: int
    group_places: tuple[GroupPlace, ...]
    value_of_aggregate: tuple[int | None, ...]
    is_select: bool

    @property
    def kinds(self) -> tuple[tuple[int, ...], ...]:
        """Kinds of the values of each side."""
        return tuple(side.kinds for side in self.sides)


def shape_of(plan: QueryPlan) -> QueryShape:
    """The shape of a plan."""
    if plan.kind == "select":
        return _select_shape(plan)
    places, groups, mode = _group_places(plan)
    values: list[list[Expr]] = [[] for _ in plan.inputs]
    for aggregate in plan.aggregates:
        argument, source = aggregate.argument, aggregate.source
        if argument is not None and source is not None and argument not in values[source]:
            values[source].append(argument)
    first = [sum(len(each) for each in values[:side]) for side in range(len(values))]
    numbers = tuple(
        None
        if aggregate.argument is None or aggregate.source is None
        else first[aggregate.source] + values[aggregate.source].index(aggregate.argument)
        for aggregate in plan.aggregates
    )
    sides = tuple(_side(plan, i, groups[i], tuple(values[i])) for i in range(len(plan.inputs)))
    return QueryShape(sides, mode, places, numbers, is_select=False)


def _select_shape(plan: QueryPlan) -> QueryShape:
    groups = tuple(column.expression for column in plan.select)
    places = tuple(GroupPlace("side", index) for index in range(len(groups)))
    return QueryShape((_side(plan, 0, groups, ()),), SINGLE, places, (), is_select=True)


def _side(
    plan: QueryPlan, side: int, groups: tuple[Expr, ...], values: tuple[Expr, ...]
) -> SideShape:
    entry = plan.inputs[side]
    kinds = tuple(DOUBLE if value.type.is_float else INTEGER for value in values)
    return SideShape(entry.keys, groups, entry.window.partition_by, values, kinds)


def _group_places(
    plan: QueryPlan,
) -> tuple[tuple[GroupPlace, ...], list[tuple[Expr, ...]], int]:
    is_join = len(plan.inputs) > 1
    named = [i for i, source in enumerate(plan.group_sources) if source is not None]
    keys = {plan.group_keys[i] for i in named}
    if is_join and named and keys == set(range(len(plan.inputs[0].keys))):
        return _by_key(plan), [(), ()], kernels.BY_KEY
    home = _common_side(plan, named)
    groups: list[list[Expr]] = [[] for _ in plan.inputs]
    places = []
    for i, (expression, source) in enumerate(zip(plan.group_by, plan.group_sources, strict=True)):
        if source is None:
            places.append(GroupPlace("constant"))
            continue
        key = plan.group_keys[i]
        if key is not None and home is not None:
            source, expression = home, plan.inputs[home].keys[key]
        if expression not in groups[source]:
            groups[source].append(expression)
        places.append(GroupPlace("side", groups[source].index(expression), source))
    mode = _mode(groups) if is_join else SINGLE
    return tuple(places), [tuple(each) for each in groups], mode


def _by_key(plan: QueryPlan) -> tuple[GroupPlace, ...]:
    return tuple(
        GroupPlace("constant") if key is None else GroupPlace("key", key) for key in plan.group_keys
    )


def _common_side(plan: QueryPlan, named: list[int]) -> int | None:
    """A side that can name all groups: its own columns, and keys, which both sides have."""
    own = {plan.group_sources[i] for i in named if plan.group_keys[i] is None}
    if len(plan.inputs) == 1 or len(own) > 1:
        return None
    return next(iter(own), 0)


def _mode(groups: list[list[Expr]]) -> int:
    left, right = (bool(each) for each in groups)
    if left and right:
        return kernels.BY_BOTH
    if left:
        return kernels.BY_LEFT
    return kernels.BY_RIGHT if right else kernels.WHOLE
