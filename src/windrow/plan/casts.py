"""CAST and ::, as far as a cast returns the same value in every row as Spark's does.

DOUBLE to STRING is not run: Spark's digits are Java's. Times are cast in the zone of the session. A
CAST that fails for a row is an error, a TRY_CAST NULL there.
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
    given = scope.bind(node.this)
    kind = _target(scope, node)
    if given.type == kind or is_null(given):
        return convert(given, kind)
    source, is_try = given.type, isinstance(node, exp.TryCast)
    try:
        bound = into(scope, node.this, given, kind)
    except BindingError:
        if is_try:  # a text that is no time
            return Literal(None, kind)
        raise
    if isinstance(bound, Literal) and bound.type == kind:
        return bound
    if not can_cast(source, kind):
        raise scope.refused(
            "WU217",
            f"CAST from {source} to {kind}",
            node,
            hint=f"{source} can be cast to {', '.join(sorted(CAST_TARGETS[source.name]))}",
        )
    if is_try and isinstance(bound, Call) and bound.function in _TRIED:
        return replace(bound, function=f"try_{bound.function}")
    return bound


_TRIED = ("cast", "text_to_instant")


def _target(scope: Scope, node: exp.Cast) -> ColumnType:
    try:
        return type_named(node.args["to"].sql("spark"))
    except BindingError as error:
        raise scope.wrong(error.code, error.message, node, hint=error.hint) from None
