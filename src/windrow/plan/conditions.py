"""WHERE and ON taken apart: conditions on each input alone, and the equalities that join two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from windrow.plan.expressions import Call, Expr, inputs_of
from windrow.plan.scope import Scope
from windrow.plan.types import all_of
from windrow.schema import MAX_DECIMAL_DIGITS

__all__ = ["Conditions", "split"]


@dataclass(frozen=True)
class Conditions:
    """One filter and one tuple of join keys per input, in the order of FROM."""

    filters: tuple[Expr | None, ...]
    keys: tuple[tuple[Expr, ...], ...]


def split(scope: Scope, clauses: Sequence[exp.Expr], inputs: int) -> Conditions:
    """Conditions of all clauses together; what compares two inputs otherwise is refused."""
    filters: list[list[Expr]] = [[] for _ in range(inputs)]
    pairs: list[tuple[Expr, Expr]] = []
    for node in (part for clause in clauses for part in _conjuncts(clause)):
        bound = scope.condition(node, "WHERE")
        reads = inputs_of(bound)
        if len(reads) > 1:
            pairs.append(_key(scope, node, bound))
            continue
        # A condition that reads no input, such as 1 = 0, holds for the rows of all of them.
        for source in reads or range(inputs):
            filters[source].append(bound)
    distinct = list(dict.fromkeys(pairs))
    keys = tuple(tuple(pair[source] for pair in distinct) for source in range(min(inputs, 2)))
    return Conditions(tuple(all_of(list(dict.fromkeys(own))) for own in filters), keys)


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        part = waiting.pop().unnest()
        if isinstance(part, exp.And):
            waiting += [part.expression, part.this]
        else:
            found.append(part)
    return found


def _key(scope: Scope, node: exp.Expr, bound: Expr) -> tuple[Expr, Expr]:
    sides = bound.arguments if isinstance(bound, Call) and bound.function == "=" else ()
    reads = [inputs_of(side) for side in sides]
    if len(reads) != 2 or any(len(read) != 1 for read in reads):
        raise scope.refused(
            "WU208",
            "a condition that compares two inputs by anything but one = between them",
            node,
            hint="join with =, and put conditions on one input each beside it with AND",
        )
    left, right = sides if reads[0] < reads[1] or 0 in reads[0] else (sides[1], sides[0])
    if left.type.name == "DECIMAL" and left.type.precision > MAX_DECIMAL_DIGITS:
        raise scope.refused(
            "WU220",
            f"a join key of type {left.type}",
            node,
            hint="CAST both sides to BIGINT or to a DECIMAL of at most 18 digits",
        )
    return left, right
