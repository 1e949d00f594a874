"""Rows whose ROW_NUMBER is at most n are the top n of their partition.

WHERE number <= 10 over ROW_NUMBER() would number every row of a partition anew with each change;
of the ten rows in front, which an ordered store finds, only those ten are. Where nothing else reads
the number, nobody numbers them.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.plan.expressions import Call, ColumnRef, Expr, Literal
from windrow.plan.relations.algebra import Filter, Project, Relation, TopRows, WindowFunctions
from windrow.plan.relations.references import conjuncts_of, read_ids
from windrow.plan.types import all_of

__all__ = ["limit_row_numbers"]

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def limit_row_numbers(relation: Relation) -> Relation:
    """The relation with top rows below such conditions."""
    parts = [limit_row_numbers(part) for part in relation.inputs]
    relation = relation.with_inputs(*parts) if parts else relation
    if isinstance(relation, Project):
        return _without_numbers(relation)
    if not isinstance(relation, Filter) or not isinstance(relation.input, WindowFunctions):
        return relation
    windowed = relation.input
    names = [call.function for call in windowed.calls]
    if names != ["row_number"] or not windowed.order:
        return relation
    number = windowed.calls[0].field.id
    conditions = conjuncts_of(relation.condition)
    found = [_at_most(each, number) for each in conditions]
    limit = min((each for each in found if each is not None), default=None)
    if limit is None:
        return relation
    top = TopRows(windowed.input, windowed.partition, windowed.order, limit)
    numbered = replace(windowed, input=top)
    pairs = zip(conditions, found, strict=True)
    others = all_of([each for each, most in pairs if not _is_implied(each, most, limit)])
    return numbered if others is None else Filter(numbered, others)


def _without_numbers(relation: Project) -> Relation:
    """The projection without the numbers of top rows below it, where it does not read them."""
    numbered = relation.input
    if not isinstance(numbered, WindowFunctions) or not isinstance(numbered.input, TopRows):
        return relation
    reads = frozenset().union(*(read_ids(item.expression) for item in relation.items))
    is_read = any(call.field.id in reads for call in numbered.calls)
    return relation if is_read else replace(relation, input=numbered.input)


def _is_implied(condition: Expr, most: int | None, limit: int) -> bool:
    """Whether all of the first rows meet a condition; most: the highest number that does."""
    if most is None or most < limit:
        return False
    is_equality = isinstance(condition, Call) and condition.function == "="
    return not is_equality or limit == 1


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
