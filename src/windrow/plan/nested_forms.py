"""Calls that make nested values, or whose arguments meet inside of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from windrow.plan.argument_kinds import bind_by_kinds
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.literals import into
from windrow.plan.nested_access import map_value
from windrow.plan.operators import alike
from windrow.plan.scope import Scope
from windrow.plan.types import common_type, convert, is_null
from windrow.scalar_functions import ScalarFunction
from windrow.schema import INT, STRING, ColumnType, array, map_of

__all__ = ["NESTED_FORMS"]

Nodes = list[exp.Expr]
Form = Callable[[Scope, ScalarFunction, Nodes], Expr]


def _array(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    bound = alike(scope, function.name.upper(), nodes, [scope.bind(node) for node in nodes])
    return Call("array", tuple(bound), array(bound[0].type if bound else STRING))


def _map(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    if len(nodes) % 2:
        message = f"{function.name.upper()} takes keys and values in turn"
        hint = "write MAP('a', 1, 'b', 2)"
        raise scope.wrong("WB231", message, nodes[-1], hint=hint)
    bound = [scope.bind(node) for node in nodes]
    keys = alike(scope, "MAP", nodes[::2], bound[::2])
    values = alike(scope, "MAP", nodes[1::2], bound[1::2])
    pairs = tuple(part for pair in zip(keys, values, strict=True) for part in pair)
    kind = map_of(keys[0].type, values[0].type) if keys else map_of(STRING, STRING)
    if not kind.key.is_comparable:
        hint = "maps cannot be compared"
        raise scope.wrong("WB722", f"a MAP cannot have keys of {kind.key}", nodes[0], hint=hint)
    return Call("map", pairs, kind)


def _struct(scope: Scope, _function: ScalarFunction, nodes: Nodes) -> Expr:
    """Fields are named as their columns, others col1, col2 and so on, as in Spark."""
    names = [_name(node, place) for place, node in enumerate(nodes)]
    return _struct_of(scope, nodes, names, [scope.bind(node) for node in nodes])


def _named_struct(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    names = [scope.bind(node) for node in nodes[::2]]
    are_texts = all(isinstance(each, Literal) and each.type == STRING for each in names)
    if len(nodes) % 2 or not are_texts:
        message = f"{function.name.upper()} takes names in quotes and values in turn"
        hint = "write NAMED_STRUCT('a', x, 'b', y)"
        raise scope.wrong("WB231", message, nodes[0], hint=hint)
    texts = [str(each.value) for each in names if isinstance(each, Literal)]
    return _struct_of(scope, nodes, texts, [scope.bind(node) for node in nodes[1::2]])


def _struct_of(scope: Scope, nodes: Nodes, names: list[str], bound: list[Expr]) -> Expr:
    lower = [name.lower() for name in names]
    twice = next((name for name in lower if lower.count(name) > 1), None)
    if twice is not None:
        message = f"a STRUCT has two fields named {twice!r}"
        hint = "name them apart: NAMED_STRUCT('a', x, 'b', y)"
        raise scope.wrong("WB721", message, nodes[0], hint=hint)
    parts = tuple((name, part.type) for name, part in zip(names, bound, strict=True))
    return Call("struct", tuple(bound), ColumnType("STRUCT", parts=parts))


def _name(node: exp.Expr, place: int) -> str:
    node = node.unnest()
    if isinstance(node, exp.Column):
        return node.name
    return node.expression.name if isinstance(node, exp.Dot) else f"col{place + 1}"


def _meets_element(place: int) -> Form:
    """A call whose argument at that place is like the elements of its array."""

    def bind(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
        call = bind_by_kinds(scope, function, nodes)
        assert isinstance(call, Call)
        listed, value = call.arguments[0], call.arguments[place]
        kind = _meeting(scope, function, nodes[place], listed.type.element, value)
        arguments = list(call.arguments)
        arguments[0] = convert(listed, array(kind))
        arguments[place] = into(scope, nodes[place], value, kind)
        result = array(kind) if call.type.name == "ARRAY" else call.type
        return Call(function.name, tuple(arguments), result)

    return bind


def _meeting(
    scope: Scope, function: ScalarFunction, node: exp.Expr, kind: ColumnType, value: Expr
) -> ColumnType:
    if is_null(value):
        return kind
    # A call stands for the elements: a literal would give way to the other.
    found = common_type([Call("element", (), kind), value])
    if found is None or not found.is_comparable:
        raise scope.wrong(
            "WB220",
            f"{function.name.upper()} takes an element of the array, which holds {kind}, "
            f"but this is {value.type}",
            node,
            hint=f"convert it with CAST(... AS {kind})",
        )
    return found


def _two_arrays(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    call = bind_by_kinds(scope, function, nodes)
    assert isinstance(call, Call)
    first, second = alike(scope, function.name.upper(), nodes, list(call.arguments))
    kind = first.type if call.type.name == "ARRAY" else call.type
    return Call(function.name, (first, second), kind)


def _size(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    bound = scope.bind(nodes[0])
    if bound.type.name not in ("ARRAY", "MAP"):
        message = f"{function.name.upper()} takes an array or a map, but this is {bound.type}"
        hint = "LENGTH gives the letters of a text"
        raise scope.wrong("WB221", message, nodes[0], hint=hint)
    return Call(function.name, (bound,), INT)


def _element_at(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    bound, index = scope.bind(nodes[0]), scope.bind(nodes[1])
    if bound.type.name == "MAP":
        return map_value(scope, nodes[1], bound, index)
    if bound.type.name != "ARRAY" or not (index.type.is_integer or is_null(index)):
        message = f"{function.name.upper()} takes an array and an integer, or a map and a key"
        raise scope.wrong("WB221", message, nodes[0], hint="elements are counted from 1")
    arguments = (bound, into(scope, nodes[1], index, INT))
    return Call(function.name, arguments, bound.type.element)


def _zip(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    call = bind_by_kinds(scope, function, nodes)
    assert isinstance(call, Call)
    names = [
        node.unnest().name if isinstance(node.unnest(), exp.Column) else str(place)
        for place, node in enumerate(nodes)
    ]
    kinds = [part.type.element for part in call.arguments]
    fields = ColumnType("STRUCT", parts=tuple(zip(names, kinds, strict=True)))
    return Call(function.name, call.arguments, array(fields))


def _reverse(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    bound = scope.bind(nodes[0])
    if bound.type.name != "ARRAY":
        return bind_by_kinds(scope, function, nodes)
    return Call("reverse_array", (bound,), bound.type)


def _sequence(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    bound = alike(scope, "SEQUENCE", nodes, [scope.bind(node) for node in nodes])
    if not bound[0].type.is_integer:
        message = f"SEQUENCE takes integers, but these are {bound[0].type}"
        raise scope.wrong("WB221", message, nodes[0], hint="write SEQUENCE(1, 10)")
    return Call(function.name, tuple(bound), array(bound[0].type))


def _flatten(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    bound = scope.bind(nodes[0])
    if bound.type.name != "ARRAY" or bound.type.element.name != "ARRAY":
        message = f"FLATTEN takes an array of arrays, but this is {bound.type}"
        raise scope.wrong("WB221", message, nodes[0], hint="an array of values is flat already")
    return Call(function.name, (bound,), bound.type.element)


def _from_entries(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    bound = scope.bind(nodes[0])
    element = bound.type.element if bound.type.name == "ARRAY" else bound.type
    if bound.type.name != "ARRAY" or element.name != "STRUCT" or len(element.parts) != 2:
        message = f"MAP_FROM_ENTRIES takes an array of structs of two, but this is {bound.type}"
        raise scope.wrong("WB221", message, nodes[0], hint="write ARRAY(STRUCT('a', 1))")
    return Call(function.name, (bound,), map_of(element.parts[0][1], element.parts[1][1]))


def _contains_key(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    call = bind_by_kinds(scope, function, nodes)
    assert isinstance(call, Call)
    listed, key = call.arguments
    looked_up = map_value(scope, nodes[1], listed, key)
    assert isinstance(looked_up, Call)
    return Call(function.name, looked_up.arguments, call.type)


def _concat(scope: Scope, function: ScalarFunction, nodes: Nodes) -> Expr:
    bound = [scope.bind(node) for node in nodes]
    if not any(part.type.name == "ARRAY" for part in bound):
        return bind_by_kinds(scope, function, nodes)
    parts = alike(scope, "CONCAT", nodes, bound)
    return Call("concat_arrays", tuple(parts), parts[0].type)


_WITH_ELEMENT = ("array_append", "array_prepend", "array_contains", "array_position")
_OF_TWO = ("array_union", "array_intersect", "array_except", "arrays_overlap")
NESTED_FORMS: Mapping[str, Form] = {
    **dict.fromkeys((*_WITH_ELEMENT, "array_remove"), _meets_element(1)),
    "array_insert": _meets_element(2),
    **dict.fromkeys(_OF_TWO, _two_arrays),
    "array": _array,
    "map": _map,
    "struct": _struct,
    "named_struct": _named_struct,
    "array_size": _size,
    "element_at": _element_at,
    "try_element_at": _element_at,
    "arrays_zip": _zip,
    "flatten": _flatten,
    "reverse": _reverse,
    "sequence": _sequence,
    "map_from_entries": _from_entries,
    "map_contains_key": _contains_key,
    "concat": _concat,
}
