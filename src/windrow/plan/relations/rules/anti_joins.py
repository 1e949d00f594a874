"""LEFT JOIN ... WHERE right.k IS NULL, where the condition of the join proves k not NULL.

A matched row has no NULL there, so what is left are the rows without a match: an anti join, which
keeps counts of the right keys instead of all right rows, and forms no pair.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.plan.expressions import Call, ColumnRef, Expr, Literal
from windrow.plan.relations.algebra import Filter, Item, Join, Project, Relation
from windrow.plan.relations.references import conjuncts_of, ids_of, is_pair, passed
from windrow.plan.types import all_of

__all__ = ["anti_joins"]


def anti_joins(relation: Relation) -> Relation:
    """The relation with anti joins in the place of such filters."""
    parts = [anti_joins(part) for part in relation.inputs]
    relation = relation.with_inputs(*parts) if parts else relation
    if not isinstance(relation, Filter):
        return relation
    join = relation.input
    if not isinstance(join, Join) or join.kind != "left":
        return relation
    proven = _not_null(join)
    conditions = conjuncts_of(relation.condition)
    tests = [each for each in conditions if _tested(each) in proven]
    if not tests:
        return relation
    # What the right columns are for a row without a match; other conditions may read them.
    missing = tuple(Item(field, Literal(None, field.type)) for field in join.right.fields)
    padded = Project(replace(join, kind="anti"), (*passed(join.left.fields), *missing))
    rest = all_of([each for each in conditions if each not in tests])
    return padded if rest is None else Filter(padded, rest)


def _not_null(join: Join) -> frozenset[str]:
    """The columns of the right that are not NULL in any pair for which the condition is true."""
    right = ids_of(join.right)
    found = set[str]()
    for condition in conjuncts_of(join.condition):
        for operand in is_pair(condition, ("=", "<", ">", "<=", ">=", "<>")) or ():
            column = _uncast(operand)
            if isinstance(column, ColumnRef) and column.column in right:
                found.add(column.column)
    return frozenset(found)


def _uncast(expression: Expr) -> Expr:
    """What a cast reads: the cast of NULL is NULL."""
    while isinstance(expression, Call) and expression.function in ("cast", "try_cast"):
        (expression,) = expression.arguments
    return expression


def _tested(condition: Expr) -> str | None:
    """The column that the condition says is NULL."""
    if isinstance(condition, Call) and condition.function == "is_null":
        (operand,) = condition.arguments
        return operand.column if isinstance(operand, ColumnRef) else None
    return None
