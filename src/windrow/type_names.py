"""The column type that a text or an Arrow type names; type_syntax.py reads how they are written."""

from __future__ import annotations

import pyarrow as pa

from windrow.column_types import (
    ARROW_TYPES,
    BIGINT,
    BINARY,
    BOOLEAN,
    DAY_TIME_INTERVAL,
    DOUBLE,
    FLOAT,
    INT,
    MAX_SUM_DIGITS,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    ColumnType,
    array,
    decimal,
    map_of,
)
from windrow.errors import BindingError
from windrow.time_types import time_type_named
from windrow.type_syntax import MAX_TYPE_DEPTH, TypeSyntax, TypeSyntaxError, type_in

__all__ = ["not_a_type", "type_meant", "type_named", "type_of_arrow"]

_NAMES = {
    **{name.lower(): ColumnType(name) for name in ARROW_TYPES},
    "bool": BOOLEAN,
    "byte": TINYINT,
    "int8": TINYINT,
    "short": SMALLINT,
    "int16": SMALLINT,
    "int2": SMALLINT,
    "integer": INT,
    "int32": INT,
    "int4": INT,
    "long": BIGINT,
    "signed": BIGINT,
    "int64": BIGINT,
    "real": FLOAT,
    "float32": FLOAT,
    "float4": FLOAT,
    "float64": DOUBLE,
    "float8": DOUBLE,
    "double precision": DOUBLE,
    "varchar": STRING,
    "char": STRING,
    "character": STRING,
    "character varying": STRING,
    "bpchar": STRING,
    "nvarchar": STRING,
    "text": STRING,
    "utf8": STRING,
    "bytes": BINARY,
    "varbinary": BINARY,
    "blob": BINARY,
    "bytea": BINARY,
}
# Types with a length in brackets that changes nothing: VARCHAR(20).
_WITH_LENGTH = (STRING, BINARY)
_DECIMAL_NAMES = frozenset(["decimal", "numeric", "dec"])
_NESTED = frozenset(["array", "map", "struct"])


def type_named(text: str) -> ColumnType:
    """The type that a DDL word names.

    >>> str(type_named("long")), str(type_named("decimal(10, 2)"))
    ('BIGINT', 'DECIMAL(10, 2)')
    """
    word = text.strip().lower()
    if word in _NAMES:
        return _NAMES[word]
    try:
        return type_meant(type_in(text))
    except TypeSyntaxError as problem:
        raise not_a_type(problem) from None


def type_meant(syntax: TypeSyntax) -> ColumnType:
    """The type that words mean."""
    if syntax.name in _NESTED:
        return _nested(syntax)
    if syntax.name in _DECIMAL_NAMES:
        precision, scale, *_ = (*syntax.numbers, 0, 0) if syntax.numbers else (10, 0)
        return _column_decimal(precision, scale)
    time = time_type_named(syntax.name)
    if time is not None and len(syntax.numbers) < 2:
        return ColumnType(time)
    found = _NAMES.get(syntax.name)
    if found is None or (syntax.numbers and found not in _WITH_LENGTH):
        numbers = f"({', '.join(map(str, syntax.numbers))})" if syntax.numbers else ""
        raise BindingError(
            "WB110",
            f"there is no column type {syntax.name + numbers!r}",
            hint=f"use one of {_TYPE_LIST}",
        )
    return found


def _nested(syntax: TypeSyntax) -> ColumnType:
    parts = tuple((name, type_meant(part)) for name, part in syntax.parts)
    return _checked(ColumnType(syntax.name.upper(), parts=parts))


def _checked(kind: ColumnType) -> ColumnType:
    names = [name.lower() for name, _ in kind.parts]
    twice = next((name for name in names if names.count(name) > 1), None)
    if kind.name == "STRUCT" and (twice is not None or not names):
        what = "no field" if not names else f"two fields named {twice!r}"
        hint = "give every field a name of its own; letters large and small are the same"
        raise BindingError("WB721", f"a STRUCT has {what}", hint=hint)
    if kind.name == "MAP" and not kind.key.is_comparable:
        hint = "maps cannot be compared; take an ARRAY of STRUCT<key, value>"
        raise BindingError("WB722", f"a MAP cannot have keys of {kind.key}", hint=hint)
    return kind


def not_a_type(problem: TypeSyntaxError) -> BindingError:
    """The refusal of a text that names no type."""
    code = "WB723" if problem.is_depth else "WB720"
    return BindingError(code, problem.message, hint=problem.hint)


_TYPE_LIST = ", ".join(
    [*ARROW_TYPES, "DECIMAL(p, s)", "ARRAY<T>", "MAP<K, V>", "STRUCT<name: T, ...>"]
)


def _column_decimal(precision: int, scale: int) -> ColumnType:
    if not (0 < precision <= MAX_SUM_DIGITS and 0 <= scale <= precision):
        raise BindingError(
            "WB111",
            f"DECIMAL({precision}, {scale}) is not a column type",
            hint=f"a column holds 1 to {MAX_SUM_DIGITS} digits, at most all of them decimals",
        )
    return decimal(precision, scale)


def type_of_arrow(kind: pa.DataType, depth: int = 1) -> ColumnType:
    """The column type that holds what an Arrow column of this type holds."""
    if depth > MAX_TYPE_DEPTH:
        hint = "flatten it, or hold the inner part as JSON text"
        raise BindingError("WB723", f"a type is nested deeper than {MAX_TYPE_DEPTH}", hint=hint)
    if pa.types.is_dictionary(kind):
        return type_of_arrow(kind.value_type, depth)
    if pa.types.is_timestamp(kind):
        return TIMESTAMP
    if pa.types.is_decimal(kind):
        return _column_decimal(kind.precision, kind.scale)
    if _is_list(kind) or pa.types.is_map(kind) or pa.types.is_struct(kind):
        return _nested_of_arrow(kind, depth + 1)
    if pa.types.is_duration(kind):
        return DAY_TIME_INTERVAL
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or _is_binary(kind):
        return BINARY if _is_binary(kind) else STRING
    for name, arrow in ARROW_TYPES.items():
        if kind == arrow:
            return ColumnType(name)
    raise BindingError(
        "WB112", f"no column can have the Arrow type {kind}", hint=f"use one of {_TYPE_LIST}"
    )


def _nested_of_arrow(kind: pa.DataType, depth: int) -> ColumnType:
    if pa.types.is_map(kind):
        key, item = (type_of_arrow(each, depth) for each in (kind.key_type, kind.item_type))
        return _checked(map_of(key, item))
    if pa.types.is_struct(kind):
        fields = ((each.name, type_of_arrow(each.type, depth)) for each in kind)
        return _checked(ColumnType("STRUCT", parts=tuple(fields)))
    return array(type_of_arrow(kind.value_type, depth))


def _is_list(kind: pa.DataType) -> bool:
    views = pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(views or lists or pa.types.is_fixed_size_list(kind))


def _is_binary(kind: pa.DataType) -> bool:
    fixed = pa.types.is_fixed_size_binary(kind) and not pa.types.is_decimal(kind)
    plain = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return bool(plain or pa.types.is_binary_view(kind) or fixed)
