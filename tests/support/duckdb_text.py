"""Bound expressions as DuckDB SQL, with our meanings where DuckDB's differ.

Timestamps are BIGINT microseconds and dates INTEGER days throughout, as in the plan's literals.
What has no value (division by zero, overflow) is NULL. NaN equals itself and is the largest number.
Quotients of decimals are made by a function in Python: DuckDB's are doubles.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal

import duckdb

from windrow.plan.expressions import WORDS, Call, Expr, Literal
from windrow.scalar_functions import SCALAR_FUNCTIONS
from windrow.schema import ColumnType

DAY_US = 86_400_000_000
MIN, MAX = -(2**63), 2**63 - 1
INFIX = {"=", "<>", "<", "<=", ">", ">=", "and", "or"}
# What gives NULL here is no error with these.
TRIED = {
    "try_add": "+",
    "try_subtract": "-",
    "try_multiply": "*",
    "try_divide": "/",
    "try_mod": "%",
}


def print_expression(expression: Expr, leaf: Callable[[Expr], str]) -> str:
    """The SQL of an expression; `leaf` names columns, groups and aggregates."""
    if isinstance(expression, Literal):
        return print_literal(expression.value, expression.type)
    if not isinstance(expression, Call):
        return leaf(expression)
    if expression.function in WORDS:
        return _wide(expression.arguments[0], leaf)  # every sum is the whole one
    parts = [print_expression(part, leaf) for part in expression.arguments]
    if expression.function in ("from_words", "try"):
        return parts[0]
    if expression.function in ("cast", "try_cast"):
        return _cast(parts[0], expression.arguments[0].type, expression.type)
    if expression.function in TRIED:
        operator = Call(TRIED[expression.function], expression.arguments, expression.type)
        return _arithmetic(operator, parts)
    if expression.function in ("+", "-", "*", "negate", "abs", "%", "/", "div"):
        return _arithmetic(expression, parts)
    return _call(expression, parts)


def _wide(expression: Expr, leaf: Callable[[Expr], str]) -> str:
    """Sums and products of integers as HUGEINT, which never overflow here."""
    if isinstance(expression, Call) and expression.function in ("+", "-", "*", "negate"):
        parts = [_wide(part, leaf) for part in expression.arguments]
        return _shown(expression.function, parts)
    if isinstance(expression, Call) and expression.function == "case":
        *pairs, last = expression.arguments
        texts = [
            _wide(part, leaf) if place % 2 else print_expression(part, leaf)
            for place, part in enumerate(pairs)
        ]
        return _case([*texts, _wide(last, leaf)], expression)
    return f"({print_expression(expression, leaf)})::HUGEINT"


def add_functions(database: duckdb.DuckDBPyConnection) -> None:
    """The functions that texts made here call."""
    kinds = ["VARCHAR", "VARCHAR", "INTEGER", "INTEGER"]
    for function in (exact_quotient, exact_remainder):
        database.create_function(
            function.__name__, function, kinds, "VARCHAR", null_handling="special"
        )


def exact_quotient(one: str | None, other: str | None, precision: int, scale: int) -> str | None:
    if one is None or other is None or not Decimal(other):
        return None
    context = Context(prec=300, rounding=ROUND_HALF_UP)
    found = context.divide(Decimal(one), Decimal(other)).quantize(
        Decimal(10) ** -scale, context=context
    )
    return None if abs(found) >= Decimal(10) ** (precision - scale) else format(found, "f")


def exact_remainder(one: str | None, other: str | None, _precision: int, _scale: int) -> str | None:
    if one is None or other is None or not Decimal(other):
        return None
    return format(Context(prec=300).remainder(Decimal(one), Decimal(other)), "f")


def type_text(kind: ColumnType) -> str:
    """The DuckDB type that holds a column type here."""
    return {"TIMESTAMP": "BIGINT", "DATE": "INTEGER"}.get(kind.name, kind.duckdb)


def print_literal(value: object, kind: ColumnType) -> str:
    """A constant of a type."""
    if value is None:
        text = "NULL"
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, (str, float)):
        text = "'" + str(value).replace("'", "''") + "'"
    else:
        assert isinstance(value, (int, Decimal))
        text = f"'{value}'"
    return f"CAST({text} AS {type_text(kind)})"


def key_text(text: str, kind: ColumnType) -> str:
    """A key or group column: both zeros are one value."""
    return f"(CASE WHEN {text} = 0 THEN 0 ELSE {text} END)" if kind.is_float else text


def _arithmetic(call: Call, parts: list[str]) -> str:
    kind = call.type
    if call.function in ("/", "%") and kind.name == "DECIMAL":
        name = "exact_quotient" if call.function == "/" else "exact_remainder"
        texts = ", ".join(f"CAST({part} AS VARCHAR)" for part in parts)
        return f"CAST({name}({texts}, {kind.precision}, {kind.scale}) AS {type_text(kind)})"
    if call.function in ("/", "%"):
        left, right = parts
        wide = "::HUGEINT" if kind.is_integer else ""
        shown = f"{left}{wide} {call.function} {right}{wide}"
        return f"CAST(CASE WHEN {right} <> 0 THEN {shown} END AS {type_text(kind)})"
    if call.function == "div":
        left, right = parts
        shown = f"TRY_CAST({left}::HUGEINT // {right}::HUGEINT AS BIGINT)"
        return f"(CASE WHEN {right} <> 0 THEN {shown} END)"
    if kind.is_integer:
        parts = [f"{part}::HUGEINT" for part in parts]
    shown = _shown(call.function, parts)
    if kind.is_integer:
        shown = f"CASE WHEN {shown} BETWEEN {MIN}::HUGEINT AND {MAX}::HUGEINT THEN {shown} END"
    return f"CAST({shown} AS {type_text(kind)})"


def _shown(function: str, parts: list[str]) -> str:
    if function == "negate":
        return f"(-({parts[0]}))"
    if function == "abs":
        return f"abs({parts[0]})"
    return f"({parts[0]} {function} {parts[1]})"


def _call(call: Call, parts: list[str]) -> str:
    name = call.function
    if name in INFIX:
        return f"({parts[0]} {name.upper()} {parts[1]})"
    if name in _OTHERS:
        return _OTHERS[name](parts, call)
    meant = SCALAR_FUNCTIONS[name].duckdb or f"{name}({', '.join(['{}'] * len(parts))})"
    return meant.format(*parts)


def _case(parts: list[str], _call: Call) -> str:
    pairs = zip(parts[0:-1:2], parts[1:-1:2], strict=True)
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"(CASE {whens} ELSE {parts[-1]} END)"


def _floor_ceil(parts: list[str], call: Call) -> str:
    return f"TRY_CAST({call.function}({parts[0]}) AS BIGINT)"


_OTHERS: dict[str, Callable[[list[str], Call], str]] = {
    "is_same": lambda parts, _call: f"({parts[0]} IS NOT DISTINCT FROM {parts[1]})",
    "not": lambda parts, _call: f"(NOT {parts[0]})",
    "is_null": lambda parts, _call: f"({parts[0]} IS NULL)",
    "in": lambda parts, _call: f"({parts[0]} IN ({', '.join(parts[1:])}))",
    "case": _case,
    "ceil": _floor_ceil,
    "floor": _floor_ceil,
    "round": lambda parts, call: f"CAST(round({parts[0]}, {parts[1]}) AS {type_text(call.type)})",
    "concat": lambda parts, _call: f"({' || '.join(parts)})",
    "like": lambda parts, _call: f"({parts[0]} LIKE {parts[1]} ESCAPE '\\')",
}


def _cast(text: str, source: ColumnType, target: ColumnType) -> str:
    if source == target:
        return text
    if source.name == "DATE" and target.name == "TIMESTAMP":
        return f"({text}::BIGINT * {DAY_US})"
    if source.name == "TIMESTAMP":
        unit = DAY_US if target.name == "DATE" else 1_000_000
        text = f"(({text} - (({text} % {unit}) + {unit}) % {unit}) // {unit})"
    elif target.is_integer and (source.is_float or source.name == "DECIMAL"):
        text = f"trunc({text})"
    elif target.name == "BOOLEAN" and source.is_numeric:
        return f"({text} <> 0)"
    return f"TRY_CAST({text} AS {type_text(target)})"
