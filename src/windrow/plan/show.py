"""Bound expressions as text for people: names qualified by their input, casts left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from windrow.event_time import show_instant, show_span
from windrow.plan.expressions import (
    AggregateRef,
    Call,
    ColumnRef,
    Expr,
    GroupRef,
    Literal,
    Variable,
)
from windrow.plan.model import Aggregate, QueryPlan, WindowSpec
from windrow.schema import DATE, STRING, TIMESTAMP

__all__ = ["show", "show_aggregate", "show_list", "show_window", "show_with"]

Named = Callable[[Expr], str]

_ARITHMETIC = frozenset(["+", "-", "*", "/", "%", "div"])
_COMPARING = frozenset(["=", "<>", "<", "<=", ">", ">=", "like"])
_INFIX = _ARITHMETIC | _COMPARING | {"and", "or"}
_DAY_US = 86_400_000_000


def show(expression: Expr, plan: QueryPlan) -> str:
    """The expression as it may have been written."""

    def named(leaf: Expr) -> str:
        if isinstance(leaf, ColumnRef):
            return f"{plan.inputs[leaf.source].alias}.{leaf.column}"
        if isinstance(leaf, GroupRef):
            return show(plan.group_by[leaf.index], plan)
        assert isinstance(leaf, AggregateRef)
        return show_aggregate(plan.aggregates[leaf.index], plan)

    return show_with(expression, named)


def show_with(expression: Expr, named: Named) -> str:
    """The expression with its columns, groups and aggregates as they are named."""
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, Variable):
        return expression.name.partition("#")[0]
    return _call(expression, named) if isinstance(expression, Call) else named(expression)


def show_list(expressions: Sequence[Expr], plan: QueryPlan) -> str:
    """The expressions with commas between them."""
    return ", ".join(show(part, plan) for part in expressions)


def show_aggregate(aggregate: Aggregate, plan: QueryPlan) -> str:
    """COUNT(*), COUNT(DISTINCT x), SUM(x) and so on."""
    argument = aggregate.argument
    return aggregate.traits.show("*" if argument is None else show(argument, plan))


def show_window(window: WindowSpec, plan: QueryPlan) -> str:
    """The window in its brackets."""
    inside = window.traits.shown.format(
        length=show_span(window.length_us),
        slide=show_span(window.slide_us),
        rows=window.rows,
        columns=show_list(window.partition_by, plan),
    )
    return f"[{inside}]"


def _literal(literal: Literal) -> str:
    value = literal.value
    if isinstance(value, bool) or value is None:
        return "NULL" if value is None else str(value).upper()
    if literal.type == STRING:
        return "'" + str(value).replace("'", "''") + "'"
    if isinstance(value, int) and literal.type in (TIMESTAMP, DATE):
        shown = show_instant(value if literal.type == TIMESTAMP else value * _DAY_US)
        return f"{literal.type} '{shown if literal.type == TIMESTAMP else shown[:10]}'"
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _call(call: Call, named: Named) -> str:
    parts = [show_with(part, named) for part in call.arguments]
    if call.function == "cast":
        return parts[0]
    if call.function == "try_cast":
        return f"TRY_CAST({parts[0]} AS {call.type})"
    if call.function in _INFIX:
        return " ".join([_inner(call, 0, named), call.function.upper(), _inner(call, 1, named)])
    if call.function == "is_same":
        return f"{parts[0]} <=> {parts[1]}"
    if call.function == "is_null":
        return f"{parts[0]} IS NULL"
    if call.function == "not":
        return f"NOT ({parts[0]})"
    if call.function == "negate":
        return f"-{_inner(call, 0, named)}"
    if call.function == "in":
        return f"{parts[0]} IN ({', '.join(parts[1:])})"
    if call.function == "case":
        return _case(parts)
    return f"{call.function.upper()}({', '.join(parts)})"


def _inner(call: Call, position: int, named: Named) -> str:
    part = call.arguments[position]
    shown = show_with(part, named)
    while isinstance(part, Call) and part.function == "cast":
        part = part.arguments[0]
    plain = not isinstance(part, Call) or part.function not in _INFIX
    return shown if plain or _needs_no_brackets(part, call.function) else f"({shown})"


def _needs_no_brackets(part: Expr, outer: str) -> bool:
    inner = part.function if isinstance(part, Call) else ""
    if outer in ("and", "or"):
        return inner not in ("and", "or") or inner == outer
    return outer in _COMPARING and inner in _ARITHMETIC


def _case(parts: list[str]) -> str:
    pairs = zip(parts[0:-1:2], parts[1:-1:2], strict=True)
    branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"CASE {branches} ELSE {parts[-1]} END"
