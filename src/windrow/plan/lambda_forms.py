"""Calls that take functions without names: x -> x + 1.

A parameter is a Variable. The arguments of the call are what is taken apart, the bodies, and the
names of the parameters, so that everything that goes through expressions goes through bodies, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from windrow.plan.expressions import Call, Expr, Literal, Variable
from windrow.plan.literals import into
from windrow.plan.scope import Scope
from windrow.plan.types import common_type, convert
from windrow.scalar_functions import ScalarFunction
from windrow.schema import BOOLEAN, INT, STRING, ColumnType, array, map_of

__all__ = ["LAMBDA_FORMS"]

Nodes = list[exp.Expr]
Form = Callable[[Scope, ScalarFunction, Nodes], Expr]


def _over_array(result: Callable[[ColumnType, ColumnType], ColumnType], *, tests: bool) -> Form:
    """A function of an element, and maybe of its place."""

    def bind(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
        listed = _of(scope, function, nodes[0], "ARRAY")
        names, body = _body(scope, function, nodes[1], [listed.type.element, INT], 1)
        if tests:
            body = _condition(scope, function, nodes[1], body)
        kind = result(listed.type, body.type)
        return Call(function.name, (listed, body, Literal(names, STRING)), kind)

    return bind


def _over_map(result: Callable[[ColumnType, ColumnType], ColumnType], *, tests: bool) -> Form:
    """A function of a key and its value."""

    def bind(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
        listed = _of(scope, function, nodes[0], "MAP")
        kinds = [listed.type.key, listed.type.value]
        names, body = _body(scope, function, nodes[1], kinds, 2)
        if tests:
            body = _condition(scope, function, nodes[1], body)
        kind = result(listed.type, body.type)
        return Call(function.name, (listed, body, Literal(names, STRING)), kind)

    return bind


def _aggregate(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    """The state keeps the type of what it begins with, or the wider one of what it becomes."""
    listed = _of(scope, function, nodes[0], "ARRAY")
    start = scope.bind(nodes[1])
    kind = start.type
    names, body = _body(scope, function, nodes[2], [kind, listed.type.element], 2)
    found = common_type([Call("state", (), kind), body])
    if found is not None and found != kind:
        kind = found
        names, body = _body(scope, function, nodes[2], [kind, listed.type.element], 2)
    body = _as(scope, function, nodes[2], body, kind)
    finish_names = "#finished"
    bound: Expr = Variable(finish_names, kind)
    if len(nodes) > 3:
        finish_names, bound = _body(scope, function, nodes[3], [kind], 1)
    arguments = (listed, into(scope, nodes[1], start, kind), body, bound)
    text = Literal(f"{names};{finish_names}", STRING)
    return Call(function.name, (*arguments, text), bound.type)


def _zip_with(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    left, right = (_of(scope, function, node, "ARRAY") for node in nodes[:2])
    kinds = [left.type.element, right.type.element]
    names, body = _body(scope, function, nodes[2], kinds, 2)
    return Call(function.name, (left, right, body, Literal(names, STRING)), array(body.type))


def _of(scope: Scope, function: ScalarFunction, node: exp.Expr, name: str) -> Expr:
    bound = scope.bind(node)
    if bound.type.name != name:
        message = f"{function.name.upper()} takes {name} first, but this is {bound.type}"
        raise scope.wrong("WB221", message, node, hint=f"give it an {name}")
    return bound


def _body(
    scope: Scope,
    function: ScalarFunction,
    node: exp.Expr,
    kinds: Sequence[ColumnType],
    least: int,
) -> tuple[str, Expr]:
    """The names of the parameters, and what is computed of them."""
    count = len(node.expressions) if isinstance(node, exp.Lambda) else 0
    if not isinstance(node, exp.Lambda) or not least <= count <= len(kinds):
        taken = f"{least}" if least == len(kinds) else f"{least} or {len(kinds)}"
        raise scope.wrong(
            "WB728",
            f"{function.name.upper()} takes a function of {taken} here",
            node,
            hint="write x -> x + 1, or (x, y) -> x + y",
        )
    written = [part.name for part in node.expressions]
    variables = scope.enter_lambda(written, kinds)
    try:
        body = scope.bind(node.this)
    finally:
        scope.leave_lambda()
    return ",".join(each.name for each in variables), body


def _condition(scope: Scope, function: ScalarFunction, node: exp.Expr, body: Expr) -> Expr:
    return _as(scope, function, node, body, BOOLEAN)


def _as(
    scope: Scope, function: ScalarFunction, node: exp.Expr, body: Expr, kind: ColumnType
) -> Expr:
    if common_type([Call("wanted", (), kind), body]) != kind:
        message = f"the function in {function.name.upper()} gives {body.type}, not {kind}"
        raise scope.wrong("WB728", message, node, hint=f"convert it with CAST(... AS {kind})")
    return convert(body, kind)


def _same(listed: ColumnType, _body: ColumnType) -> ColumnType:
    return listed


def _truth(_listed: ColumnType, _body: ColumnType) -> ColumnType:
    return BOOLEAN


LAMBDA_FORMS: Mapping[str, Form] = {
    "transform": _over_array(lambda _listed, body: array(body), tests=False),
    "filter": _over_array(_same, tests=True),
    "exists": _over_array(_truth, tests=True),
    "forall": _over_array(_truth, tests=True),
    "aggregate": _aggregate,
    "zip_with": _zip_with,
    "map_filter": _over_map(_same, tests=True),
    "transform_keys": _over_map(lambda listed, body: map_of(body, listed.value), tests=False),
    "transform_values": _over_map(lambda listed, body: map_of(listed.key, body), tests=False),
}
