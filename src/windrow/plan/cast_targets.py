"""Which types can be cast to which."""

from __future__ import annotations

from windrow.schema import ColumnType
from windrow.time_types import DAY_TIME, YEAR_MONTH

__all__ = ["CAST_TARGETS", "can_cast"]

_INTEGERS = frozenset(["TINYINT", "SMALLINT", "INT", "BIGINT"])
_NUMBERS = _INTEGERS | {"FLOAT", "DOUBLE", "DECIMAL"}
CAST_TARGETS = {
    **dict.fromkeys(_INTEGERS, _NUMBERS | {"BOOLEAN", "STRING"}),
    **dict.fromkeys(["FLOAT", "DOUBLE"], _NUMBERS | {"BOOLEAN"}),
    "DECIMAL": _NUMBERS | {"BOOLEAN", "STRING"},
    "BOOLEAN": _NUMBERS | {"STRING"},
    "STRING": _NUMBERS | {"BOOLEAN", "BINARY"},
    "BINARY": frozenset(["STRING"]),
    **dict.fromkeys(["ARRAY", "MAP", "STRUCT"], frozenset[str]()),
    "TIMESTAMP": _NUMBERS - {"DECIMAL"} | {"DATE"},
    "TIMESTAMP_NTZ": frozenset(["DATE"]),
    "DATE": frozenset(["TIMESTAMP", "STRING"]),
    DAY_TIME: frozenset[str](),
    YEAR_MONTH: frozenset[str](),
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
