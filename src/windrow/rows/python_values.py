"""Values of Python as an Arrow column of a stream's type: what a table may hold, a list may."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import BindingError
from windrow.event_time import instant_of
from windrow.rows.arrow_columns import column_as
from windrow.rows.interval_values import interval_value
from windrow.rows.nested_columns import nested_of_python
from windrow.schema import BINARY, DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, ColumnType

__all__ = ["array_of"]


def array_of(kind: ColumnType, values: list[Any]) -> pa.Array:
    """The values as a column; what cannot be one raises an error of Arrow's or of Python's.

    >>> from windrow.schema import DATE
    >>> array_of(DATE, ["2026-01-01", None]).to_pylist()
    [datetime.date(2026, 1, 1), None]
    """
    values = _without_missing(values)
    if kind.is_nested:
        return nested_of_python(kind, values, array_of)
    if kind == BINARY:
        values = [_bytes(value) for value in values]
    if kind == TIMESTAMP:
        values = [_moment(value) for value in values]
    elif kind == TIMESTAMP_NTZ:
        values = [_on_the_wall(value) for value in values]
    elif kind == DATE:
        values = [_in_utc(value) for value in values]
    elif kind.is_integer:
        _check_whole(values)
    elif kind.is_interval:
        values = [interval_value(kind, x) if isinstance(x, str) else x for x in values]
    try:
        return pa.array(values, kind.arrow)
    except (pa.ArrowException, TypeError):
        converted = _read_as_in_a_table(kind, values)
        if converted is None:
            raise
        return pa.array(converted, kind.arrow)


def _without_missing(values: list[Any]) -> list[Any]:
    """Missing values as pandas has them, which only its own arrays may hold, as NULL."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return values
    no_time, nothing = getattr(pandas, "NaT", None), getattr(pandas, "NA", None)
    return [None if value is no_time or value is nothing else value for value in values]


def _read_as_in_a_table(kind: ColumnType, values: list[Any]) -> list[Any] | None:
    """With texts of numbers and dates, floats and decimals read; None: there are none to read."""
    odd: tuple[type, ...] = () if kind in (STRING, TIMESTAMP, TIMESTAMP_NTZ) else (str,)
    if kind.name == "DECIMAL":
        odd += (float,)
    elif kind.is_float:
        odd += (Decimal,)
    out, found = list(values), False
    for each in odd:
        places = [place for place, value in enumerate(values) if isinstance(value, each)]
        if places:
            read = column_as(kind, pa.array([values[place] for place in places])).to_pylist()
            for place, value in zip(places, read, strict=True):
                out[place] = value
            found = True
    return out if found else None


def _bytes(value: Any) -> Any:
    # Arrow would take a text for its letters in UTF-8.
    if isinstance(value, str):
        raise TypeError(f"{value!r} is a text, not bytes")
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


def _check_whole(values: list[Any]) -> None:
    # Arrow would cut 1.5 down to 1 without a word.
    for value in values:
        if isinstance(value, float) and not value.is_integer():
            raise ValueError(f"{value!r} is not a whole number")


def _moment(value: Any) -> Any:
    if isinstance(value, str):
        return _instant(value)
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    if isinstance(value, (float, bool)):
        # Arrow would take time.time() for microseconds, without its fraction.
        raise ValueError(f"{value!r} is not a time")
    return value


def _on_the_wall(value: Any) -> Any:
    """What a clock shows at the moment; one in another zone is read off in UTC."""
    moment = _moment(value)
    if isinstance(moment, datetime):
        return moment.astimezone(UTC).replace(tzinfo=None)
    return moment


def _instant(text: str) -> int:
    try:
        return instant_of(text)
    except BindingError as problem:
        raise ValueError(problem.message) from None


def _in_utc(value: Any) -> Any:
    """A moment has the date that it has in UTC, whatever zone it is written in."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    return value.astype("datetime64[D]").item() if isinstance(value, np.datetime64) else value
