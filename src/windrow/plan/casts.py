"""CAST and ::, as far as a cast returns the same value in every row as Spark's does.

DOUBLE and TIMESTAMP to STRING are not run: Spark's digits are Java's. Text to TIMESTAMP or DATE is
read for constants only. A CAST that fails for a row is an error, a TRY_CAST NULL there.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.cast_targets import CAST_TARGETS, can_cast
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.literals import into
from windrow.plan.scope import Scope
from windrow.plan.types import convert, is_null
from windrow.schema import ColumnType, type_named

__all__ = ["bind_cast"]


def bind_cast(scope: Scope, node: exp.Cast) -> Expr:
    """CAST(x AS type) or TRY_CAST(x AS type)."""
    bound = scope.bind(node.this)
    kind = _target(scope, node)
    if bound.type == kind or is_null(bound):
        return convert(bound, kind)
    bound = into(scope, node.this, bound, kind)
    if isinstance(bound, Literal) and bound.type == kind:
        return bound
    source = bound.arguments[0].type if isinstance(bound, Call) else bound.type
    if not can_cast(source, kind):
        raise scope.refused(
            "WU217",
            f"CAST from {source} to {kind}",
            node,
            hint=f"{source} can be cast to {', '.join(sorted(CAST_TARGETS[source.name]))}",
        )
    if isinstance(node, exp.TryCast) and isinstance(bound, Call) and bound.function == "cast":
        return replace(bound, function="try_cast")
    return bound


def _target(scope: Scope, node: exp.Cast) -> ColumnType:
    try:
        return type_named(node.args["to"].sql("spark"))
    except BindingError as error:
        raise scope.wrong(error.code, error.message, node, hint=error.hint) from None
