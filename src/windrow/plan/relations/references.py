"""Which columns expressions and relations read, and how they read others instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from windrow.plan.expressions import Call, ColumnRef, Expr, walk
from windrow.plan.relations.algebra import (
    Aggregate,
    Apply,
    AsOfJoin,
    AtMostOne,
    Field,
    Filter,
    Item,
    Join,
    OrderKey,
    Project,
    Relation,
    TopRows,
    Unnest,
    ValidRows,
    Values,
    WindowFunctions,
    walk_relations,
)
from windrow.plan.relations.window_algebra import SessionScan
from windrow.plan.types import all_of
from windrow.schema import BOOLEAN

__all__ = [
    "FreshIds",
    "conjuncts_of",
    "expressions_of",
    "free_ids",
    "ids_of",
    "is_pair",
    "passed",
    "read_ids",
    "same_columns",
    "substituted",
    "with_expressions",
]

Rewrite = Callable[[Expr], Expr]


def read_ids(expression: Expr) -> frozenset[str]:
    """The ids of all columns that the expression reads."""
    return frozenset(part.column for part in walk(expression) if isinstance(part, ColumnRef))


def ids_of(relation: Relation) -> frozenset[str]:
    """The ids of the columns that the relation gives."""
    return frozenset(field.id for field in relation.fields)


def substituted(expression: Expr, by_id: Mapping[str, Expr]) -> Expr:
    """The expression that reads what is given for an id instead of its column."""
    if isinstance(expression, ColumnRef):
        return by_id.get(expression.column, expression)
    if isinstance(expression, Call):
        arguments = tuple(substituted(part, by_id) for part in expression.arguments)
        return replace(expression, arguments=arguments)
    return expression


def conjuncts_of(condition: Expr | None) -> list[Expr]:
    """The conditions that AND ties together."""
    if condition is None:
        return []
    if isinstance(condition, Call) and condition.function == "and":
        return [part for each in condition.arguments for part in conjuncts_of(each)]
    return [condition]


def is_pair(condition: Expr, functions: tuple[str, ...] = ("=",)) -> tuple[Expr, Expr] | None:
    """The two operands of an equality."""
    if isinstance(condition, Call) and condition.function in functions:
        left, right = condition.arguments
        return left, right
    return None


def same_columns(pairs: Iterable[tuple[Field, Field]]) -> Expr | None:
    """The columns of all pairs are equal, NULL with NULL too."""
    return all_of([Call("is_same", (one.ref, other.ref), BOOLEAN) for one, other in pairs])


def passed(fields: Iterable[Field]) -> tuple[Item, ...]:
    """Items that give the columns as they are."""
    return tuple(Item(field, field.ref) for field in fields)


def expressions_of(relation: Relation) -> Iterator[Expr]:
    """All expressions of the node itself."""
    found: list[Expr] = []

    def note(expression: Expr) -> Expr:
        found.append(expression)
        return expression

    with_expressions(relation, note)
    return iter(found)


def with_expressions(relation: Relation, rewrite: Rewrite) -> Relation:
    """The node with every expression of its own rewritten; its inputs stay as they are."""
    if isinstance(relation, Filter):
        return replace(relation, condition=rewrite(relation.condition))
    if isinstance(relation, Project | Unnest):
        return _computed(relation, rewrite)
    if isinstance(relation, Join | Apply | AsOfJoin):
        return _join(relation, rewrite)
    if isinstance(relation, Aggregate):
        calls = tuple(
            replace(call, arguments=tuple(rewrite(part) for part in call.arguments))
            for call in relation.calls
        )
        return replace(relation, groups=_items(relation.groups, rewrite), calls=calls)
    if isinstance(relation, ValidRows):
        since = tuple(rewrite(part) for part in relation.since)
        return replace(relation, since=since, until=tuple(rewrite(part) for part in relation.until))
    if isinstance(relation, AtMostOne):
        return replace(relation, by=tuple(rewrite(part) for part in relation.by))
    if isinstance(relation, TopRows):
        partition = tuple(rewrite(part) for part in relation.partition)
        return replace(relation, partition=partition, order=_keys(relation.order, rewrite))
    if isinstance(relation, WindowFunctions):
        window_calls = tuple(
            replace(call, arguments=tuple(rewrite(part) for part in call.arguments))
            for call in relation.calls
        )
        partition = tuple(rewrite(part) for part in relation.partition)
        order = _keys(relation.order, rewrite)
        return replace(relation, partition=partition, order=order, calls=window_calls)
    return _leaf(relation, rewrite)


def _leaf(relation: Relation, rewrite: Rewrite) -> Relation:
    if isinstance(relation, SessionScan):
        condition = None if relation.condition is None else rewrite(relation.condition)
        return replace(relation, condition=condition, computed=_items(relation.computed, rewrite))
    if isinstance(relation, Values):
        rows = tuple(tuple(rewrite(part) for part in row) for row in relation.rows)
        return replace(relation, rows=rows)
    return relation


def _computed(relation: Project | Unnest, rewrite: Rewrite) -> Relation:
    if isinstance(relation, Unnest):
        return replace(relation, expression=rewrite(relation.expression))
    return replace(relation, items=_items(relation.items, rewrite))


def _join(relation: Join | Apply | AsOfJoin, rewrite: Rewrite) -> Relation:
    if isinstance(relation, AsOfJoin):
        keys = tuple((rewrite(left), rewrite(right)) for left, right in relation.keys)
        left, right = (rewrite(part) for part in relation.times)
        relation = replace(relation, keys=keys, times=(left, right))
    condition = relation.condition
    return replace(relation, condition=None if condition is None else rewrite(condition))


def _items(items: tuple[Item, ...], rewrite: Rewrite) -> tuple[Item, ...]:
    return tuple(replace(item, expression=rewrite(item.expression)) for item in items)


def _keys(order: tuple[OrderKey, ...], rewrite: Rewrite) -> tuple[OrderKey, ...]:
    return tuple(replace(key, expression=rewrite(key.expression)) for key in order)


def free_ids(relation: Relation) -> frozenset[str]:
    """The columns that it reads and that none of its inputs gives: those of an outer query."""
    given = frozenset(field.id for part in relation.inputs for field in part.fields)
    if isinstance(relation, SessionScan):
        given = ids_of(relation.scan)
    own = frozenset(each for part in expressions_of(relation) for each in read_ids(part))
    inner = frozenset(each for part in relation.inputs for each in free_ids(part))
    if isinstance(relation, Apply):
        inner -= ids_of(relation.left)
    return (own - given) | inner


class FreshIds:
    """Ids that nothing in a tree has."""

    def __init__(self, relation: Relation, prefix: str) -> None:
        self._taken = {field.id for each in walk_relations(relation) for field in each.fields}
        self._prefix, self._count = prefix, 0

    def like(self, field: Field) -> Field:
        """A field of the same name and type."""
        while True:
            self._count += 1
            candidate = f"{self._prefix}{self._count}"
            if candidate not in self._taken:
                self._taken.add(candidate)
                return replace(field, id=candidate)
