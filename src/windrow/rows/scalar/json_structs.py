"""FROM_JSON and TO_JSON: JSON text as values of column types and back; SCHEMA_OF_JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from windrow.rows.scalar.json_texts import (
    Members,
    double_text,
    json_text,
    read_json,
)
from windrow.rows.scalar.rounding import fit_decimal
from windrow.schema import ColumnType
from windrow.times.moments import read_date, read_timestamp, read_wall_time
from windrow.times.zones import UTC_ZONE, zone_named

__all__ = ["schema_text", "value_of_json", "written_json"]

_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_ODD_DOUBLES = {"NaN": "nan", "Infinity": "inf", "+Infinity": "inf", "+INF": "inf", "INF": "inf"}


class _UnfitError(Exception):
    """A value that its type cannot hold: NULL in a field, and so is an array or map around it."""


def value_of_json(text: str, kind: ColumnType, zone: str) -> Any:
    """The value of a type that the text has; a field that does not fit is NULL, as a missing one.

    >>> from windrow.schema import type_named
    >>> value_of_json('{"a": 1, "b": "x"}', type_named("struct<a: int, b: int>"), "UTC")
    {'a': 1, 'b': None}
    """
    if not text.strip():
        return None
    nothing = {name: None for name, _ in kind.parts} if kind.name == "STRUCT" else None
    try:
        value = read_json(text)
        if kind.name == "STRUCT" and isinstance(value, list) and not isinstance(value, Members):
            value = value[0] if len(value) == 1 else None  # an array of one object is that
        found = _fitted(value, kind, zone)
    except (ValueError, _UnfitError):
        return nothing
    return nothing if found is None else found


def _fitted(value: Any, kind: ColumnType, zone: str) -> Any:
    if value is None:
        return None
    if kind.name == "STRUCT":
        return _struct(value, kind, zone)
    if kind.name == "ARRAY":
        if not isinstance(value, list) or isinstance(value, Members):
            raise _UnfitError
        return [_fitted(each, kind.element, zone) for each in value]
    if kind.name == "MAP":
        if not isinstance(value, Members) or kind.key.name != "STRING":
            raise _UnfitError
        return [(name, _fitted(each, kind.value, zone)) for name, each in value]
    found = _plain(value, kind, zone)
    if found is None:
        raise _UnfitError
    return found


def _struct(value: Any, kind: ColumnType, zone: str) -> dict[str, Any]:
    if not isinstance(value, Members):
        raise _UnfitError
    members, found = dict(value), dict[str, Any]()
    for name, part in kind.parts:
        try:
            found[name] = _fitted(members.get(name), part, zone)
        except _UnfitError:
            found[name] = None
    return found


def _plain(value: Any, kind: ColumnType, zone: str) -> Any:
    if kind.name == "STRING":
        return value if isinstance(value, str) else json_text(value)
    if kind.name == "BOOLEAN":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool):
        return None
    if kind.is_integer:
        half = 1 << (_INTEGER_BITS[kind.name] - 1)
        return value if isinstance(value, int) and -half <= value < half else None
    if kind.is_float:
        return _double(value)
    if kind.name == "DECIMAL":
        return _decimal(value, kind)
    if not isinstance(value, str):
        return None
    return _TIMES[kind.name](value, zone) if kind.name in _TIMES else None


def _decimal(value: Any, kind: ColumnType) -> Decimal | None:
    try:
        return fit_decimal(Decimal(value if isinstance(value, str) else repr(value)), kind)
    except ArithmeticError:
        return None


def _double(value: Any) -> float | None:
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, str):
        return None
    sign, word = (-1.0, value[1:]) if value.startswith("-") else (1.0, value)
    return sign * float(_ODD_DOUBLES[word]) if word in _ODD_DOUBLES else None


_TIMES: dict[str, Callable[[str, str], int | None]] = {
    "TIMESTAMP": lambda text, zone: read_timestamp(text, zone_named(zone) or UTC_ZONE),
    "TIMESTAMP_NTZ": lambda text, _zone: read_wall_time(text),
    "DATE": lambda text, _zone: read_date(text),
}


def written_json(value: Any, kind: ColumnType, zone: str) -> str:
    """The value as JSON; members that are NULL are left out."""
    if value is None:
        return "null"
    if kind.name == "STRUCT":
        parts = [(name, value[name], part) for name, part in kind.parts]
        return _object([each for each in parts if each[1] is not None], zone)
    if kind.name == "MAP":
        pairs = [(str(name), each, kind.value) for name, each in value]
        return _object(pairs, zone)
    if kind.name == "ARRAY":
        return f"[{','.join(written_json(each, kind.element, zone) for each in value)}]"
    return _written(value, zone)


def _object(parts: list[tuple[str, Any, ColumnType]], zone: str) -> str:
    inner = (
        f"{json.dumps(name, ensure_ascii=False)}:{written_json(each, part, zone)}"
        for name, each, part in parts
    )
    return f"{{{','.join(inner)}}}"


def _written(value: Any, zone: str) -> str:
    if isinstance(value, datetime):
        return json.dumps(_time_text(value, zone))
    if isinstance(value, date):
        return json.dumps(value.isoformat())
    if isinstance(value, bytes):
        return json.dumps(base64.b64encode(value).decode())
    return double_text(value) if isinstance(value, float) else json_text(value)


def _time_text(value: datetime, zone: str) -> str:
    if value.tzinfo is None:
        return value.isoformat(timespec="milliseconds")
    rules = (zone_named(zone) or UTC_ZONE).rules
    local = value.astimezone(rules).isoformat(timespec="milliseconds")
    return f"{local.removesuffix('+00:00')}Z" if local.endswith("+00:00") else local


def schema_text(text: str) -> str | None:
    """The type of a JSON text, as DDL; None where it is not JSON."""
    try:
        return _type_text(read_json(text))
    except ValueError:
        return None


def _type_text(value: Any) -> str:
    if isinstance(value, Members):
        inner = (f"{name}: {_type_text(each)}" for name, each in sorted(dict(value).items()))
        return f"STRUCT<{', '.join(inner)}>"
    if isinstance(value, list):
        kinds = list(dict.fromkeys(_type_text(each) for each in value if each is not None))
        return f"ARRAY<{_common(kinds)}>"
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "BIGINT" if -(2**63) <= value < 2**63 else f"DECIMAL({len(str(abs(value)))},0)"
    return "DOUBLE" if isinstance(value, float) else "STRING"


def _common(kinds: list[str]) -> str:
    if len(kinds) <= 1:
        return kinds[0] if kinds else "STRING"
    return "DOUBLE" if set(kinds) <= {"BIGINT", "DOUBLE"} else "STRING"
