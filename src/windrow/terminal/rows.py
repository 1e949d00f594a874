"""Rows as text: aligned columns for people, one JSON object a line for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

__all__ = ["as_json", "as_lines", "json_line"]


def as_lines(table: pa.Table) -> list[str]:
    """A header and one line for each row, the columns aligned.

    >>> as_lines(pa.table({"room": ["kitchen", None], "n": [7, 12]}))
    ['room      n', 'kitchen   7', 'NULL     12']
    """
    columns = []
    for name in table.column_names:
        values = table.column(name).to_pylist()
        texts = [name, *map(_text, values)]
        width = max(map(len, texts))
        right = all(isinstance(value, (int, float, Decimal, type(None))) for value in values)
        columns.append([text.rjust(width) if right else text.ljust(width) for text in texts])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def as_json(table: pa.Table, **more: object) -> list[str]:
    """One JSON object for each row, behind `more`."""
    return [json_line({**more, **row}) for row in table.to_pylist()]


def json_line(values: Mapping[str, object]) -> str:
    """One line of NDJSON; times in ISO form, decimals as text, NaN and infinities as text."""
    plain = {name: _plain(value) for name, value in values.items()}
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def _text(value: object) -> str:
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
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, (date, Decimal)) else value
