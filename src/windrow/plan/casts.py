"""CAST and ::, as far as a cast gives the same value in every row as Spark's does.

DOUBLE and TIMESTAMP to STRING are not run: Spark's digits are Java's. Text to TIMESTAMP or DATE is
read for constants only. A cast that fails for a row is NULL there, as with Spark's try_cast.
"""

from __future__ import annotations

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.literals import into
from windrow.plan.scope import Scope
from windrow.plan.types import convert, is_null
from windrow.schema import ColumnType, type_named

__all__ = ["bind_cast"]

_INTEGERS = frozenset(["TINYINT", "SMALLINT", "INT", "BIGINT"])
_NUMBERS = _INTEGERS | {"FLOAT", "DOUBLE", "DECIMAL"}
_TARGETS = {
    **dict.fromkeys(_INTEGERS, _NUMBERS | {"BOOLEAN", "STRING"}),
    **dict.fromkeys(["FLOAT", "DOUBLE"], _NUMBERS | {"BOOLEAN"}),
    "DECIMAL": _NUMBERS | {"BOOLEAN", "STRING"},
    "BOOLEAN": _NUMBERS | {"STRING"},
    "STRING": _NUMBERS | {"BOOLEAN"},
    "TIMESTAMP": _NUMBERS - {"DECIMAL"} | {"DATE"},
    "DATE": frozenset(["TIMESTAMP", "STRING"]),
}


def bind_cast(scope: Scope, node: exp.Cast) -> Expr:
    """CAST(x AS type), which is TRY_CAST(x AS type) here."""
    bound = scope.bind(node.this)
    kind = _target(scope, node)
    if bound.type == kind or is_null(bound):
        return convert(bound, kind)
    bound = into(scope, node.this, bound, kind)
    if isinstance(bound, Literal) and bound.type == kind:
        return bound
    source = bound.arguments[0].type if isinstance(bound, Call) else bound.type
    if kind.name not in _TARGETS[source.name]:
        raise scope.refused(
            "WU217",
            f"CAST from {source} to {kind}",
            node,
            hint=f"{source} can be cast to {', '.join(sorted(_TARGETS[source.name]))}",
        )
    return bound


def _target(scope: Scope, node: exp.Cast) -> ColumnType:
    try:
        return type_named(node.args["to"].sql("spark"))
    except BindingError as error:
        raise scope.wrong(error.code, error.message, node, hint=error.hint) from None
