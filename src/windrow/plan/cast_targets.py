"""Which types can be cast to which."""

from __future__ import annotations

from windrow.schema import ColumnType
from windrow.time_types import DAY_TIME, YEAR_MONTH

__all__ = ["CAST_TARGETS", "can_cast"]

_INTEGERS = frozenset(["TINYINT", "SMALLINT", "INT", "BIGINT"])
_NUMBERS = _INTEGERS | {"FLOAT", "DOUBLE", "DECIMAL"}
_TIMES = frozenset(["TIMESTAMP", "TIMESTAMP_NTZ", "DATE"])
CAST_TARGETS = {
    **dict.fromkeys(_INTEGERS, _NUMBERS | {"BOOLEAN", "STRING", "TIMESTAMP"}),
    **dict.fromkeys(["FLOAT", "DOUBLE"], _NUMBERS | {"BOOLEAN", "TIMESTAMP"}),
    "DECIMAL": _NUMBERS | {"BOOLEAN", "STRING", "TIMESTAMP"},
    "BOOLEAN": _NUMBERS | {"STRING"},
    "STRING": _NUMBERS | _TIMES | {"BOOLEAN", DAY_TIME, YEAR_MONTH},
    "TIMESTAMP": _NUMBERS | _TIMES | {"STRING"},
    "TIMESTAMP_NTZ": _TIMES | {"STRING"},
    "DATE": _TIMES | {"STRING"},
    DAY_TIME: frozenset(["STRING"]),
    YEAR_MONTH: frozenset(["STRING"]),
}


def can_cast(source: ColumnType, target: ColumnType) -> bool:
    """Whether CAST leads from one type to the other."""
    return target.name in CAST_TARGETS[source.name]
