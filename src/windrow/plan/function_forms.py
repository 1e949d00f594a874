"""Functions that are bound as other calls, or whose types no rule of kinds says.

A form takes the nodes of the arguments, their number checked, and returns what is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from windrow.plan.argument_kinds import bind_by_kinds, convert_argument
from windrow.plan.expressions import Call, Expr
from windrow.plan.lambda_forms import LAMBDA_FORMS
from windrow.plan.nested_forms import NESTED_FORMS
from windrow.plan.operators import bind_alike
from windrow.plan.scope import Scope
from windrow.scalar_functions import ScalarFunction
from windrow.schema import BIGINT

__all__ = ["FORMS"]

Form = Callable[[Scope, ScalarFunction, list[exp.Expr]], Expr]


def _whole(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    """CEIL and FLOOR: an integer is one already."""
    bound = scope.bind(nodes[0])
    number = convert_argument(scope, function.name, nodes[0], bound, function.argument(0))
    return number if number.type == BIGINT else Call(function.name, (number,), BIGINT)


def _round(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    return bind_by_kinds(scope, function, [*nodes, exp.Literal.number(0)][:2])


def _if(scope: Scope, _function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    values = bind_alike(scope, "IF", [nodes[1], nodes[2] if len(nodes) > 2 else exp.Null()])
    return Call("case", (scope.condition(nodes[0], "IF"), *values), values[0].type)


FORMS: Mapping[str, Form] = {
    **NESTED_FORMS,
    **LAMBDA_FORMS,
    "ceil": _whole,
    "floor": _whole,
    "if": _if,
    "round": _round,
}
