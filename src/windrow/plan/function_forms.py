"""Functions that are bound as other calls, or whose types no rule of kinds says.

A form takes the nodes of the arguments, their number checked, and returns what is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from windrow.plan.argument_kinds import bind_by_kinds, convert_argument
from windrow.plan.expressions import Call, Expr
from windrow.plan.operators import bind_alike
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


def _operator(sign: str) -> Form:
    """An operator by its name."""

    def bind(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
        left, right = _numbers(scope, function, nodes)
        return arithmetic(sign, left, right)

    return bind


def _like_operator(sign: str) -> Form:
    """A function with the arguments and the type of an operator."""

    def bind(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
        left, right = _numbers(scope, function, nodes)
        return replace(arithmetic(sign, left, right), function=function.name)

    return bind


def _numbers(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> list[Expr]:
    # As they are: a literal of few digits makes a decimal of few digits.
    bound = [scope.bind(node) for node in nodes]
    return [
        part if part.type.is_numeric else convert_argument(scope, function.name, node, part, takes)
        for node, part, takes in zip(nodes, bound, map(function.argument, range(2)), strict=True)
    ]


def _negative(scope: Scope, _function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    return scope.bind(exp.Neg(this=nodes[0]))


def _positive(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    bound = scope.bind(nodes[0])
    return convert_argument(scope, function.name, nodes[0], bound, function.argument(0))


def _if(scope: Scope, _function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    values = bind_alike(scope, "IF", [nodes[1], nodes[2] if len(nodes) > 2 else exp.Null()])
    return Call("case", (scope.condition(nodes[0], "IF"), *values), values[0].type)


FORMS: Mapping[str, Form] = {
    "ceil": _whole,
    "floor": _whole,
    "if": _if,
    "round": _round,
    "bround": _round,
    "mod": _operator("%"),
    "pmod": _like_operator("%"),
    "negative": _negative,
    "positive": _positive,
    "try_add": _like_operator("+"),
    "try_subtract": _like_operator("-"),
    "try_multiply": _like_operator("*"),
    "try_divide": _like_operator("/"),
    "try_mod": _like_operator("%"),
}
