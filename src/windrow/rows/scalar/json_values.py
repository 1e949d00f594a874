"""Functions of JSON text: each different text is read once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.json_paths import found_values, read_path, text_at
from windrow.rows.scalar.json_structs import schema_text, value_of_json, written_json
from windrow.rows.scalar.json_texts import Members, json_text, read_json
from windrow.rows.scalar.values import Function, per_value
from windrow.schema import ColumnType, type_named

__all__ = ["JSON"]


def _at(text: str, path: str) -> str | None:
    steps = read_path(path)
    if steps is None:
        return None
    try:
        return text_at(read_json(text), steps)
    except ValueError:
        return None


def _values(text: str, path: str) -> list[Any]:
    steps = read_path(path.removeprefix("lax ").removeprefix("strict ").strip())
    try:
        return [] if steps is None else found_values(read_json(text), steps)
    except ValueError:
        return []


def _scalar_at(text: str, path: str) -> str | None:
    found = _values(text, path)
    if len(found) != 1 or found[0] is None or isinstance(found[0], list):
        return None
    return found[0] if isinstance(found[0], str) else json_text(found[0])


def _nested_at(text: str, path: str) -> str | None:
    found = _values(text, path)
    return json_text(found[0]) if len(found) == 1 and isinstance(found[0], list) else None


def _length(text: str) -> int | None:
    try:
        value = read_json(text)
    except ValueError:
        return None
    return len(value) if isinstance(value, list) and not isinstance(value, Members) else None


def _keys(text: str) -> list[str] | None:
    try:
        value = read_json(text)
    except ValueError:
        return None
    return [name for name, _ in value] if isinstance(value, Members) else None


def _from_json(arguments: list[Any], kind: ColumnType) -> Any:
    return per_value(lambda text, zone: value_of_json(text, kind, zone))(arguments, kind)


def _to_json(arguments: list[Any], kind: ColumnType) -> Any:
    """arguments: the value, its type as DDL, and the zone."""
    source, zone = type_named(arguments[1].as_py()), arguments[2].as_py()
    value = arguments[0]
    if isinstance(value, pa.Scalar):
        shown = value.as_py()
        return pa.scalar(None if shown is None else written_json(shown, source, zone), kind.arrow)
    rows = value.to_pylist()
    found = np.array([None if row is None else written_json(row, source, zone) for row in rows])
    return pa.array(found.tolist(), kind.arrow)


JSON: dict[str, Function] = {
    "get_json_object": per_value(_at),
    "json_value": per_value(_scalar_at),
    "json_query": per_value(_nested_at),
    "json_exists": per_value(lambda text, path: bool(_values(text, path))),
    "json_array_length": per_value(_length),
    "json_object_keys": per_value(_keys),
    "schema_of_json": per_value(schema_text),
    "from_json": _from_json,
    "to_json": _to_json,
}
