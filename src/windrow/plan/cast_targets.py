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
    "STRING": _NUMBERS | _TIMES | {"BOOLEAN", "BINARY", DAY_TIME, YEAR_MONTH},
    "TIMESTAMP": _NUMBERS | _TIMES | {"STRING"},
    "TIMESTAMP_NTZ": _TIMES | {"STRING"},
    "DATE": _TIMES | {"STRING"},
    DAY_TIME: frozenset(["STRING"]),
    YEAR_MONTH: frozenset(["STRING"]),
    "BINARY": frozenset(["STRING"]),
    **dict.fromkeys(["ARRAY", "MAP", "STRUCT"], frozenset[str]()),
}


def can_cast(source: ColumnType, target: ColumnType) -> bool:
    """Whether CAST leads from one type to the other; of nested types, from part to part."""
    if source.is_nested and source.name == target.name:
        pairs = zip(source.parts, target.parts, strict=False)
        same_count = len(source.parts) == len(target.parts)
        return same_count and all(
            one == other or can_cast(one, other) for (_, one), (_, other) in pairs
        )
    return target.name in CAST_TARGETS[source.name]
