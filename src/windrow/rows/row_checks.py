"""What is known of a value by its Python type: whether a column surely holds it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from windrow.errors import BindingError
from windrow.event_time import instant_of
from windrow.rows.epoch_times import instant_of_number, is_in_microseconds
from windrow.schema import ColumnType, StreamSchema
from windrow.time_types import DAY_TIME, YEAR_MONTH

__all__ = ["UNFIT", "Check", "checks_of_stream", "checks_of_type"]

# It fits, or does so within bounds, or as a function says.
Check = bool | tuple[int, int] | Callable[[Any], Any]
UNFIT = object()
_NO_CHECKS: dict[type, Check] = {}


def checks_of_stream(stream: StreamSchema) -> dict[str, dict[type, Check]]:
    """By the name of a column and the type of a value, what is known of it."""
    checks = {column.name: checks_of_type(column.type) for column in stream.columns}
    checks[stream.time] |= _counted_times(stream.options.unit)
    return checks


def checks_of_type(kind: ColumnType) -> dict[type, Check]:
    """By the type of a value, whether it surely fits a column."""
    if kind.is_integer:
        half = 1 << (kind.arrow.bit_width - 1)
        found: dict[type, Check] = {int: (-half, half - 1)}
    elif kind.is_float:
        whole = 1 << (53 if kind.name == "DOUBLE" else 24)
        found = {float: True, int: (-whole, whole)}
    elif kind.name == "DECIMAL":
        most = 10 ** (kind.precision - kind.scale) - 1
        found = {int: (-most, most), Decimal: partial(_decimal, kind.precision, kind.scale)}
    else:
        found = dict(_CHECKS.get(kind.name, _NO_CHECKS))
    return {type(None): True, **found}


def _counted_times(unit: str | None) -> dict[type, Check]:
    """Times that are numbers are instants by their unit; others conversion.py refuses."""
    if unit is None:
        return {int: _microseconds, float: False}
    return dict.fromkeys([int, float], partial(instant_of_number, unit=unit))


def _microseconds(value: int) -> Any:
    return value if is_in_microseconds(value) else UNFIT


def _text(value: str) -> Any:
    """A text without lone surrogates, which no column can hold."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return UNFIT
    return value


def _moment(value: datetime) -> Any:
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def _on_the_wall(value: datetime) -> Any:
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _length(value: timedelta) -> Any:
    return value if -_MOST_DAYS < value.days < _MOST_DAYS else UNFIT


def _instant(text: str) -> Any:
    try:
        return instant_of(text)
    except BindingError:
        return UNFIT


def _decimal(precision: int, scale: int, value: Decimal) -> Any:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):  # NaN and infinities
        return UNFIT
    has_room = -exponent <= scale and len(digits) + exponent <= precision - scale
    return value if has_room else UNFIT


_LONG = 1 << 63
_MOST_DAYS = 106_751_991  # of microseconds in 64 bits
_CHECKS: dict[str, dict[type, Check]] = {
    "BOOLEAN": {bool: True},
    "STRING": {str: _text},
    "BINARY": {bytes: True},
    "TIMESTAMP": {datetime: _moment, int: (-_LONG, _LONG - 1), str: _instant},
    "TIMESTAMP_NTZ": {datetime: _on_the_wall, int: (-_LONG, _LONG - 1), str: _instant},
    "DATE": {date: True},
    DAY_TIME: {timedelta: _length, int: (-_LONG, _LONG - 1)},
    YEAR_MONTH: {int: (-(1 << 31), (1 << 31) - 1)},
}
