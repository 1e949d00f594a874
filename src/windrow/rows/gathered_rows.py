"""Plain rows that are pushed one by one: checked at once, converted together.

A row is gathered when every value is of a Python type that its column holds without fail; any other
row is converted by itself (conversion.py), which says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from operator import methodcaller
from typing import Any

import pyarrow as pa

from windrow.errors import BindingError
from windrow.event_time import instant_of
from windrow.rows.epoch_times import instant_of_number, is_in_microseconds
from windrow.schema import ColumnType, StreamSchema
from windrow.time_types import DAY_TIME, YEAR_MONTH

__all__ = ["GATHERED_ROWS", "GatheredRows"]

# So many rows are converted together, or those whose texts have so many characters.
GATHERED_ROWS = 4096
GATHERED_CHARACTERS = 1 << 20
# About what one row takes as a dictionary, next to its texts.
GATHERED_ROW_BYTES = 400
# A list of more rows than this is converted by itself.
FEW_ROWS = 16

# What is known of a value by its type: it fits, or does so within bounds, or as a function says.
Check = bool | tuple[int, int] | Callable[[Any], Any]
_UNFIT = object()
_NO_CHECKS: dict[type, Check] = {}


class GatheredRows:
    """The rows of one stream that wait to be converted.

    >>> from windrow.schema import columns_of
    >>> gathered = GatheredRows(StreamSchema("s", columns_of("ts timestamp, x int"), "ts"))
    >>> gathered.take({"ts": datetime(2026, 1, 1), "x": 1}), gathered.take({"x": "one"})
    (True, False)
    >>> gathered.converted()["x"].to_pylist()
    [1]
    """

    def __init__(self, stream: StreamSchema) -> None:
        self._checks = {column.name: _checks_of(column.type) for column in stream.columns}
        self._checks[stream.time] |= _counted_times(stream.options.unit)
        self._columns = [
            (methodcaller("get", each.name), each.type.arrow) for each in stream.columns
        ]
        self._schema = stream.arrow
        self.rows: list[dict[str, Any]] = []
        self.pushes: list[int] = []  # the number of the push of each row
        self._push = 0
        self._characters = 0

    def take(self, rows: Any) -> bool:
        """Gather a row, or a few; False when they are not surely of the stream's types."""
        if type(rows) is dict:
            rows = [rows]
        if type(rows) is not list or len(rows) > FEW_ROWS:
            return False
        fitting = []
        for row in rows:
            fits = type(row) is dict and self._fitting(row)
            if not fits:
                return False
            fitting.append(fits)
        self._push += 1
        self.pushes += [self._push] * len(fitting)
        self.rows += fitting
        for texts in fitting:
            for value in texts.values():
                if type(value) is str:
                    self._characters += len(value)
        return True

    def _fitting(self, row: dict[str, Any]) -> dict[str, Any] | None:
        """The row as it is kept; None where a value may not fit."""
        kept = dict(row)
        for name, value in row.items():
            check = self._checks.get(name, _NO_CHECKS).get(type(value), False)
            if check is True:
                continue
            if type(check) is tuple:
                if check[0] <= value <= check[1]:
                    continue
                return None
            kept[name] = check(value) if callable(check) else _UNFIT
            if kept[name] is _UNFIT:
                return None
        return kept

    @property
    def is_full(self) -> bool:
        """Whether those that wait should be converted now."""
        return self._characters >= GATHERED_CHARACTERS or len(self.rows) >= GATHERED_ROWS

    @property
    def nbytes(self) -> int:
        """About the bytes of the rows."""
        return GATHERED_ROW_BYTES * len(self.rows) + self._characters

    def converted(self) -> pa.RecordBatch:
        """The rows as columns; they stay gathered until they are forgotten."""
        count, arrays = len(self.rows), list[pa.Array]()
        for values_of, kind in self._columns:
            arrays += (pa.array(map(values_of, self.rows), kind, size=count),)
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def forget(self, count: int) -> None:
        """The first rows were taken, or refused."""
        self.rows, self.pushes = self.rows[count:], self.pushes[count:]
        if not self.rows:
            self._characters = 0


def _checks_of(kind: ColumnType) -> dict[type, Check]:
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
    return value if is_in_microseconds(value) else _UNFIT


def _text(value: str) -> Any:
    """A text without lone surrogates, which no column can hold."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return _UNFIT
    return value


def _moment(value: datetime) -> Any:
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def _on_the_wall(value: datetime) -> Any:
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _length(value: timedelta) -> Any:
    return value if -_MOST_DAYS < value.days < _MOST_DAYS else _UNFIT


def _instant(text: str) -> Any:
    try:
        return instant_of(text)
    except BindingError:
        return _UNFIT


def _decimal(precision: int, scale: int, value: Decimal) -> Any:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):  # NaN and infinities
        return _UNFIT
    has_room = -exponent <= scale and len(digits) + exponent <= precision - scale
    return value if has_room else _UNFIT


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
