"""Functions that are bound as other calls, or whose types no rule of kinds says.

A form takes the nodes of the arguments, their number checked, and returns what is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from windrow.plan.argument_kinds import bind_by_kinds, convert_argument
from windrow.plan.date_forms import DATE_FORMS
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.json_forms import JSON_FORMS
from windrow.plan.lambda_forms import LAMBDA_FORMS
from windrow.plan.nested_forms import NESTED_FORMS
from windrow.plan.operators import bind_alike, bind_together
from windrow.plan.scope import Scope
from windrow.plan.types import arithmetic, is_null
from windrow.scalar_functions import ScalarFunction
from windrow.scalar_functions.conditional import CASTS
from windrow.scalar_functions.java_regexp import PatternError, translate
from windrow.scalar_functions.number_format import number_format
from windrow.scalar_functions.regexp import REGEXP
from windrow.schema import BIGINT, BOOLEAN, MAX_SUM_DIGITS, STRING

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


def _trim(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    """TRIM(characters, text): plans have the text first."""
    return bind_by_kinds(scope, function, nodes[::-1])


def _like(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    """LIKE, and ILIKE as that of lower-case letters; the escape is one letter."""
    bound = bind_by_kinds(scope, function, nodes)
    assert isinstance(bound, Call)
    text, pattern, *escape = bound.arguments
    for each, node in zip(escape, nodes[2:], strict=True):
        if not isinstance(each, Literal) or len(str(each.value)) != 1 or each.value is None:
            hint = "such as ESCAPE '!'"
            raise scope.wrong("WB731", "an escape is one character", node, hint=hint)
    if function.name == "ilike":
        text, pattern = (Call("lower", (part,), STRING) for part in (text, pattern))
    return Call("like", (text, pattern, *escape), BOOLEAN)


def _regexp(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    """A pattern that is a constant is checked here; one that is not, where it is used."""
    bound = bind_by_kinds(scope, function, nodes)
    pattern = bound.arguments[1] if isinstance(bound, Call) else None
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        return bound
    try:
        pc.match_substring_regex(pa.array([""]), translate(pattern.value).pattern)
    except PatternError as error:
        hint = "patterns are those of RE2, whose time is in proportion to the text"
        raise scope.refused("WU732", f"{error} in a pattern", nodes[1], hint=hint) from None
    except pa.ArrowInvalid as error:
        message = f"{pattern.value!r} is not a regular expression: {str(error).splitlines()[0]}"
        hint = "a sign such as ( or * that stands for itself has a backslash before it"
        raise scope.wrong("WB733", message, nodes[1], hint=hint) from None
    return bound


def _to_number(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    bound = bind_by_kinds(scope, function, nodes)
    form = bound.arguments[1] if isinstance(bound, Call) else None
    written = str(form.value) if isinstance(form, Literal) else ""
    known = number_format(written)
    if known is None or known.type.precision > MAX_SUM_DIGITS:
        message = f"{written!r} is not a format of numbers of at most {MAX_SUM_DIGITS} digits"
        raise scope.wrong("WB736", message, nodes[1], hint="write it like '$9,999.99' or 'S999'")
    return bound


def _cast(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    target = exp.DataType.build(str(function.gives), dialect="spark")
    return scope.bind(exp.Cast(this=nodes[0], to=target))


def _if_known(scope: Scope, _function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    unknown = Call("is_null", (scope.bind(nodes[0]),), BOOLEAN)
    values = bind_alike(scope, "NVL2", [nodes[2], nodes[1]])
    return Call("case", (unknown, *values), values[0].type)


def _null_if_zero(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    values = bind_alike(scope, function.name.upper(), [nodes[0], exp.Literal.number(0)])
    name = "nullif" if function.name == "nullifzero" else "coalesce"
    return Call(name, tuple(values), values[0].type)


def _is_null(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    found = Call("is_null", (scope.bind(nodes[0]),), BOOLEAN)
    return found if function.name == "isnull" else Call("not", (found,), BOOLEAN)


def _equal_null(scope: Scope, _function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    return Call("is_same", tuple(bind_together(scope, "EQUAL_NULL", nodes)), BOOLEAN)


def _type_of(scope: Scope, _function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    bound = scope.bind(nodes[0])
    return Literal("void" if is_null(bound) else bound.type.spark, STRING)


def _decode(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    """Bytes as text; with more than two arguments a CASE, in which NULL equals NULL."""
    if len(nodes) == 2:
        return bind_by_kinds(scope, function, nodes)
    pairs = list(zip(nodes[1::2], nodes[2::2], strict=False))
    default = nodes[-1] if len(nodes) % 2 == 0 else exp.Null()
    values = bind_alike(scope, "DECODE", [*(value for _, value in pairs), default])
    parts: list[Expr] = []
    for (wanted, _), value in zip(pairs, values[:-1], strict=True):
        sides = bind_together(scope, "DECODE", [nodes[0], wanted])
        parts += [Call("is_same", tuple(sides), BOOLEAN), value]
    return Call("case", (*parts, values[-1]), values[-1].type)


FORMS: Mapping[str, Form] = {
    **NESTED_FORMS,
    **LAMBDA_FORMS,
    **DATE_FORMS,
    **JSON_FORMS,
    "ceil": _whole,
    "floor": _whole,
    "if": _if,
    "round": _round,
    **dict.fromkeys(["trim", "ltrim", "rtrim"], _trim),
    **dict.fromkeys(["like", "ilike"], _like),
    **{each.name: _regexp for each in REGEXP if each.name not in ("like", "ilike")},
    **{each.name: _cast for each in CASTS},
    **dict.fromkeys(["to_number", "try_to_number"], _to_number),
    "nvl2": _if_known,
    **dict.fromkeys(["nullifzero", "zeroifnull"], _null_if_zero),
    **dict.fromkeys(["isnull", "isnotnull"], _is_null),
    "equal_null": _equal_null,
    "typeof": _type_of,
    "decode": _decode,
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
