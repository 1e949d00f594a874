"""Lengths of time that are given as texts, as SQL writes them."""

from __future__ import annotations

import pyarrow as pa

from windrow.schema import DAY_TIME_INTERVAL, ColumnType
from windrow.times.interval_texts import read_day_time, read_year_month

__all__ = ["interval_column", "interval_value"]


def interval_value(kind: ColumnType, text: str) -> int:
    """The microseconds, or the months, that a text says; a ValueError where it says none.

    >>> interval_value(DAY_TIME_INTERVAL, "1 00:00:01")
    86401000000
    """
    read = read_day_time if kind == DAY_TIME_INTERVAL else read_year_month
    found = read(text)
    if found is None and kind != DAY_TIME_INTERVAL:
        found = int(text)  # a number of months, as columns of this type hold them
    if found is None:
        raise ValueError(f"{text!r} is not {kind}")
    return found


def interval_column(kind: ColumnType, texts: pa.Array) -> pa.Array:
    """A column of texts as lengths; NULL for NULL."""
    values = [None if text is None else interval_value(kind, text) for text in texts.to_pylist()]
    return pa.array(values, pa.int64()).cast(kind.arrow)
