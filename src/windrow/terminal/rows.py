"""Rows as text: aligned columns for people, one JSON object a line for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

__all__ = ["as_json", "as_lines", "is_number", "json_line", "shown_value"]


def as_lines(table: pa.Table) -> list[str]:
    """A header and one line for each row, the columns aligned.

    >>> as_lines(pa.table({"room": ["kitchen", None], "n": [7, 12]}))
    ['room      n', 'kitchen   7', 'NULL     12']
    """
    columns = []
    for name in table.column_names:
        values = table.column(name).to_pylist()
        texts = [name, *map(shown_value, values)]
        width = max(map(len, texts))
        right = all(map(is_number, values))
        columns.append([text.rjust(width) if right else text.ljust(width) for text in texts])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def as_json(table: pa.Table, **more: object) -> list[str]:
    """One JSON object for each row, behind `more`."""
    return [json_line({**more, **row}) for row in table.to_pylist()]


def json_line(values: Mapping[str, object]) -> str:
    """One line of NDJSON: times in ISO form, spans in seconds; decimals and NaN as text."""
    plain = {name: _plain(value) for name, value in values.items()}
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def is_number(value: object) -> bool:
    """Whether it stands to the right of its column."""
    return value is None or isinstance(value, (int, float, Decimal))


def shown_value(value: object) -> str:
    """A value as people read it."""
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, (date, Decimal)) else value
