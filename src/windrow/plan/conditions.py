"""WHERE and ON taken apart: conditions on each input alone, join variables, and what remains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from windrow.plan.equalities import JoinVariable, join_variables
from windrow.plan.expressions import Call, Expr, inputs_of
from windrow.plan.scope import Scope
from windrow.plan.types import all_of
from windrow.schema import BOOLEAN

__all__ = ["Conditions", "conjuncts", "equality", "split", "split_bound"]


@dataclass(frozen=True)
class Conditions:
    """The conditions of a query; filters, keys and variables per input, in the order of FROM.

    keys[i][j] is input i's expression for the join variable variables[i][j]; `joins` has all
    expressions of each variable. `residual` compares inputs in any other way.
    """

    filters: tuple[Expr | None, ...]
    keys: tuple[tuple[Expr, ...], ...]
    variables: tuple[tuple[int, ...], ...]
    joins: tuple[JoinVariable, ...]
    residual: Expr | None

    def variable_of(self, expression: Expr) -> int | None:
        """The join variable whose value the expression has; another type is another value."""
        found = (i for i, join in enumerate(self.joins) if expression in join.members)
        return next(found, None)


def split(scope: Scope, clauses: Sequence[exp.Expr], inputs: int) -> Conditions:
    """The conditions of all clauses together."""
    found: list[Expr] = []
    for node in (part for clause in clauses for part in conjuncts(clause)):
        bound = scope.condition(node, "WHERE")
        found.append(bound)
    return split_bound(found, inputs)


def split_bound(conditions: Sequence[Expr], inputs: int) -> Conditions:
    """The same of conditions that are bound already; all of them hold."""
    filters: list[list[Expr]] = [[] for _ in range(inputs)]
    pairs: list[tuple[Expr, Expr]] = []
    residual: list[Expr] = []
    for bound in conditions:
        reads = inputs_of(bound)
        pair = equality(bound)
        if pair is not None:
            pairs.append(pair)
        elif len(reads) > 1:
            residual.append(bound)
        else:
            # A condition that reads no input, such as 1 = 0, holds for the rows of all of them.
            for source in reads or range(inputs):
                filters[source].append(bound)
    joins = join_variables(pairs)
    keys, variables = _keys(joins, filters)
    return Conditions(
        tuple(all_of(own) for own in filters),
        keys,
        variables,
        joins,
        all_of(residual),
    )


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that AND ties together, in order of the text."""
    found: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        part = waiting.pop().unnest()
        if isinstance(part, exp.And):
            waiting += [part.expression, part.this]
        else:
            found.append(part)
    return found


def equality(bound: Expr) -> tuple[Expr, Expr] | None:
    """The sides of an = between an expression of one input and one of another."""
    if not isinstance(bound, Call) or bound.function != "=":
        return None
    left, right = bound.arguments
    reads = inputs_of(left), inputs_of(right)
    is_join = len(reads[0]) == len(reads[1]) == 1 and reads[0] != reads[1]
    return (left, right) if is_join else None


def _keys(
    joins: Sequence[JoinVariable], filters: list[list[Expr]]
) -> tuple[tuple[tuple[Expr, ...], ...], tuple[tuple[int, ...], ...]]:
    """Each input's first expression of a variable is its key; the others must equal it."""
    keys: list[list[Expr]] = [[] for _ in filters]
    variables: list[list[int]] = [[] for _ in filters]
    for variable, join in enumerate(joins):
        for member in join.members:
            (source,) = inputs_of(member)
            if variable in variables[source]:
                key = keys[source][-1]
                filters[source].append(Call("=", (key, member), BOOLEAN))
            else:
                keys[source].append(member)
                variables[source].append(variable)
    return tuple(map(tuple, keys)), tuple(map(tuple, variables))
