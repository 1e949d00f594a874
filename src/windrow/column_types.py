"""Column types, with their Arrow, Spark and DuckDB names.

Plain types: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s) with p <= 38,
STRING, BINARY, TIMESTAMP (UTC, microseconds), TIMESTAMP_NTZ (without a zone), DATE, and the
intervals DAY TO SECOND (microseconds) and YEAR TO MONTH (months). Nested ones: ARRAY<T>, MAP<K, V>
and STRUCT<name: T, ...>.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from windrow.time_types import DAY_TIME, YEAR_MONTH

__all__ = [
    "ARROW_TYPES",
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
    "ColumnType",
    "array",
    "decimal",
    "map_of",
    "struct",
]

# A decimal of at most so many digits is one word of 64 bits; a column may have those of a sum.
MAX_DECIMAL_DIGITS = 18
MAX_SUM_DIGITS = 38


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
        return ARROW_TYPES[self.name]

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
ARROW_TYPES = {
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
