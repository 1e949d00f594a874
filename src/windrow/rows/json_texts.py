"""Nested values as texts of JSON, as Spark's TO_JSON writes them."""

from __future__ import annotations

import base64
import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from windrow.times.interval_texts import day_time_text

__all__ = ["json_texts", "shown_nested", "with_texts"]

_MICROSECOND = timedelta(microseconds=1)


def json_texts(column: pa.Array | pa.ChunkedArray, *, is_compact: bool = False) -> list[str | None]:
    """A text for each value; None for NULL. is_compact: without spaces, as Spark writes records.

    >>> json_texts(pa.array([{"a": [1, None], "b": b"x"}, None]))
    ['{"a": [1, null], "b": "eA=="}', None]
    """
    values = column.to_pylist(maps_as_pydicts="lossy")
    marks = (",", ":") if is_compact else (", ", ": ")
    return [None if value is None else _text(value, marks) for value in values]


def shown_nested(column: pa.Array | pa.ChunkedArray) -> list[str | None]:
    r"""Nested values as JSON and bytes in hexadecimal digits, for people to read.

    >>> shown_nested(pa.array([b"\x00\xff"]))
    ['00FF']
    """
    if pa.types.is_binary(column.type):
        return [None if value is None else value.hex().upper() for value in column.to_pylist()]
    return json_texts(column)


def with_texts(table: pa.Table) -> pa.Table:
    """The table with nested values and bytes as texts for people."""
    for place, field in enumerate(table.schema):
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
            texts = pa.array(shown_nested(table.column(place)), pa.string())
            table = table.set_column(place, field.name, texts)
    return table


def _text(value: Any, marks: tuple[str, str]) -> str:
    """The value as JSON; numbers keep all their digits."""
    if isinstance(value, dict):
        pairs = (f"{_key(key)}{marks[1]}{_text(each, marks)}" for key, each in value.items())
        return f"{{{marks[0].join(pairs)}}}"
    if isinstance(value, list):
        return f"[{marks[0].join(_text(each, marks) for each in value)}]"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not math.isfinite(value):
        value = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if value is not None and not isinstance(value, bool | int | float | str):
        value = _shown(value)
    return json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    """Bytes, times and lengths of time as texts."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, timedelta):
        return day_time_text(value // _MICROSECOND)
    if isinstance(value, datetime):
        shown = value if value.tzinfo is None else value.astimezone(UTC)
        return shown.isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert isinstance(value, date)
    return value.isoformat()


def _key(key: Any) -> str:
    """Keys of JSON are texts."""
    text = _text(key, (", ", ": "))
    return text if text.startswith('"') else json.dumps(text, ensure_ascii=False)
