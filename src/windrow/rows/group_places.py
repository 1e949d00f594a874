"""Where the values of group columns are found, and how the factorised aggregate groups by them."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.model import SEVERAL, QueryPlan
from windrow.rows.grouping import BY_BOTH, BY_KEY, BY_LEFT, BY_RIGHT, SINGLE, WHOLE
from windrow.rows.prepared_names import GROUP, KEY, column_name
from windrow.rows.values import ValueColumns

__all__ = ["GroupPlace", "group_places", "joined_places"]

Places = tuple["GroupPlace", ...]
Groups = list[tuple[Expr, ...]]


@dataclass(frozen=True)
class GroupPlace:
    """Where a group column's value is found.

    'key' (index: the join variable), 'input' (input_index, index among its groups), 'joined' (an
    expression over several inputs) or 'constant'.
    """

    kind: str
    index: int = 0
    input_index: int = 0


def group_places(plan: QueryPlan) -> tuple[Places, Groups, tuple[Expr, ...], int] | None:
    """Places, groups of each input, columns and mode of at most two windows; or None."""
    if SEVERAL in plan.group_sources:
        return None
    is_join = len(plan.inputs) > 1
    named = [i for i, source in enumerate(plan.group_sources) if source is not None]
    keys = {plan.group_keys[i] for i in named}
    if is_join and named and keys == set(range(len(plan.inputs[0].keys))):
        places = _by_key(plan)
        return places, [(), ()], _columns(plan, places, [(), ()]), BY_KEY
    home = _common_input(plan, named)
    groups: list[list[Expr]] = [[] for _ in plan.inputs]
    found = []
    for i, (expression, source) in enumerate(zip(plan.group_by, plan.group_sources, strict=True)):
        if source is None:
            found.append(GroupPlace("constant"))
            continue
        key = plan.group_keys[i]
        if key is not None and home is not None:
            source, expression = home, plan.inputs[home].keys[key]
        found.append(_on_input(groups, source, expression))
    listed = [tuple(each) for each in groups]
    mode = _mode(listed) if is_join else SINGLE
    return tuple(found), listed, _columns(plan, tuple(found), listed), mode


def joined_places(plan: QueryPlan, values: ValueColumns) -> tuple[Places, Groups, tuple[Expr, ...]]:
    """Places, groups of each input and columns of any join; keys are named by their variable."""
    groups: list[list[Expr]] = [[] for _ in plan.inputs]
    places = []
    columns: list[Expr] = []
    for part, source, key in zip(plan.group_by, plan.group_sources, plan.group_keys, strict=True):
        if source is None:
            places.append(GroupPlace("constant"))
        elif source == SEVERAL:
            places.append(GroupPlace("joined"))
            columns.append(values.joined(part))
        elif key is not None:
            places.append(GroupPlace("key", key))
            columns.append(_key_column(plan, key))
        else:
            place = _on_input(groups, source, part)
            places.append(place)
            columns.append(ColumnRef(source, column_name(GROUP, place.index), part.type))
    return tuple(places), [tuple(each) for each in groups], tuple(columns)


def _on_input(groups: list[list[Expr]], input_index: int, expression: Expr) -> GroupPlace:
    if expression not in groups[input_index]:
        groups[input_index].append(expression)
    return GroupPlace("input", groups[input_index].index(expression), input_index)


def _columns(plan: QueryPlan, places: Places, groups: Groups) -> tuple[Expr, ...]:
    return tuple(
        _key_column(plan, place.index)
        if place.kind == "key"
        else ColumnRef(
            place.input_index,
            column_name(GROUP, place.index),
            groups[place.input_index][place.index].type,
        )
        for place in places
        if place.kind != "constant"
    )


def _key_column(plan: QueryPlan, variable: int) -> ColumnRef:
    """The column of a join variable, in the first input that has it."""
    for input_index, entry in enumerate(plan.inputs):
        if variable in entry.variables:
            index = entry.variables.index(variable)
            return ColumnRef(input_index, column_name(KEY, index), entry.keys[index].type)
    raise AssertionError(f"no input has the join variable {variable}")


def _by_key(plan: QueryPlan) -> Places:
    return tuple(
        GroupPlace("constant") if key is None else GroupPlace("key", key) for key in plan.group_keys
    )


def _common_input(plan: QueryPlan, named: list[int]) -> int | None:
    """An input that can name all groups: its own columns, and keys, which both inputs have."""
    own = {plan.group_sources[i] for i in named if plan.group_keys[i] is None}
    if len(plan.inputs) == 1 or len(own) > 1:
        return None
    return next(iter(own), 0)


def _mode(groups: Groups) -> int:
    left, right = (bool(each) for each in groups)
    if left and right:
        return BY_BOTH
    if left:
        return BY_LEFT
    return BY_RIGHT if right else WHOLE
