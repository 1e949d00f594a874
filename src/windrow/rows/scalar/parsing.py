"""Numbers, truths and times read from text, by the rules of Spark's try_cast: no guess, else NULL.

Blanks around are allowed. Integers take no point or exponent; DOUBLE takes inf, infinity and nan.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import numpy as np

from windrow.rows.scalar.rounding import fit_decimal
from windrow.schema import ColumnType
from windrow.time_types import DAY_TIME, YEAR_MONTH
from windrow.times.interval_texts import read_day_time, read_year_month
from windrow.times.moments import read_date, read_timestamp, read_wall_time
from windrow.times.zones import UTC_ZONE

__all__ = ["parser_of"]

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?\Z")
_SPECIAL = re.compile(r"[+-]?(inf|infinity|nan)\Z", re.I)
_TRUTHS = {
    **dict.fromkeys(["t", "true", "y", "yes", "1"], True),
    **dict.fromkeys(["f", "false", "n", "no", "0"], False),
}


_TIMES: dict[str, Callable[[str], int | None]] = {
    "TIMESTAMP": lambda text: read_timestamp(text, UTC_ZONE),
    "TIMESTAMP_NTZ": read_wall_time,
    "DATE": read_date,
    DAY_TIME: read_day_time,
    YEAR_MONTH: read_year_month,
}


def parser_of(kind: ColumnType) -> Callable[[str | None], object]:
    """The function that reads a text as that type, or as None."""
    if kind.is_integer:
        limits = np.iinfo(kind.arrow.to_pandas_dtype())
        return lambda text: _integer(text, int(limits.min), int(limits.max))
    if kind.is_float:
        return _double
    if kind.name == "DECIMAL":
        return lambda text: _decimal(text, kind)
    if kind.name in _TIMES:
        return lambda text: None if text is None else _TIMES[kind.name](text)
    return _boolean


def _integer(text: str | None, least: int, most: int) -> int | None:
    stripped = (text or "").strip()
    if not _INTEGER.match(stripped):
        return None
    value = int(stripped)
    return value if least <= value <= most else None


def _double(text: str | None) -> float | None:
    stripped = (text or "").strip()
    if _NUMBER.match(stripped) or _SPECIAL.match(stripped):
        return float(stripped)
    return None


def _decimal(text: str | None, kind: ColumnType) -> Decimal | None:
    stripped = (text or "").strip()
    return fit_decimal(Decimal(stripped), kind) if _NUMBER.match(stripped) else None


def _boolean(text: str | None) -> bool | None:
    return _TRUTHS.get((text or "").strip().lower())
