"""Stream schemas: columns with their types, which of them is event time, and how rows come.

The types themselves are in column_types.py, how they are named in type_names.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pyarrow as pa

from windrow.column_types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DAY_TIME_INTERVAL,
    DOUBLE,
    FLOAT,
    INT,
    MAX_DECIMAL_DIGITS,
    MAX_SUM_DIGITS,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    YEAR_MONTH_INTERVAL,
    ColumnType,
    array,
    decimal,
    map_of,
    struct,
)
from windrow.errors import BindingError
from windrow.event_time import span_of
from windrow.stream_options import NO_OPTIONS, StreamOptions
from windrow.type_names import not_a_type, type_meant, type_named, type_of_arrow
from windrow.type_syntax import TypeSyntaxError, columns_in

__all__ = [
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "DATE",
    "DAY_TIME_INTERVAL",
    "DOUBLE",
    "FLOAT",
    "INT",
    "MAX_DECIMAL_DIGITS",
    "MAX_SUM_DIGITS",
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

MAX_COLUMNS = 1_000
# A row that is later than this after the clock on the wall has no time that can be believed.
AHEAD_OF_CLOCK_US = 86_400_000_000
BAD_ROW_POLICIES = ("auto", "fail", "set aside")


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
            raise not_a_type(problem) from None
        raise BindingError(
            "WB119",
            f"{text.strip()!r} is not a list of columns: {problem.message}",
            hint="write names and types, such as 'location string, items array<int>'",
        ) from None
    return tuple(Column(name, type_meant(kind)) for name, kind in listed)
