"""Column types and stream schemas, with their Arrow, Spark and DuckDB names.

BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s) with p <= 18, STRING,
TIMESTAMP (UTC, microseconds), TIMESTAMP_NTZ (without a zone), DATE, and the intervals DAY TO SECOND
(microseconds) and YEAR TO MONTH (months).
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
from windrow.time_types import DAY_TIME, YEAR_MONTH, time_type_named

__all__ = [
    "BIGINT",
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
    "columns_of",
    "decimal",
    "max_ahead_of",
    "type_named",
    "type_of_arrow",
]

MAX_DECIMAL_DIGITS = 18
MAX_SUM_DIGITS = 38
MAX_COLUMNS = 1_000
# A row that is later than this after the clock on the wall has no time that can be believed.
AHEAD_OF_CLOCK_US = 86_400_000_000
BAD_ROW_POLICIES = ("auto", "fail", "set aside")


@dataclass(frozen=True)
class ColumnType:
    """One of the types above; precision and scale count for DECIMAL only."""

    name: str
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        if self.name == "DECIMAL":
            return f"DECIMAL({self.precision}, {self.scale})"
        return self.name

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
        return _ARROW[self.name]

    @property
    def spark(self) -> str:
        """The name in Spark's DDL."""
        if self.is_interval:
            return self.name.lower()
        return str(self).replace(" ", "").lower()

    @property
    def duckdb(self) -> str:
        """The name in DuckDB's SQL."""
        return _DUCKDB.get(self.name, str(self))


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
    "integer": INT,
    "int32": INT,
    "long": BIGINT,
    "signed": BIGINT,
    "int64": BIGINT,
    "real": FLOAT,
    "float32": FLOAT,
    "float64": DOUBLE,
    "varchar": STRING,
    "text": STRING,
}
_DECIMAL = re.compile(r"(?:decimal|numeric)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\Z")
_COLUMN = re.compile(
    r"\s*`?(\w+)`?[\s:]\s*([\w]+\s*(?:\([\d\s,]*\))?(?:\s+(?!NOT\s)\w+)*)\s*(?:NOT\s+NULL\s*)?\Z",
    re.I,
)


def decimal(precision: int, scale: int) -> ColumnType:
    """DECIMAL(precision, scale); a column has at most 18 digits, a sum at most 38."""
    return ColumnType("DECIMAL", precision, scale)


def type_named(text: str) -> ColumnType:
    """The type that a DDL word names.

    >>> str(type_named("long")), str(type_named("decimal(10, 2)"))
    ('BIGINT', 'DECIMAL(10, 2)')
    """
    word = text.strip().lower()
    if word in _NAMES:
        return _NAMES[word]
    time = time_type_named(word)
    if time is not None:
        return ColumnType(time)
    match = _DECIMAL.match(word)
    if match is None:
        raise BindingError(
            "WB110", f"there is no column type {text.strip()!r}", hint=f"use one of {_TYPE_LIST}"
        )
    return _column_decimal(int(match.group(1) or 10), int(match.group(2) or 0))


_TYPE_LIST = ", ".join([*_ARROW, "DECIMAL(p, s)"])


def _column_decimal(precision: int, scale: int) -> ColumnType:
    if not (0 < precision <= MAX_DECIMAL_DIGITS and 0 <= scale <= precision):
        raise BindingError(
            "WB111",
            f"DECIMAL({precision}, {scale}) is not a column type",
            hint=f"a column holds 1 to {MAX_DECIMAL_DIGITS} digits, at most all of them decimals",
        )
    return decimal(precision, scale)


def type_of_arrow(kind: pa.DataType) -> ColumnType:
    """The column type that holds what an Arrow column of this type holds."""
    if pa.types.is_dictionary(kind):
        return type_of_arrow(kind.value_type)
    if pa.types.is_timestamp(kind):
        return TIMESTAMP
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return STRING
    if pa.types.is_decimal(kind):
        return _column_decimal(kind.precision, kind.scale)
    if pa.types.is_duration(kind):
        return DAY_TIME_INTERVAL
    for name, arrow in _ARROW.items():
        if kind == arrow:
            return ColumnType(name)
    raise BindingError(
        "WB112", f"no column can have the Arrow type {kind}", hint=f"use one of {_TYPE_LIST}"
    )


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
        if self.column(self.time).type == TIMESTAMP_NTZ:
            object.__setattr__(self, "columns", _in_utc(self.columns, self.time))
        if self.column(self.time).type != TIMESTAMP:
            raise BindingError(
                "WB115",
                f"the time column {self.time!r} of stream {self.name!r} is "
                f"{self.column(self.time).type}, not TIMESTAMP",
                hint="declare it as timestamp; "
                "integers are not guessed to be seconds or microseconds",
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
        }

    def taking_all(self) -> StreamSchema:
        """The same stream without its say about which rows are set aside."""
        return replace(self, on_bad_row="auto", max_ahead="auto", bad_rows_into=None)

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
    def arrow(self) -> pa.Schema:
        """The Arrow schema that batches of this stream have."""
        return pa.schema([(column.name, column.type.arrow) for column in self.columns])


def _in_utc(columns: tuple[Column, ...], time: str) -> tuple[Column, ...]:
    """The columns with the time of a row an instant: one without a zone counts as UTC."""
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
        return tuple(_column_of_ddl(part) for part in _split_outside_brackets(schema))
    if isinstance(schema, Mapping):
        return tuple(Column(name, type_named(kind)) for name, kind in schema.items())
    raise BindingError(
        "WB118",
        f"{type(schema).__name__} is not a schema",
        hint="give a dict of names to types, a DDL text or a pyarrow.Schema",
    )


def _split_outside_brackets(text: str) -> list[str]:
    return [part for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _column_of_ddl(part: str) -> Column:
    match = _COLUMN.match(part)
    if match is None:
        raise BindingError(
            "WB119",
            f"{part.strip()!r} is not a column declaration",
            hint="write a name and a type, such as 'location string'",
        )
    return Column(match.group(1), type_named(match.group(2)))
