"""Bounds of windows are added as late as possible: at an instant they are constants.

All rows that a window gives at an instant have the same window_start and window_end. So a group, a
partition or a join by them needs not see them: below the bounds stays what fused blocks run, and
only what is left at the end is told the bounds of each new window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeGuard

from windrow.plan.expressions import Call, ColumnRef, Expr, Literal
from windrow.plan.relations.algebra import (
    Aggregate,
    AtMostOne,
    Distinct,
    Field,
    Filter,
    Item,
    Join,
    Project,
    Relation,
    SetOperation,
    TopRows,
    WindowFunctions,
)
from windrow.plan.relations.references import FreshIds, conjuncts_of, passed, read_ids
from windrow.plan.relations.window_algebra import WindowBound, WindowBounds
from windrow.plan.types import all_of
from windrow.schema import INT

__all__ = ["pull_up_bounds"]

_EQUAL = ("=", "is_same", "<=", ">=")


def pull_up_bounds(relation: Relation) -> Relation:
    """The relation with bounds of windows above all that only groups or compares by them."""
    return _Pulling(FreshIds(relation, "w")).of(relation)


class _Pulling:
    def __init__(self, fresh: FreshIds) -> None:
        self._fresh = fresh

    def of(self, relation: Relation) -> Relation:
        """Inputs first: what they have pulled up goes on from there."""
        parts = [self.of(part) for part in relation.inputs]
        if isinstance(relation, SetOperation):
            return self._set_operation(relation, parts)
        if any(part is not own for part, own in zip(parts, relation.inputs, strict=True)):
            relation = relation.with_inputs(*parts)
        if not any(isinstance(part, WindowBounds) for part in relation.inputs):
            return relation
        rule = _RULES.get(type(relation))
        return relation if rule is None else rule(self, relation)

    def filter(self, node: Filter) -> Relation:
        """Conditions that read no bounds go below."""
        bounds = node.input
        assert isinstance(bounds, WindowBounds)
        conditions = conjuncts_of(node.condition)
        above = [each for each in conditions if read_ids(each) & _ids(bounds)]
        below = [each for each in conditions if each not in above]
        return _filtered(replace(bounds, input=_filtered(bounds.input, below)), above)

    def project(self, node: Project) -> Relation:
        """Bounds that are only renamed are bounds."""
        bounds = node.input
        assert isinstance(bounds, WindowBounds)
        lifted = _lifted(node.items, bounds)
        rest = tuple(item for item in node.items if _bound(item.expression, bounds) is None)
        if not rest or _reads(bounds, (item.expression for item in rest)):
            return node
        return _over(Project(bounds.input, rest), bounds, lifted)

    def aggregate(self, node: Aggregate) -> Relation:
        """Groups by bounds are groups without; a window without rows still has no group."""
        bounds = node.input
        assert isinstance(bounds, WindowBounds)
        rest = tuple(item for item in node.groups if _bound(item.expression, bounds) is None)
        arguments = (part for call in node.calls for part in call.arguments)
        if _reads(bounds, (*(item.expression for item in rest), *arguments)):
            return node
        lifted = _lifted(node.groups, bounds)
        if lifted and not rest:
            only = self._fresh.like(Field("", "window", INT))
            rest = (Item(only, Literal(0, INT)),)
        return _over(Aggregate(bounds.input, rest, node.calls), bounds, lifted)

    def distinct(self, node: Distinct) -> Relation:
        """Rows differ in what is not the same in all."""
        bounds = node.input
        assert isinstance(bounds, WindowBounds)
        return replace(bounds, input=Distinct(bounds.input))

    def top_rows(self, node: TopRows) -> Relation:
        """Neither partitions nor orders depend on bounds."""
        bounds = node.input
        assert isinstance(bounds, WindowBounds)
        partition = tuple(part for part in node.partition if _bound(part, bounds) is None)
        order = tuple(key for key in node.order if _bound(key.expression, bounds) is None)
        if _reads(bounds, (*partition, *(key.expression for key in order))):
            return node
        inner = replace(node, input=bounds.input, partition=partition, order=order)
        return replace(bounds, input=inner)

    def window_functions(self, node: WindowFunctions) -> Relation:
        """A partition by bounds is the whole window."""
        bounds = node.input
        assert isinstance(bounds, WindowBounds)
        partition = tuple(part for part in node.partition if _bound(part, bounds) is None)
        arguments = (part for call in node.calls for part in call.arguments)
        keys = (key.expression for key in node.order)
        if _reads(bounds, (*partition, *keys, *arguments)):
            return node
        return replace(bounds, input=replace(node, input=bounds.input, partition=partition))

    def at_most_one(self, node: AtMostOne) -> Relation:
        """Rows of one instant are all of one window."""
        bounds = node.input
        assert isinstance(bounds, WindowBounds)
        by = tuple(part for part in node.by if _bound(part, bounds) is None)
        if _reads(bounds, by):
            return node
        return replace(bounds, input=replace(node, input=bounds.input, by=by))

    def join(self, node: Join) -> Relation:
        """Windows that start and end together need not be compared."""
        left, right = node.left, node.right
        condition = all_of(
            [each for each in conjuncts_of(node.condition) if not _is_same_bound(each, left, right)]
        )
        conditions = () if condition is None else (condition,)
        rebounded: list[WindowBounds] = []
        if node.kind != "full" and _is_free(left, conditions):
            rebounded.append(left)
            left = left.input
        if node.kind in ("inner", "semi", "anti") and _is_free(right, conditions):
            rebounded += [right] if node.kind == "inner" else []
            right = right.input
        if left is node.left and right is node.right:
            return replace(node, condition=condition)
        found: Relation = replace(node, left=left, right=right, condition=condition)
        for bounds in _united(rebounded):
            found = replace(bounds, input=found)
        return found

    def _set_operation(self, node: SetOperation, parts: list[Relation]) -> Relation:
        """Parts with the same windows in the same columns: the rest is united."""
        columns = [part.fields for part in node.parts]  # in the order that counts
        found = [part for part in parts if isinstance(part, WindowBounds)]
        kinds = [
            [_part_of(field, part) for field in fields]
            for fields, part in zip(columns, found, strict=False)
        ]
        same = len(found) == len(parts) and len({part.spec for part in found}) == 1
        if not same or None not in kinds[0] or any(each != kinds[0] for each in kinds):
            return node.with_inputs(*map(_in_order, parts, columns))
        rest = [i for i, kind in enumerate(kinds[0]) if kind is None]
        inner = replace(
            node,
            parts=tuple(
                Project(part.input, passed(fields[i] for i in rest))
                for part, fields in zip(found, columns, strict=True)
            ),
            given=tuple(node.given[i] for i in rest),
        )
        pairs = zip(kinds[0], node.given, strict=True)
        bounds = tuple(WindowBound(kind, field) for kind, field in pairs if kind is not None)
        return WindowBounds(inner, found[0].window, bounds)


def _in_order(relation: Relation, fields: tuple[Field, ...]) -> Relation:
    """The relation with these columns in this order."""
    return relation if relation.fields == fields else Project(relation, passed(fields))


def _ids(bounds: WindowBounds) -> frozenset[str]:
    return frozenset(each.field.id for each in bounds.bounds)


def _part_of(field: Field, relation: WindowBounds) -> Any:
    return next((each.part for each in relation.bounds if each.field.id == field.id), None)


def _bound(expression: Expr, bounds: WindowBounds) -> WindowBound | None:
    """The bound that an expression is, if it is one."""
    if not isinstance(expression, ColumnRef):
        return None
    return next((each for each in bounds.bounds if each.field.id == expression.column), None)


def _reads(bounds: WindowBounds, expressions: Iterable[Expr]) -> bool:
    return any(read_ids(each) & _ids(bounds) for each in expressions)


def _is_free(relation: Relation, conditions: Iterable[Expr]) -> TypeGuard[WindowBounds]:
    """Whether it has bounds that no condition reads."""
    return isinstance(relation, WindowBounds) and not _reads(relation, conditions)


def _lifted(items: Iterable[Item], bounds: WindowBounds) -> tuple[WindowBound, ...]:
    pairs = ((item.field, _bound(item.expression, bounds)) for item in items)
    return tuple(WindowBound(own.part, field) for field, own in pairs if own is not None)


def _over(inner: Relation, bounds: WindowBounds, lifted: tuple[WindowBound, ...]) -> Relation:
    return replace(bounds, input=inner, bounds=lifted) if lifted else inner


def _filtered(relation: Relation, conditions: list[Expr]) -> Relation:
    condition = all_of(conditions)
    return relation if condition is None else Filter(relation, condition)


def _is_same_bound(condition: Expr, left: Relation, right: Relation) -> bool:
    """Whether it compares bounds that are the same at all times."""
    if not isinstance(left, WindowBounds) or not isinstance(right, WindowBounds):
        return False
    if not isinstance(condition, Call) or condition.function not in _EQUAL:
        return False
    if left.spec != right.spec:
        return False
    parts = [_bound(each, left) or _bound(each, right) for each in condition.arguments]
    one, other = (None if each is None else each.part for each in parts)
    return one is not None and one == other


def _united(found: list[WindowBounds]) -> list[WindowBounds]:
    """Bounds of the same windows are added at once."""
    if len(found) == 2 and found[0].spec == found[1].spec:
        return [replace(found[0], bounds=(*found[0].bounds, *found[1].bounds))]
    return found


_RULES: dict[type[Relation], Callable[[_Pulling, Any], Relation]] = {
    Filter: _Pulling.filter,
    Project: _Pulling.project,
    Aggregate: _Pulling.aggregate,
    Distinct: _Pulling.distinct,
    TopRows: _Pulling.top_rows,
    WindowFunctions: _Pulling.window_functions,
    AtMostOne: _Pulling.at_most_one,
    Join: _Pulling.join,
}
