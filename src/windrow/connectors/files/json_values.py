"""Values of JSON that Arrow's reader does not know: maps, base64 text as bytes, intervals."""

from __future__ import annotations

import base64
import json
from typing import Any

import pyarrow as pa

from windrow.rows.python_values import array_of
from windrow.schema import Column, ColumnType

__all__ = ["is_beyond_arrow", "json_columns"]


def is_beyond_arrow(kind: ColumnType) -> bool:
    """Whether a column of the type is read by Python: it is or holds a map, bytes or intervals."""
    is_beyond = kind.name in ("MAP", "BINARY") or kind.is_interval
    return is_beyond or any(is_beyond_arrow(part) for _, part in kind.parts)


def json_columns(data: bytes, columns: list[Column]) -> dict[str, pa.Array]:
    """The columns of lines of JSON, one object a line."""
    lines = [json.loads(line) for line in data.splitlines() if line.strip()]
    rows = [{} if line is None else line for line in lines]
    return {
        each.name: array_of(each.type, [_value(each.type, row.get(each.name)) for row in rows])
        for each in columns
    }


def _value(kind: ColumnType, value: Any) -> Any:
    """The value with its bytes decoded; what is of another type is left for others to refuse."""
    if value is None:
        return None
    if kind.name == "BINARY":
        return base64.b64decode(value, validate=True)
    if kind.name == "ARRAY" and isinstance(value, list):
        return [_value(kind.element, each) for each in value]
    if kind.name == "MAP" and isinstance(value, dict):
        return {_key(kind.key, key): _value(kind.value, each) for key, each in value.items()}
    if kind.name == "STRUCT" and isinstance(value, dict):
        known = {name.lower(): part for name, part in kind.parts}
        return {
            name: _value(known[name.lower()], each)
            for name, each in value.items()
            if name.lower() in known
        }
    return value


def _key(kind: ColumnType, key: str) -> Any:
    """Keys of JSON are texts, whatever the keys of the map are."""
    if kind.name == "BOOLEAN":
        return {"true": True, "false": False}[key]
    return int(key) if kind.is_integer else key
