"""Functions that are bound as other calls, or whose types no rule of kinds says.

A form takes the nodes of the arguments, their number checked, and returns what is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from windrow.plan.argument_kinds import bind_by_kinds, convert_argument
from windrow.plan.expressions import Call, Expr
from windrow.plan.fallible import tried
from windrow.plan.operators import bind_alike, bind_number
from windrow.plan.scope import Scope
from windrow.plan.types import arithmetic
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


def _trying(sign: str) -> Form:
    """TRY_ADD and its kin: only its own error is NULL, not that of an argument."""

    def bind(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
        left, right = (bind_number(scope, node, function.name.upper()) for node in nodes)
        return tried(arithmetic(sign, left, right))

    return bind


FORMS: Mapping[str, Form] = {
    "ceil": _whole,
    "floor": _whole,
    "if": _if,
    "round": _round,
    "try_add": _trying("+"),
    "try_subtract": _trying("-"),
    "try_multiply": _trying("*"),
    "try_divide": _trying("/"),
    "try_mod": _trying("%"),
}
