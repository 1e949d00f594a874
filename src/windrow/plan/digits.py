"""Digits of decimals that rows carry from their input to a join: as many as a column has."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from windrow.plan.expressions import Call, Expr, inputs_of
from windrow.plan.scope import Scope
from windrow.schema import MAX_DECIMAL_DIGITS

__all__ = ["check_digits", "too_wide"]


def check_digits(scope: Scope, node: exp.Expr, expression: Expr) -> None:
    """Refuses an expression over several inputs that compares them in too many digits.

    The largest parts of one input are computed before the join and kept in 64 bits each.
    """
    part = too_wide(expression)
    if part is not None:
        raise scope.refused(
            "WU220",
            f"comparing values of several inputs as {part.type}",
            node,
            hint="CAST both sides to DOUBLE, to BIGINT, "
            f"or to a DECIMAL of at most {MAX_DECIMAL_DIGITS} digits",
        )


def too_wide(expression: Expr) -> Expr | None:
    """A part that is computed before a join and has more digits than are kept, if there is one."""
    for part in _carried(expression):
        if part.type.name == "DECIMAL" and part.type.precision > MAX_DECIMAL_DIGITS:
            return part
    return None


def _carried(expression: Expr) -> Iterator[Expr]:
    """The largest parts that read one input."""
    if len(inputs_of(expression)) == 1:
        yield expression
    elif isinstance(expression, Call):
        for part in expression.arguments:
            yield from _carried(part)
