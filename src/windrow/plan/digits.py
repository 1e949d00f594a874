"""What rows carry from their input to a join or a group: words of 64 bits, and codes of texts."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from windrow.plan.expressions import Call, Expr, inputs_of
from windrow.plan.model import QueryPlan
from windrow.plan.scope import Scope
from windrow.schema import MAX_DECIMAL_DIGITS

__all__ = ["carries_words", "check_digits", "too_wide"]


def check_digits(scope: Scope, node: exp.Expr, expression: Expr) -> None:
    """Refuses an expression over several inputs that compares them in too many digits.

    The largest parts of one input are computed before the join and kept in 64 bits each.
    """
    part = too_wide(expression)
    if part is not None and part.type.name != "DECIMAL":
        hint = "omit the algorithm, the store and ERROR: a tree of relations carries it"
        raise scope.refused("WU720", f"{part.type} in a query of one block", node, hint=hint)
    if part is not None:
        raise scope.refused(
            "WU220",
            f"comparing values of several inputs as {part.type}",
            node,
            hint="CAST both sides to DOUBLE, to BIGINT, "
            f"or to a DECIMAL of at most {MAX_DECIMAL_DIGITS} digits",
        )


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
