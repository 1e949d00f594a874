"""Bound expressions as text for people: names qualified by their input, casts left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

from windrow.event_time import show_instant, show_span
from windrow.plan.expressions import (
    WORDS,
    AggregateRef,
    Call,
    ColumnRef,
    Expr,
    GroupRef,
    Literal,
    Variable,
)
from windrow.plan.model import Aggregate, QueryPlan, WindowSpec
from windrow.scalar_functions.internal import SIGNS
from windrow.schema import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, YEAR_MONTH_INTERVAL
from windrow.times.interval_texts import day_time_text, year_month_text
from windrow.times.moments import wall_text

__all__ = ["show", "show_aggregate", "show_inside", "show_list", "show_window", "show_with"]

Named = Callable[[Expr], str]

_ARITHMETIC = frozenset(["+", "-", "*", "/", "%", "div", "&", "|", "^"])
_COMPARING = frozenset(["=", "<>", "<", "<=", ">", ">=", "like"])
_INFIX = _ARITHMETIC | frozenset(SIGNS) | _COMPARING | {"and", "or"}
_PREFIXES = {"negate": "-", "negate_interval": "-", "~": "~"}
_BEHIND = {"is_null": "IS NULL", "has_value": "HAS A VALUE"}
# Conversions say nothing to a reader, nor do the words in which a sum is kept.
_HIDDEN = frozenset(
    [
        *("cast", "to_wall", "to_instant", "text_to_instant", "months_to_text", "instant_in"),
        *("from_words", "first_of_pair", *WORDS),
    ]
)
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
    return f"[{show_inside(window, show_list(window.partition_by, plan))}]"


def show_inside(window: WindowSpec, columns: str) -> str:
    """What stands in the brackets; columns: those of PARTITION BY."""
    offset_us = window.offset_us
    return window.traits.shown.format(
        length=show_span(window.length_us),
        slide=show_span(window.slide_us),
        rows=window.rows,
        offset=f", offset by {show_span(offset_us)}" if offset_us else "",
        columns=columns,
        partition=f" of each {columns}" if columns else "",
    )


def _literal(literal: Literal) -> str:
    value = literal.value
    if isinstance(value, bool) or value is None:
        return "NULL" if value is None else str(value).upper()
    if literal.type == STRING:
        return "'" + str(value).replace("'", "''") + "'"
    if isinstance(value, int) and literal.type in (TIMESTAMP, DATE):
        shown = show_instant(value if literal.type == TIMESTAMP else value * _DAY_US)
        return f"{literal.type} '{shown if literal.type == TIMESTAMP else shown[:10]}'"
    if isinstance(value, int) and literal.type == TIMESTAMP_NTZ:
        return f"{literal.type} '{wall_text(value)}'"
    if isinstance(value, int) and literal.type.is_interval:
        is_months = literal.type == YEAR_MONTH_INTERVAL
        return year_month_text(value) if is_months else day_time_text(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _call(call: Call, named: Named) -> str:
    parts = [show_with(part, named) for part in call.arguments]
    if call.function in _HIDDEN:
        return parts[0]
    if call.function == "try_cast":
        return f"TRY_CAST({parts[0]} AS {call.type})"
    if call.function in _INFIX:
        return _infix(call, _inner(call, 0, named), _inner(call, 1, named))
    if call.function == "is_same":
        return f"{parts[0]} <=> {parts[1]}"
    if call.function in _BEHIND:
        return f"{parts[0]} {_BEHIND[call.function]}"
    if call.function == "not":
        return f"NOT ({parts[0]})"
    if call.function in _PREFIXES:
        return f"{_PREFIXES[call.function]}{_inner(call, 0, named)}"
    if call.function == "in":
        return f"{parts[0]} IN ({', '.join(parts[1:])})"
    if call.function == "case":
        return _case(parts)
    return f"{call.function.upper()}({', '.join(parts)})"


def _infix(call: Call, left: str, right: str) -> str:
    sign, turned = SIGNS.get(call.function), call.arguments[1]
    if sign is None:
        return f"{left} {call.function.upper()} {right}"
    if sign == "+" and isinstance(turned, Literal) and isinstance(turned.value, int):
        if turned.value < 0:
            return f"{left} - {_literal(replace(turned, value=-turned.value))}"
    elif sign == "+" and isinstance(turned, Call) and turned.function == "negate_interval":
        return f"{left} - {right.removeprefix('-')}"
    return f"{left} {sign} {right}"


def _inner(call: Call, position: int, named: Named) -> str:
    part = call.arguments[position]
    shown = show_with(part, named)
    while isinstance(part, Call) and part.function in _HIDDEN:
        part = part.arguments[0]
    plain = not isinstance(part, Call) or part.function not in _INFIX
    return shown if plain or _needs_no_brackets(part, call.function) else f"({shown})"


def _needs_no_brackets(part: Expr, outer: str) -> bool:
    inner = part.function if isinstance(part, Call) else ""
    if outer in ("and", "or"):
        return inner not in ("and", "or") or inner == outer
    return outer in _COMPARING and (inner in _ARITHMETIC or inner in SIGNS)


def _case(parts: list[str]) -> str:
    pairs = zip(parts[0:-1:2], parts[1:-1:2], strict=True)
    branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"CASE {branches} ELSE {parts[-1]} END"
