"""What rows carry from their input to a join or a group: words of 64 bits, or codes of values."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from windrow.aggregate_functions import AggregateFunction
from windrow.plan.expressions import Call, Expr, inputs_of
from windrow.plan.model import QueryPlan
from windrow.plan.scope import Scope
from windrow.schema import MAX_DECIMAL_DIGITS

__all__ = ["carries_words", "check_words", "too_wide"]


def check_words(scope: Scope, function: AggregateFunction, node: exp.Expr, argument: Expr) -> None:
    """Refuses an aggregate of a block whose argument is no word of 64 bits.

    Keys, groups and rows are coded where they are wider; sums and orders of values are not.
    """
    part = too_wide(argument)
    if part is None:
        return
    what = f"{function.show('...')} of {part.type}"
    if part.type.name == "DECIMAL":
        hint = f"CAST it to DOUBLE, or to a DECIMAL of at most {MAX_DECIMAL_DIGITS} digits"
        raise scope.refused("WU220", f"{what} in one block", node, hint=hint)
    hint = "aggregate a field of it, or its text: TO_JSON(x), HEX(x); COUNT(x) takes any value"
    raise scope.refused("WU720", f"{what} in one block", node, hint=hint)


def too_wide(expression: Expr) -> Expr | None:
    """A part that is computed before a join and fits no word, if there is one."""
    return next((part for part in _carried(expression) if not part.type.is_word), None)


def carries_words(plan: QueryPlan) -> bool:
    """Whether all that the rows of a block carry are words and texts; a tree carries the rest."""
    parts = [*plan.group_by, *(key for entry in plan.inputs for key in entry.keys)]
    parts += [column.expression for column in plan.select if plan.kind == "select"]
    parts += [each.argument for each in plan.aggregates if each.argument is not None]
    parts += [key for entry in plan.inputs for key in entry.window.partition_by]
    parts += [key for each in plan.negations for key in (*each.keys, *each.of_keys)]
    parts += [] if plan.residual is None else [plan.residual]
    return all(too_wide(part) is None for part in parts)


def _carried(expression: Expr) -> Iterator[Expr]:
    """The largest parts that read one input."""
    if len(inputs_of(expression)) == 1:
        yield expression
    elif isinstance(expression, Call):
        for part in expression.arguments:
            yield from _carried(part)
