"""Arguments of scalar functions, checked and converted kind by kind.

Conversions are those that Spark makes by itself in ANSI mode, but for text: only text that is
written as a literal becomes a number or a time.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from windrow.plan.cast_targets import can_cast
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.literals import into
from windrow.plan.operators import alike
from windrow.plan.scope import Scope
from windrow.plan.time_conversions import wall_time
from windrow.plan.types import convert, fits, is_null
from windrow.scalar_functions import Given, Kind, ScalarFunction, Takes
from windrow.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DAY_TIME_INTERVAL,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    ColumnType,
    array,
    map_of,
)

__all__ = ["bind_by_kinds", "convert_argument"]

_TIMES = (DATE, TIMESTAMP_NTZ, TIMESTAMP)
# How an argument gets its type, or None where it has none of the kind.
Target = Callable[[Expr], ColumnType | None]


def bind_by_kinds(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    """A call whose arguments are of the kinds that its entry says."""
    bound = [scope.bind(node) for node in nodes]
    takes = [function.argument(position) for position in range(len(nodes))]
    meeting = [place for place, each in enumerate(takes) if each.kind is Kind.ALIKE]
    if meeting:
        found = alike(
            scope,
            function.name.upper(),
            [nodes[place] for place in meeting],
            [bound[place] for place in meeting],
        )
        for place, part in zip(meeting, found, strict=True):
            bound[place] = part
    arguments = [
        convert_argument(scope, function.name, *each) if each[2].kind is not Kind.ALIKE else each[1]
        for each in zip(nodes, bound, takes, strict=True)
    ]
    return _call_of(function, arguments)


def _call_of(function: ScalarFunction, arguments: list[Expr]) -> Call:
    """The call of converted arguments, with the type that its rule says."""
    gives = function.gives
    if callable(gives):
        constants = [part.value if isinstance(part, Literal) else None for part in arguments]
        gives = gives(Given([part.type for part in arguments], constants))
    return Call(function.name, tuple(arguments), gives)


def convert_argument(scope: Scope, name: str, node: exp.Expr, bound: Expr, takes: Takes) -> Expr:
    """The bound argument as one of that kind, or an error that names the function."""
    if takes.is_constant:
        _check_constant(scope, name, node, bound, takes)
    if is_null(bound):
        return convert(bound, _OF_NULL.get(takes.kind, bound.type))
    kind = _TARGETS[takes.kind](bound)
    if kind is None:
        raise scope.wrong(
            "WB221",
            f"{name.upper()} takes {takes.kind.value}, but this is {bound.type}",
            node,
            hint=f"convert it with CAST(... AS {_OF_NULL.get(takes.kind, STRING)})",
        )
    found = into(scope, node, bound, kind)
    return wall_time(found, scope.time_zone) if takes.kind is Kind.WALL else found


def _check_constant(scope: Scope, name: str, node: exp.Expr, bound: Expr, takes: Takes) -> None:
    if takes.kind is Kind.INT:
        value = bound.value if isinstance(bound, Literal) and bound.type.is_integer else None
        if not isinstance(value, int) or not fits(value, INT):
            raise scope.wrong(
                "WB232", f"{name.upper()} takes an integer literal here", node, hint="such as 2"
            )
    elif not isinstance(bound, Literal):
        raise scope.wrong(
            "WB730",
            f"{name.upper()} takes a constant here",
            node,
            hint="write the value itself, not a column",
        )


def _text(bound: Expr) -> ColumnType | None:
    return STRING if bound.type == STRING or can_cast(bound.type, STRING) else None


def _number_in(kind: ColumnType) -> Target:
    """Any number, and text that is written as a literal, in one type."""
    return lambda bound: kind if bound.type.is_numeric or _is_text(bound) else None


def _integer_in(kind: ColumnType) -> Target:
    return lambda bound: kind if bound.type.is_integer or _is_text(bound) else None


def _int_or_bigint(bound: Expr) -> ColumnType | None:
    if not bound.type.is_integer:
        return BIGINT if _is_text(bound) else None
    return BIGINT if bound.type == BIGINT else INT


def _number(bound: Expr) -> ColumnType | None:
    if bound.type.is_integer:
        return BIGINT
    if bound.type.is_float or _is_text(bound):
        return DOUBLE
    return bound.type if bound.type.name == "DECIMAL" else None


def _is_text(bound: Expr) -> bool:
    return isinstance(bound, Literal) and bound.type == STRING


def _time_in(kind: ColumnType) -> Target:
    """Any time, and any text: Spark casts text to times by itself."""
    return lambda bound: kind if bound.type in (*_TIMES, STRING) else None


def _wall(bound: Expr) -> ColumnType | None:
    if bound.type == STRING:
        return TIMESTAMP
    return bound.type if bound.type in _TIMES else None


def _interval(bound: Expr) -> ColumnType | None:
    return bound.type if bound.type.is_interval else None


def _condition(bound: Expr) -> ColumnType | None:
    return BOOLEAN if bound.type == BOOLEAN or _is_text(bound) else None


def _bytes(bound: Expr) -> ColumnType | None:
    return bound.type if bound.type.name in ("BINARY", "STRING") else None


def _text_or_bytes(bound: Expr) -> ColumnType | None:
    return bound.type if bound.type.name == "BINARY" else _text(bound)


def _nested(name: str) -> Target:
    return lambda bound: bound.type if bound.type.name == name else None


def _integer_or_bytes(bound: Expr) -> ColumnType | None:
    return BIGINT if bound.type.is_integer else _bytes(bound)


def _as_it_is(bound: Expr) -> ColumnType:
    return bound.type


_TARGETS: dict[Kind, Target] = {
    Kind.TEXT: _text,
    Kind.INT: _number_in(INT),
    Kind.BIGINT: _integer_in(BIGINT),
    Kind.INTEGER: _int_or_bigint,
    Kind.DOUBLE: _number_in(DOUBLE),
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _condition,
    Kind.TIMESTAMP: _time_in(TIMESTAMP),
    Kind.DATE: _time_in(DATE),
    Kind.WALL: _wall,
    Kind.INTERVAL: _interval,
    Kind.BINARY: _bytes,
    Kind.TEXT_OR_BINARY: _text_or_bytes,
    Kind.ARRAY: _nested("ARRAY"),
    Kind.MAP: _nested("MAP"),
    Kind.INTEGER_OR_BYTES: _integer_or_bytes,
    Kind.ANY: _as_it_is,
    Kind.ALIKE: _as_it_is,
}
# The type that NULL takes where it is written as an argument of this kind.
_OF_NULL: dict[Kind, ColumnType] = {
    Kind.TEXT: STRING,
    Kind.INT: INT,
    Kind.BIGINT: BIGINT,
    Kind.INTEGER: INT,
    Kind.DOUBLE: DOUBLE,
    Kind.NUMBER: DOUBLE,
    Kind.BOOLEAN: BOOLEAN,
    Kind.TIMESTAMP: TIMESTAMP,
    Kind.DATE: DATE,
    Kind.WALL: TIMESTAMP,
    Kind.INTERVAL: DAY_TIME_INTERVAL,
    Kind.BINARY: STRING,
    Kind.TEXT_OR_BINARY: STRING,
    Kind.ARRAY: array(STRING),
    Kind.MAP: map_of(STRING, STRING),
    Kind.INTEGER_OR_BYTES: STRING,
}
