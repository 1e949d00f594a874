"""Calls of scalar functions: their arguments and their types, by signature.

Only a function of windrow.scalar_functions can be called; another name ends in an error that names
the nearest one. CEIL and FLOOR give BIGINT, as in Spark; LENGTH returns INT.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from windrow.aggregate_functions import SQL_NAMES, running_names
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.nearest import nearest
from windrow.plan.operators import bind_alike
from windrow.plan.scope import Scope
from windrow.plan.types import convert, fits, is_null
from windrow.scalar_functions import (
    MANY,
    SCALAR_FUNCTIONS,
    SCALAR_NAMES,
    ScalarFunction,
    Signature,
)
from windrow.schema import BIGINT, DOUBLE, INT, STRING, ColumnType, decimal
from windrow.sql.elsewhere import FUNCTIONS
from windrow.sql.functions import scalar_classes
from windrow.sql.nested_query import without_queries

__all__ = ["bind_function", "function_classes"]

Nodes = list[exp.Expr]


def bind_function(scope: Scope, node: exp.Expr) -> Expr:
    """A call of a named function."""
    name = _name(node)
    function = SCALAR_NAMES.get(name)
    if function is None:
        raise _unknown(scope, node, name)
    arguments = _arguments(node)
    if not function.least <= len(arguments) <= function.most:
        raise scope.wrong(
            "WB231",
            f"{function.name.upper()} takes {_counted(function)}, but got {len(arguments)}",
            node,
            hint="give it the arguments that it has in Spark SQL",
        )
    return _SIGNATURES[function.signature](scope, function.name, arguments)


def _name(node: exp.Expr) -> str:
    if type(node) in function_classes:
        return function_classes[type(node)].name
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else node.key


def _arguments(node: exp.Expr) -> Nodes:
    found: Nodes = []
    for name in node.arg_types:
        value = node.args.get(name)
        if isinstance(value, list):
            found += [part for part in value if isinstance(part, exp.Expr)]
        elif isinstance(value, exp.Expr):
            found.append(value)
    return found


def _unknown(scope: Scope, node: exp.Expr, name: str) -> Exception:
    if not isinstance(node, exp.Func) or isinstance(node, exp.RegexpLike):
        # RLIKE is an operator to its author, and a function to sqlglot.
        form = f"the form {without_queries(node).sql('spark')!r}"
        return scope.refused("WU221", form, node, hint=_OTHER_FORMS.get(type(node), _NO_FORM))
    if name in _OTHER_AGGREGATES:
        hint = f"{_RUNNING_AGGREGATES} are supported"
        return scope.refused("WU205", f"the aggregate {name.upper()}", node, hint)
    if name in FUNCTIONS:
        return scope.wrong("WB230", f"there is no function {name!r}", node, hint=FUNCTIONS[name])
    names = [*SCALAR_FUNCTIONS, *(name.lower() for name in SQL_NAMES), "cast", "if"]
    guess = nearest(name, names)
    listed = f"the functions are {', '.join(sorted(names))}"
    return scope.wrong(
        "WB230",
        f"there is no function {name!r}",
        node,
        hint=f"did you mean {guess}? {listed}" if guess else listed,
    )


def _counted(function: ScalarFunction) -> str:
    least, most = function.least, function.most
    if least == most:
        return f"{least} argument{'' if least == 1 else 's'}"
    return f"{least} or {most} arguments" if most < MANY else f"{least} arguments or more"


def _need(scope: Scope, name: str, node: exp.Expr, *, text: bool = False) -> Expr:
    bound = scope.bind(node)
    right = bound.type == STRING if text else bound.type.is_numeric
    if not right and not is_null(bound):
        wanted = "text" if text else "numbers"
        raise scope.wrong(
            "WB221",
            f"{name.upper()} takes {wanted}, but this is {bound.type}",
            node,
            hint=f"convert it with CAST(... AS {'STRING' if text else 'DOUBLE'})",
        )
    return bound if not is_null(bound) else Literal(None, STRING if text else DOUBLE)


def _constant_integer(scope: Scope, name: str, node: exp.Expr) -> Literal:
    bound = scope.bind(node)
    value = bound.value if isinstance(bound, Literal) and bound.type.is_integer else None
    if not isinstance(value, int) or not fits(value, INT):
        raise scope.wrong(
            "WB232", f"{name.upper()} takes an integer literal here", node, hint="such as 2"
        )
    return Literal(value, INT)


def _doubles(scope: Scope, name: str, nodes: Nodes) -> Expr:
    arguments = [convert(_need(scope, name, node), DOUBLE) for node in nodes]
    return Call(name, tuple(arguments), DOUBLE)


def _absolute(scope: Scope, name: str, nodes: Nodes) -> Expr:
    argument = _need(scope, name, nodes[0])
    kind = argument.type if argument.type.name == "DECIMAL" else DOUBLE
    kind = BIGINT if argument.type.is_integer else kind
    return Call(name, (convert(argument, kind),), kind)


def _whole(scope: Scope, name: str, nodes: Nodes) -> Expr:
    argument = _need(scope, name, nodes[0])
    if argument.type.is_integer:
        return convert(argument, BIGINT)
    kind = DOUBLE if argument.type.is_float else argument.type
    return Call(name, (convert(argument, kind),), BIGINT)


def _round(scope: Scope, name: str, nodes: Nodes) -> Expr:
    argument = _need(scope, name, nodes[0])
    digits = _constant_integer(scope, name, nodes[1]) if len(nodes) > 1 else Literal(0, INT)
    kind = DOUBLE if argument.type.is_float else argument.type
    kind = BIGINT if argument.type.is_integer else kind
    places = int(str(digits.value))
    result = _rounded(kind, places) if kind.name == "DECIMAL" else kind
    return Call(name, (convert(argument, kind), digits), result)


def _rounded(kind: ColumnType, places: int) -> ColumnType:
    if places >= kind.scale:
        return kind
    # Rounding up may carry into a digit more; the places dropped make room for it.
    scale = max(places, 0)
    return decimal(kind.precision - kind.scale + scale + 1, scale)


def _alike(scope: Scope, name: str, nodes: Nodes) -> Expr:
    arguments = bind_alike(scope, name.upper(), nodes)
    return Call(name, tuple(arguments), arguments[0].type)


def _texts(scope: Scope, name: str, nodes: Nodes) -> Expr:
    arguments = [_need(scope, name, node, text=True) for node in nodes]
    return Call(name, tuple(arguments), STRING)


def _text_length(scope: Scope, name: str, nodes: Nodes) -> Expr:
    return Call(name, (_need(scope, name, nodes[0], text=True),), INT)


def _substring(scope: Scope, name: str, nodes: Nodes) -> Expr:
    text = _need(scope, name, nodes[0], text=True)
    bounds = [_constant_integer(scope, name, node) for node in nodes[1:]]
    return Call(name, (text, *bounds), STRING)


_RUNNING_AGGREGATES = running_names(lambda each: not each.laws.in_sketch)
# Aggregates that sqlglot has no class for: refused as such, not as functions that nobody knows.
_OTHER_AGGREGATES = frozenset(
    [
        *("percentile", "median", "mean", "mode", "std", "any_value", "first", "last"),
    ]
)
_NO_FORM = "write it with supported operators"
_OTHER_FORMS: dict[type[exp.Expr], str] = {
    exp.ILike: "write LOWER(x) LIKE a lower-case pattern",
    exp.RegexpLike: "there are no regular expressions: write LIKE, with % for any text",
}
_SIGNATURES: dict[Signature, Callable[[Scope, str, Nodes], Expr]] = {
    Signature.DOUBLES: _doubles,
    Signature.ABSOLUTE: _absolute,
    Signature.WHOLE: _whole,
    Signature.ROUNDED: _round,
    Signature.ALIKE: _alike,
    Signature.TEXTS: _texts,
    Signature.TEXT_LENGTH: _text_length,
    Signature.PART_OF_TEXT: _substring,
}
# Two texts are joined by || too.
function_classes = {**scalar_classes(), exp.DPipe: SCALAR_FUNCTIONS["concat"]}
