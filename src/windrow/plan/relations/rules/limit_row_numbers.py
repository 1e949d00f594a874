"""Rows whose ROW_NUMBER is at most n are the top n of their partition.

WHERE number <= 10 over ROW_NUMBER() would number every row of a partition anew with each change;
of the ten rows in front, which an ordered store finds, only those ten are.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.plan.expressions import Call, ColumnRef, Expr, Literal
from windrow.plan.relations.algebra import Filter, Relation, TopRows, WindowFunctions
from windrow.plan.relations.references import conjuncts_of

__all__ = ["limit_row_numbers"]

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def limit_row_numbers(relation: Relation) -> Relation:
    """The relation with top rows below such conditions."""
    parts = [limit_row_numbers(part) for part in relation.inputs]
    relation = relation.with_inputs(*parts) if parts else relation
    if not isinstance(relation, Filter) or not isinstance(relation.input, WindowFunctions):
        return relation
    windowed = relation.input
    names = [call.function for call in windowed.calls]
    if names != ["row_number"] or not windowed.order:
        return relation
    limit = _limit(relation.condition, windowed.calls[0].field.id)
    if limit is None:
        return relation
    top = TopRows(windowed.input, windowed.partition, windowed.order, limit)
    return replace(relation, input=replace(windowed, input=top))


def _limit(condition: Expr, column: str) -> int | None:
    found = [_at_most(each, column) for each in conjuncts_of(condition)]
    return min((each for each in found if each is not None), default=None)


def _at_most(condition: Expr, column: str) -> int | None:
    """N where the condition says that the column is at most n."""
    if not isinstance(condition, Call) or condition.function not in _MIRRORED:
        return None
    function, (one, other) = condition.function, condition.arguments
    if isinstance(one, Literal):
        function, one, other = _MIRRORED[function], other, one
    if not (isinstance(one, ColumnRef) and one.column == column and isinstance(other, Literal)):
        return None
    if not isinstance(other.value, int) or function in (">", ">="):
        return None
    return max(0, other.value - 1 if function == "<" else other.value)
