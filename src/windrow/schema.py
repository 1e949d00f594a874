"""Column types and stream schemas, with their Arrow, Spark and DuckDB names.

Plain types: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s) with p <= 38,
STRING, BINARY, TIMESTAMP (UTC, microseconds), TIMESTAMP_NTZ (without a zone), DATE, and the
intervals DAY TO SECOND (microseconds) and YEAR TO MONTH (months). Nested ones: ARRAY<T>, MAP<K, V>
and STRUCT<name: T, ...>. type_syntax.py reads how they are written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pyarrow as pa

from windrow.errors import BindingError
from windrow.event_time import span_of
from windrow.stream_options import NO_OPTIONS, StreamOptions
from windrow.time_types import DAY_TIME, YEAR_MONTH, time_type_named
from windrow.type_syntax import (
    MAX_TYPE_DEPTH,
    TypeSyntax,
    TypeSyntaxError,
    columns_in,
    type_in,
)

__all__ = [
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "DATE",
    "DAY_TIME_INTERVAL",
    "DOUBLE",
    "FLOAT",
    "INT",
    "SMALLINT",
    "STRING",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "TINYINT",
    "YEAR_MONTH_INTERVAL",
    "Column",
    "ColumnType",
    "StreamSchema",
    "array",
    "columns_of",
    "decimal",
    "map_of",
    "max_ahead_of",
    "struct",
    "type_meant",
    "type_named",
    "type_of_arrow",
]

# A decimal of at most so many digits is one word of 64 bits; a column may have those of a sum.
MAX_DECIMAL_DIGITS = 18
MAX_SUM_DIGITS = 38
MAX_COLUMNS = 1_000
# A row that is later than this after the clock on the wall has no time that can be believed.
AHEAD_OF_CLOCK_US = 86_400_000_000
BAD_ROW_POLICIES = ("auto", "fail", "set aside")


@dataclass(frozen=True)
class ColumnType:
    """One of the types above; precision and scale count for DECIMAL only.

    parts: of a nested type: the element of an ARRAY, the key and the value of a MAP, the fields of
    a STRUCT, each with its name.
    """

    name: str
    precision: int = 0
    scale: int = 0
    parts: tuple[tuple[str, ColumnType], ...] = ()

    def __str__(self) -> str:
        if self.name == "DECIMAL":
            return f"DECIMAL({self.precision}, {self.scale})"
        if self.name == "STRUCT":
            return f"STRUCT<{', '.join(f'{_quoted(name)}: {kind}' for name, kind in self.parts)}>"
        if self.parts:
            return f"{self.name}<{', '.join(str(kind) for _, kind in self.parts)}>"
        return self.name

    def __repr__(self) -> str:
        # Fingerprints of plans are made of this: a plain type is shown as ever.
        parts = f", parts={self.parts!r}" if self.parts else ""
        plain = f"name={self.name!r}, precision={self.precision!r}, scale={self.scale!r}"
        return f"ColumnType({plain}{parts})"

    @property
    def is_nested(self) -> bool:
        """ARRAY, MAP or STRUCT."""
        return self.name in ("ARRAY", "MAP", "STRUCT")

    @property
    def is_comparable(self) -> bool:
        """Whether values can be compared, grouped and sorted: all but maps and what holds them."""
        return self.name != "MAP" and all(kind.is_comparable for _, kind in self.parts)

    @property
    def is_word(self) -> bool:
        """Whether a value is one word of 64 bits; a STRING is the code of a text."""
        if self.name == "DECIMAL":
            return self.precision <= MAX_DECIMAL_DIGITS
        return not self.parts and self.name != "BINARY"

    @property
    def element(self) -> ColumnType:
        """What an ARRAY holds."""
        return self.parts[0][1]

    @property
    def key(self) -> ColumnType:
        """The keys of a MAP."""
        return self.parts[0][1]

    @property
    def value(self) -> ColumnType:
        """The values of a MAP."""
        return self.parts[1][1]

    def place_of(self, field: str) -> int | None:
        """The place of a field of a STRUCT, its name in any letters; None where there is none."""
        names = [name for name, _ in self.parts]
        if field in names:
            return names.index(field)
        lower = [name.lower() for name in names]
        return lower.index(field.lower()) if field.lower() in lower else None

    @property
    def is_integer(self) -> bool:
        """TINYINT to BIGINT."""
        return self.name in _INTEGER_RANK

    @property
    def is_float(self) -> bool:
        """FLOAT or DOUBLE."""
        return self.name in ("FLOAT", "DOUBLE")

    @property
    def is_numeric(self) -> bool:
        """Any type that SUM takes."""
        return self.is_integer or self.is_float or self.name == "DECIMAL"

    @property
    def is_interval(self) -> bool:
        """A length of time, in microseconds or in months."""
        return self.name in (DAY_TIME, YEAR_MONTH)

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that columns of this type have."""
        if self.name == "DECIMAL":
            return pa.decimal128(self.precision, self.scale)
        if self.name == "ARRAY":
            return pa.list_(self.element.arrow)
        if self.name == "MAP":
            return pa.map_(self.key.arrow, self.value.arrow)
        if self.name == "STRUCT":
            return pa.struct([(name, kind.arrow) for name, kind in self.parts])
        return _ARROW[self.name]

    @property
    def spark(self) -> str:
        """The name in Spark's DDL."""
        if self.name == "STRUCT":
            fields = (f"`{name.replace('`', '``')}`:{kind.spark}" for name, kind in self.parts)
            return f"struct<{','.join(fields)}>"
        if self.parts:
            return f"{self.name.lower()}<{','.join(kind.spark for _, kind in self.parts)}>"
        if self.is_interval:
            return self.name.lower()
        return str(self).replace(" ", "").lower()

    @property
    def duckdb(self) -> str:
        """The name in DuckDB's SQL."""
        if self.name == "ARRAY":
            return f"{self.element.duckdb}[]"
        if self.name == "MAP":
            return f"MAP({self.key.duckdb}, {self.value.duckdb})"
        if self.name == "STRUCT":
            fields = (f'"{name}" {kind.duckdb}' for name, kind in self.parts)
            return f"STRUCT({', '.join(fields)})"
        return _DUCKDB.get(self.name, str(self))


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) else f"`{name}`"


_INTEGER_RANK = {"TINYINT": 1, "SMALLINT": 2, "INT": 3, "BIGINT": 4}
_ARROW = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "DATE": pa.date32(),
    DAY_TIME: pa.duration("us"),
    YEAR_MONTH: pa.int32(),  # pyarrow makes no type of months
}
_DUCKDB = {
    "STRING": "VARCHAR",
    "TIMESTAMP": "TIMESTAMPTZ",
    "TIMESTAMP_NTZ": "TIMESTAMP",
    "INT": "INTEGER",
    "BINARY": "BLOB",
    DAY_TIME: "INTERVAL",
    YEAR_MONTH: "INTERVAL",
}

BOOLEAN = ColumnType("BOOLEAN")
TINYINT = ColumnType("TINYINT")
SMALLINT = ColumnType("SMALLINT")
INT = ColumnType("INT")
BIGINT = ColumnType("BIGINT")
FLOAT = ColumnType("FLOAT")
DOUBLE = ColumnType("DOUBLE")
STRING = ColumnType("STRING")
BINARY = ColumnType("BINARY")
TIMESTAMP = ColumnType("TIMESTAMP")
TIMESTAMP_NTZ = ColumnType("TIMESTAMP_NTZ")
DATE = ColumnType("DATE")
DAY_TIME_INTERVAL = ColumnType(DAY_TIME)
YEAR_MONTH_INTERVAL = ColumnType(YEAR_MONTH)

_NAMES = {
    **{name.lower(): ColumnType(name) for name in _ARROW},
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


def decimal(precision: int, scale: int) -> ColumnType:
    """DECIMAL(precision, scale), of at most 38 digits."""
    return ColumnType("DECIMAL", precision, scale)


def array(element: ColumnType) -> ColumnType:
    """ARRAY<element>."""
    return ColumnType("ARRAY", parts=(("element", element),))


def map_of(key: ColumnType, value: ColumnType) -> ColumnType:
    """MAP<key, value>."""
    return ColumnType("MAP", parts=(("key", key), ("value", value)))


def struct(fields: Mapping[str, ColumnType]) -> ColumnType:
    """STRUCT of these fields."""
    return ColumnType("STRUCT", parts=tuple(fields.items()))


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
        raise _not_a_type(problem) from None


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


def _not_a_type(problem: TypeSyntaxError) -> BindingError:
    code = "WB723" if problem.is_depth else "WB720"
    return BindingError(code, problem.message, hint=problem.hint)


_TYPE_LIST = ", ".join([*_ARROW, "DECIMAL(p, s)", "ARRAY<T>", "MAP<K, V>", "STRUCT<name: T, ...>"])


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
    for name, arrow in _ARROW.items():
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


@dataclass(frozen=True)
class Column:
    """A name and a type."""

    name: str
    type: ColumnType


@dataclass(frozen=True)
class StreamSchema:
    """A stream: its columns, which of them is event time, and how late rows may come.

    on_bad_row: 'fail' refuses what has a row that cannot be held, 'set aside' counts the row and
    goes on, 'auto' sets aside what is damaged (text that is not UTF-8) and refuses the rest.
    max_ahead: rows that are this many microseconds ahead of the others, or of the wall clock,
    are set aside; 'auto': those a day ahead of the clock, 'off': none. bad_rows_into: a folder for
    Parquet files of the bad rows.
    """

    name: str
    columns: tuple[Column, ...]
    time: str
    lateness_us: int = 0
    on_bad_row: str = "auto"
    max_ahead: int | str = "auto"
    bad_rows_into: str | None = None
    options: StreamOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            message = f"stream {self.name!r} has two columns named {twice!r}"
            raise BindingError("WB113", message, hint="give one of them another name")
        if len(names) > MAX_COLUMNS:
            message = f"stream {self.name!r} has more than {MAX_COLUMNS} columns"
            raise BindingError("WB117", message, hint="declare those that queries read")
        if self.time not in names:
            raise BindingError(
                "WB114",
                f"stream {self.name!r} has no column {self.time!r} to take its time from",
                hint=f"its columns are {', '.join(names)}",
            )
        kind = self.column(self.time).type
        is_counted = self.options.unit is not None and (kind.is_integer or kind.is_float)
        if kind == TIMESTAMP_NTZ or is_counted:
            object.__setattr__(self, "columns", _in_utc(self.columns, self.time))
        if self.column(self.time).type != TIMESTAMP:
            raise BindingError(
                "WB115",
                f"the time column {self.time!r} of stream {self.name!r} is "
                f"{self.column(self.time).type}, not TIMESTAMP",
                hint="declare it as timestamp; where it counts from 1970, name the unit too: "
                'unit="s", "ms", "us" or "ns"',
            )
        if self.lateness_us < 0:
            message = f"the lateness of stream {self.name!r} is negative"
            raise BindingError("WB116", message, hint="give 0 or more")
        if self.on_bad_row not in BAD_ROW_POLICIES:
            raise BindingError(
                "WB130",
                f"on_bad_row of stream {self.name!r} cannot be {self.on_bad_row!r}",
                hint=f"give one of {', '.join(map(repr, BAD_ROW_POLICIES))}",
            )

    def declared(self) -> dict[str, Any]:
        """What stream() of a session takes in addition to the name and the columns."""
        ahead = self.max_ahead
        return {
            "time": self.time,
            "lateness": self.lateness_us / 1_000_000,
            "on_bad_row": self.on_bad_row,
            "max_ahead": ahead if isinstance(ahead, str) else timedelta(microseconds=ahead),
            **self.options.declared(),
        }

    def taking_all(self) -> StreamSchema:
        """The same stream without its say about which rows are set aside."""
        return replace(
            self, on_bad_row="auto", max_ahead="auto", bad_rows_into=None, options=NO_OPTIONS
        )

    @property
    def most_ahead_us(self) -> int | None:
        """How far a row may be ahead of the clock on the wall; None: as far as it likes."""
        if isinstance(self.max_ahead, str):
            return AHEAD_OF_CLOCK_US if self.max_ahead == "auto" else None
        return self.max_ahead

    @property
    def most_ahead_of_rows_us(self) -> int | None:
        """How far a row may be ahead of those before it; None: as far as it likes."""
        return None if isinstance(self.max_ahead, str) else self.max_ahead

    @property
    def sets_aside(self) -> bool:
        """Whether a row with a value that does not fit is set aside rather than refused."""
        return self.on_bad_row == "set aside"

    def column(self, name: str) -> Column:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def types(self) -> dict[str, str]:
        """The columns as stream() of a session takes them; Arrow's types do not tell all apart."""
        return {column.name: str(column.type) for column in self.columns}

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema that batches of this stream have."""
        return pa.schema([(column.name, column.type.arrow) for column in self.columns])


def _in_utc(columns: tuple[Column, ...], time: str) -> tuple[Column, ...]:
    """The columns with the time of a row an instant: in UTC, or counted from 1970."""
    return tuple(Column(each.name, TIMESTAMP) if each.name == time else each for each in columns)


def max_ahead_of(value: str | int | float | timedelta | None) -> int | str:
    """How far rows may be ahead, as a stream's schema has it; None is 'off'.

    >>> max_ahead_of("1 minute"), max_ahead_of(None), max_ahead_of("auto")
    (60000000, 'off', 'auto')
    """
    if value is None or value in ("auto", "off"):
        return "off" if value is None else str(value)
    span_us = span_of(value)
    if span_us <= 0:
        message = f"max_ahead cannot be {value!r}"
        raise BindingError("WB131", message, hint='give a span, such as "1 hour", or None')
    return span_us


def columns_of(schema: Mapping[str, str] | str | pa.Schema) -> tuple[Column, ...]:
    """Columns from a mapping of names to types, a DDL text or an Arrow schema.

    >>> [str(column.type) for column in columns_of("location string, price decimal(10, 2)")]
    ['STRING', 'DECIMAL(10, 2)']
    """
    if isinstance(schema, pa.Schema):
        return tuple(Column(field.name, type_of_arrow(field.type)) for field in schema)
    if isinstance(schema, str):
        return _columns_of_ddl(schema)
    if isinstance(schema, Mapping):
        return tuple(Column(name, type_named(kind)) for name, kind in schema.items())
    raise BindingError(
        "WB118",
        f"{type(schema).__name__} is not a schema",
        hint="give a dict of names to types, a DDL text or a pyarrow.Schema",
    )


def _columns_of_ddl(text: str) -> tuple[Column, ...]:
    try:
        listed = columns_in(text)
    except TypeSyntaxError as problem:
        if problem.is_depth:
            raise _not_a_type(problem) from None
        raise BindingError(
            "WB119",
            f"{text.strip()!r} is not a list of columns: {problem.message}",
            hint="write names and types, such as 'location string, items array<int>'",
        ) from None
    return tuple(Column(name, type_meant(kind)) for name, kind in listed)
