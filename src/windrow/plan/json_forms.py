"""FROM_JSON, whose type its second argument says, and TO_JSON, which needs that of its first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.date_forms import argument, constant_text
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.scope import Scope
from windrow.plan.time_conversions import zone_literal
from windrow.scalar_functions import Kind, ScalarFunction
from windrow.schema import STRING, ColumnType, columns_of, struct, type_named

__all__ = ["JSON_FORMS"]

Form = Callable[[Scope, ScalarFunction, list[exp.Expr]], Expr]


def _from_json(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    text = argument(scope, function, nodes[0], Kind.TEXT)
    kind = _schema(scope, function, nodes[1])
    return Call("from_json", (text, zone_literal(scope.time_zone)), kind)


def _schema(scope: Scope, function: ScalarFunction, node: exp.Expr) -> ColumnType:
    """A type, or the columns of a struct."""
    written = constant_text(scope, function, node) or ""
    try:
        kind = type_named(written)
    except BindingError:
        try:
            kind = struct({column.name: column.type for column in columns_of(written)})
        except BindingError as error:
            raise scope.wrong(error.code, error.message, node, hint=error.hint) from None
    if not kind.is_nested:
        raise scope.wrong(
            "WB747",
            f"FROM_JSON gives a STRUCT, an ARRAY or a MAP, not {kind}",
            node,
            hint="write columns, such as 'a INT, b STRING', or a type, such as 'ARRAY<INT>'",
        )
    return kind


def _to_json(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    bound = scope.bind(nodes[0])
    if not bound.type.is_nested:
        raise scope.wrong(
            "WB747",
            f"TO_JSON takes a STRUCT, an ARRAY or a MAP, not {bound.type}",
            nodes[0],
            hint="put the value into a struct or an array",
        )
    kind = Literal(str(bound.type), STRING)
    return Call(function.name, (bound, kind, zone_literal(scope.time_zone)), STRING)


JSON_FORMS: Mapping[str, Form] = {"from_json": _from_json, "to_json": _to_json}
