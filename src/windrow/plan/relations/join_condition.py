"""The condition of a join taken apart: keys, what reads one input alone, and the residual.

A pair of rows matches when its keys are equal, both filters hold and the residual does. So a row
whose filter does not hold, or of whose keys one is NULL, matches nothing; a NULL-safe key (<=>)
matches NULL with NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from windrow.plan.expressions import Call, ColumnRef, Expr, walk
from windrow.plan.relations.algebra import Join, Relation
from windrow.plan.types import all_of

__all__ = ["JoinCondition", "JoinKey", "conjuncts", "split_condition"]


@dataclass(frozen=True)
class JoinKey:
    """Expressions of one type, of the left and of the right input, that are equal in a match."""

    left: Expr
    right: Expr
    is_null_safe: bool = False


@dataclass(frozen=True)
class JoinCondition:
    """filters: what must hold of a row of the left and of the right input; None: nothing."""

    keys: tuple[JoinKey, ...]
    filters: tuple[Expr | None, Expr | None]
    residual: Expr | None


def split_condition(node: Join) -> JoinCondition:
    """The parts of the condition of a join."""
    left, right = _ids(node.left), _ids(node.right)
    keys: list[JoinKey] = []
    filters: tuple[list[Expr], list[Expr]] = [], []
    residual: list[Expr] = []
    for part in () if node.condition is None else conjuncts(node.condition):
        read = _read(part)
        key = _key(part, left, right)
        if key is not None:
            keys.append(key)
        elif read <= right:
            # So does a condition that reads nothing: where it is false, no right row matches.
            filters[1].append(part)
        elif read <= left:
            filters[0].append(part)
        else:
            residual.append(part)
    return JoinCondition(
        tuple(dict.fromkeys(keys)), (all_of(filters[0]), all_of(filters[1])), all_of(residual)
    )


def conjuncts(condition: Expr) -> Iterator[Expr]:
    """The conditions that AND ties together, in order."""
    if isinstance(condition, Call) and condition.function == "and":
        for part in condition.arguments:
            yield from conjuncts(part)
    else:
        yield condition


def _key(part: Expr, left: frozenset[str], right: frozenset[str]) -> JoinKey | None:
    if not isinstance(part, Call) or part.function not in ("=", "is_same"):
        return None
    one, other = part.arguments
    reads = _read(one), _read(other)
    if one.type != other.type or not all(reads):
        return None
    is_null_safe = part.function == "is_same"
    if reads[0] <= left and reads[1] <= right:
        return JoinKey(one, other, is_null_safe)
    if reads[0] <= right and reads[1] <= left:
        return JoinKey(other, one, is_null_safe)
    return None


def _ids(relation: Relation) -> frozenset[str]:
    return frozenset(field.id for field in relation.fields)


def _read(expression: Expr) -> frozenset[str]:
    return frozenset(part.column for part in walk(expression) if isinstance(part, ColumnRef))
