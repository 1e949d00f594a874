"""Rows for machines: one JSON object a line."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["as_json", "json_line"]

PIECE_ROWS = 10_000  # are made into lines at a time


def as_json(table: pa.Table, **more: object) -> Iterator[str]:
    """One JSON object for each row, behind `more`; a column with such a name gets another one.

    >>> list(as_json(pa.table({"n": [7], "event": ["a"]}), event="answer"))
    ['{"event": "answer", "n": 7, "event_value": "a"}']
    """
    names = _names(table.column_names, more)
    begin = "".join(f"{_text(name)}: {_text(_plain(value))}, " for name, value in more.items())
    row = "{" + begin.replace("%", "%%") + ", ".join(f"{_percent(name)}: %s" for name in names)
    for start in range(0, table.num_rows, PIECE_ROWS):
        piece = table.slice(start, PIECE_ROWS)
        for values in zip(*map(_texts, piece.columns), strict=True):
            yield row % values + "}"


def json_line(values: Mapping[str, object]) -> str:
    """One line of NDJSON: times in ISO form, spans in seconds; decimals, NaN and bytes as text."""
    return _text({name: _plain(value) for name, value in values.items()})


def _names(columns: Iterable[str], taken: Mapping[str, object]) -> list[str]:
    """The columns by names of their own: a row must not say another thing of its line."""
    names: list[str] = []
    for column in columns:
        name = column
        while name in taken or name in names:
            name += "_value"
        names.append(name)
    return names


def _percent(name: str) -> str:
    return _text(name).replace("%", "%%")


def _texts(column: pa.ChunkedArray) -> list[str]:
    """Each value as JSON writes it; a whole column at once, as there may be millions."""
    if pa.types.is_timestamp(column.type):
        # Of a time without zone Arrow needs no list of zones.
        plain = column.cast(pa.timestamp("us"))
        zone = "Z" if column.type.tz else ""
        shown = pc.strftime(plain, format=f'"%Y-%m-%dT%H:%M:%S{zone}"')
        short = pc.replace_substring(shown, pattern=f'.000000{zone}"', replacement=f'{zone}"')
        texts: list[str] = pc.fill_null(short, "null").to_pylist()
        return texts
    values = column.to_pylist(maps_as_pydicts="lossy")
    if pa.types.is_integer(column.type):
        return ["null" if value is None else str(value) for value in values]
    if pa.types.is_string(column.type):
        return list(map(_text, values))
    return [_text(_plain(value)) for value in values]


def _text(value: Any) -> str:
    text = _ENCODER.encode(value)
    return text if text.isascii() else text.translate(_ENDS_OF_LINES)


# JSON may hold these as they are, but some readers take them for the end of a line.
_ENDS_OF_LINES = {ord(each): f"\\u{ord(each):04x}" for each in "\x85\u2028\u2029"}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def _name(key: object) -> str:
    """Keys of maps are texts in JSON."""
    return key if isinstance(key, str) else _text(_plain(key)).strip('"')


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat() + ("Z" if value.tzinfo else "")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {_name(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, (date, Decimal)) else value
