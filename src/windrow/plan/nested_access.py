"""Parts of nested values: x.field, x[i] and m['k'].

A name a.b is column b of input a where there is one, as in Spark; else field b of column a.
"""

from __future__ import annotations

from sqlglot import exp

from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.literals import into
from windrow.plan.nearest import nearest
from windrow.plan.scope import Scope
from windrow.plan.types import common_type, is_null
from windrow.schema import INT, STRING, array

__all__ = ["bind_bracket", "bind_dot", "field_of", "map_value", "written_as_field"]


def bind_dot(scope: Scope, node: exp.Dot) -> Expr:
    """x.name: a field of a struct or of the structs in an array, or the value of a key."""
    return field_of(scope, node, scope.bind(node.this), node.expression.name)


def bind_bracket(scope: Scope, node: exp.Bracket) -> Expr:
    """x[i]: an element, counted from 0; m[key]: the value of a key, NULL where there is none."""
    bound, (index_node,) = scope.bind(node.this), node.expressions
    index = scope.bind(index_node)
    if bound.type.name == "MAP":
        return map_value(scope, index_node, bound, index)
    if bound.type.name == "STRUCT" and isinstance(index, Literal) and index.type == STRING:
        return field_of(scope, node, bound, str(index.value))
    if bound.type.name != "ARRAY":
        raise scope.wrong(
            "WB725",
            f"[...] takes an element of an ARRAY or a MAP, but this is {bound.type}",
            node,
            hint="write column.field for the field of a STRUCT",
        )
    if not index.type.is_integer and not is_null(index):
        raise scope.wrong(
            "WB725",
            f"an ARRAY is read by an integer, but this is {index.type}",
            index_node,
            hint="elements are counted from 0: items[0]",
        )
    return Call("item", (bound, into(scope, index_node, index, INT)), bound.type.element)


def field_of(scope: Scope, node: exp.Expr, bound: Expr, name: str) -> Expr:
    """The field of that name, of a value or of all values of an array."""
    kind = bound.type
    if kind.name == "MAP" and kind.key == STRING:
        return Call("map_value", (bound, Literal(name, STRING)), kind.value)
    inner = kind.element if kind.name == "ARRAY" else kind
    place = inner.place_of(name) if inner.name == "STRUCT" else None
    if place is None:
        raise _no_field(scope, node, bound, name)
    found = inner.parts[place][1]
    index = Literal(place, INT)
    if kind.name == "ARRAY":
        return Call("fields", (bound, index), array(found))
    return Call("field", (bound, index), found)


def map_value(scope: Scope, node: exp.Expr, bound: Expr, key: Expr) -> Expr:
    """The value of a key of a map."""
    wanted = common_type([Literal(None, bound.type.key), key]) if is_null(key) else key.type
    if wanted != bound.type.key:
        met = common_type([Call("key", (), bound.type.key), key])
        if met != bound.type.key:
            raise scope.wrong(
                "WB725",
                f"the keys of this map are {bound.type.key}, but this is {key.type}",
                node,
                hint=f"convert it: CAST(... AS {bound.type.key})",
            )
    return Call("map_value", (bound, into(scope, node, key, bound.type.key)), bound.type.value)


def written_as_field(node: exp.Column) -> exp.Dot:
    """a.b as field b of column a."""
    column = exp.Column(this=node.args["table"].copy())
    dot = exp.Dot(this=column, expression=node.this.copy())
    for part in (column, dot):
        part.meta.update(node.args["table"].meta)
    return dot


def _no_field(scope: Scope, node: exp.Expr, bound: Expr, name: str) -> Exception:
    kind = bound.type.element if bound.type.name == "ARRAY" else bound.type
    if kind.name != "STRUCT":
        message = f"{bound.type} has no fields, and so no {name!r}"
        return scope.wrong("WB726", message, node, hint="only a STRUCT has fields")
    names = [each for each, _ in kind.parts]
    guess = nearest(name, names)
    listed = f"the fields are {', '.join(names)}"
    return scope.wrong(
        "WB726",
        f"there is no field {name!r} in {bound.type}",
        node,
        hint=f"did you mean {guess}? {listed}" if guess else listed,
    )
