"""Timestamps: from and to epochs and zones, truncated, counted and made of their parts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.dates import make_day, truncated_days
from windrow.rows.scalar.intervals import INTERVALS
from windrow.rows.scalar.time_columns import column_of, days, integers, micros, of_times, zone_of
from windrow.rows.scalar.values import (
    Checked,
    Function,
    NoValueError,
    as_array,
    over_arrays,
    per_value,
)
from windrow.schema import BIGINT, ColumnType
from windrow.times.civil import DAY_US, civil
from windrow.times.zones import Zone, zone_named

__all__ = ["TIMESTAMPS"]

_SECOND_US = 1_000_000
_UNITS_US = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": _SECOND_US,
    "MINUTE": 60 * _SECOND_US,
    "HOUR": 3600 * _SECOND_US,
    "DAY": DAY_US,
    "WEEK": 7 * DAY_US,
}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def _to_wall(arguments: list[Any], kind: ColumnType) -> Any:
    zone = zone_of(arguments[1])
    apply = over_arrays(
        lambda columns, kind: column_of(zone.local(micros(columns[0])), kind, columns)
    )
    return apply(arguments[:1], kind)


def _to_instant(arguments: list[Any], kind: ColumnType) -> Any:
    zone = zone_of(arguments[1])
    apply = over_arrays(
        lambda columns, kind: column_of(zone.instant(micros(columns[0])), kind, columns)
    )
    return apply(arguments[:1], kind)


def _shifted(*, to_zone: bool) -> Function:
    """from_utc_timestamp and to_utc_timestamp; a zone that does not exist is a fault."""

    def shift(zone: Zone, moments: Any) -> Any:
        return zone.local(moments) if to_zone else zone.instant(moments)

    return _in_zones(shift, 1)


def _in_zones(shift: Any, at: int) -> Function:
    """A function of times and a zone that may differ from row to row."""

    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        times = arguments[0]
        length = len(times) if not isinstance(times, pa.Scalar) else None
        zones = arguments[at]
        if not isinstance(zones, pa.Scalar):
            length = len(zones)
        columns = [as_array(times, length or 1), as_array(zones, length or 1)]
        moments, encoded = micros(columns[0]), columns[1].dictionary_encode()
        names = encoded.dictionary.to_pylist()
        places = integers(encoded.indices)
        found, faults = moments.copy(), np.zeros(len(moments), np.bool_)
        for place, name in enumerate(names):
            zone, rows = zone_named(name), places == place
            if zone is None:
                faults |= rows
            else:
                found[rows] = shift(zone, moments[rows])
        faults &= column_valid(columns)
        result = column_of(found, kind, columns, ~faults)
        return Checked(
            result if length is not None else result[0], faults if faults.any() else None
        )

    return apply


def column_valid(columns: list[pa.Array]) -> Any:
    """Where no column is NULL."""
    valid = np.ones(len(columns[0]), np.bool_)
    for column in columns:
        if column.null_count:
            valid &= column.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _convert(arguments: list[Any], kind: ColumnType) -> Any:
    """convert_timezone(from, to, time): by way of the instant."""
    source, target, wall = arguments
    instants = _in_zones(lambda zone, moments: zone.instant(moments), 1)([wall, source], kind)
    shown = _in_zones(lambda zone, moments: zone.local(moments), 1)([instants.value, target], kind)
    faults = [each for each in (instants.faults, shown.faults) if each is not None]
    return Checked(shown.value, np.logical_or.reduce(faults) if faults else None)


def _date_trunc(arguments: list[Any], kind: ColumnType) -> Any:
    unit = arguments[0].as_py()
    zone = zone_of(arguments[2]) if len(arguments) > 2 else None

    def apply(columns: list[Any], kind: ColumnType) -> Any:
        moments = micros(columns[0])
        size = _UNITS_US.get(unit, 0)
        if zone is None or 0 < size <= _SECOND_US:
            return column_of(_truncated(moments, unit), kind, columns)
        offset = zone.offset(moments)
        wall = _truncated(moments + offset, unit)
        # Hours and days keep the offset where clocks show the time twice; months are dates.
        kept = offset if unit in ("MINUTE", "HOUR", "DAY") else None
        return column_of(zone.instant(wall, kept), kind, columns)

    if unit is None:
        return pa.scalar(None, kind.arrow)
    return over_arrays(apply)(arguments[1:2], kind)


def _truncated(moments: Any, unit: str) -> Any:
    size = _UNITS_US.get(unit)
    if size is not None and unit != "WEEK":
        return moments - np.mod(moments, size)
    return truncated_days(np.floor_divide(moments, DAY_US), unit) * DAY_US


def _date_ceil(arguments: list[Any], kind: ColumnType) -> Any:
    """The least start of a unit that is not before the time."""
    down = _date_trunc(arguments, kind)
    unit = arguments[0].as_py()
    zone = list(arguments[2:])
    if unit in _MONTHS:
        step = pa.scalar(_MONTHS[unit], pa.int32())
        name = "plus_months_in_zone" if zone else "plus_months"
    else:
        step = pa.scalar(_UNITS_US[unit], pa.duration("us"))
        name = "plus_span_in_zone" if zone else "plus_span"
    up = INTERVALS[name]([down, step, *zone], kind)

    def choose(columns: list[Any], kind: ColumnType) -> Any:
        given, low, high = (micros(column) for column in columns)
        return column_of(np.where(given == low, low, high), kind, columns)

    return over_arrays(choose)([arguments[1], down, up], kind)


@over_arrays
def _months_apart(columns: list[Any], _kind: ColumnType) -> Any:
    """Whole months by java.time: the last day counts if its time of day is reached."""
    start, end = (micros(column) for column in columns[:2])
    day, end_day = (np.floor_divide(each, DAY_US) for each in (start, end))
    of_day, end_of_day = np.mod(start, DAY_US), np.mod(end, DAY_US)
    end_day = end_day - ((end_day > day) & (end_of_day < of_day))
    end_day = end_day + ((end_day < day) & (end_of_day > of_day))
    packed, end_packed = (
        (year * 12 + month) * 32 + day for year, month, day in map(civil, (day, end_day))
    )
    apart = end_packed - packed
    months = np.sign(apart) * (np.abs(apart) // 32)
    size = integers(columns[2])
    return column_of(np.sign(months) * (np.abs(months) // size), BIGINT, columns)


def _timestampdiff(arguments: list[Any], kind: ColumnType) -> Any:
    """Whole units from the first time to the second, cut off towards 0."""
    unit = arguments[0].as_py()
    if unit in _MONTHS:
        return _months_apart([*arguments[1:3], pa.scalar(_MONTHS[unit])], kind)
    size = _UNITS_US[unit]

    def apply(columns: list[Any], kind: ColumnType) -> Any:
        start, end = (micros(column) for column in columns)
        apart = end - start
        return column_of(np.sign(apart) * (np.abs(apart) // size), kind, columns)

    return over_arrays(apply)(arguments[1:3], kind)


def _scaled(factor: int) -> Function:
    """Integers of a coarser unit as microseconds; beyond 64 bits a fault."""

    @over_arrays
    def apply(columns: list[Any], kind: ColumnType) -> Any:
        values = integers(columns[0])
        most = (2**63 - 1) // factor
        return column_of(values * factor, kind, columns, (values <= most) & (values >= -most))

    return apply


def _seconds_of_number(value: float | Decimal) -> int | None:
    """Fractions of a second are cut off at the microsecond."""
    exact = Decimal(value)
    if not exact.is_finite():
        raise NoValueError
    if isinstance(value, Decimal) and exact * _SECOND_US % 1:
        raise NoValueError  # Spark does not round here
    # Spark multiplies a double by a million as a double.
    found = int(value * 1_000_000.0) if isinstance(value, float) else int(exact * _SECOND_US)
    if not -(2**63) <= found < 2**63:
        raise NoValueError
    return found


def _timestamp_seconds(arguments: list[Any], kind: ColumnType) -> Any:
    if pa.types.is_integer(arguments[0].type):
        return _scaled(_SECOND_US)(arguments, kind)
    found = per_value(_seconds_of_number)(arguments, BIGINT)
    return Checked(_viewed(found.value, kind), found.faults)


def _viewed(value: Any, kind: ColumnType) -> Any:
    if isinstance(value, pa.Scalar):
        return pa.scalar(value.as_py(), kind.arrow)
    return value.view(kind.arrow)


def _wall_of_parts(year: int, month: int, day: int, hour: int, minute: int, second: Decimal) -> int:
    """A time of its parts; 60 seconds are the next minute, as in Spark."""
    if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 60):
        raise NoValueError
    if second > 60 or (int(second) == 60 and second != 60):
        raise NoValueError
    days_since = make_day(year, month, day)
    return days_since * DAY_US + (hour * 60 + minute) * 60 * _SECOND_US + int(second * _SECOND_US)


def _make_wall_time(arguments: list[Any], kind: ColumnType) -> Any:
    found = per_value(_wall_of_parts)(arguments, BIGINT)
    return Checked(_viewed(found.value, kind), found.faults)


TIMESTAMPS: dict[str, Function] = {
    "to_wall": _to_wall,
    "to_instant": _to_instant,
    "instant_in": _shifted(to_zone=False),
    "from_utc_timestamp": _shifted(to_zone=True),
    "to_utc_timestamp": _shifted(to_zone=False),
    "convert_timezone": _convert,
    "date_trunc": _date_trunc,
    "date_ceil": _date_ceil,
    "timestampdiff": _timestampdiff,
    "unix_seconds": of_times(lambda moments: np.floor_divide(moments, _SECOND_US)),
    "truncated_seconds": of_times(
        lambda moments: np.sign(moments) * (np.abs(moments) // _SECOND_US)
    ),
    "unix_millis": of_times(lambda moments: np.floor_divide(moments, 1_000)),
    "unix_micros": of_times(lambda moments: moments),
    "timestamp_seconds": _timestamp_seconds,
    "timestamp_millis": _scaled(1_000),
    "timestamp_micros": _scaled(1),
    "make_wall_time": _make_wall_time,
    "dates_apart": over_arrays(
        lambda columns, kind: column_of(
            (days(columns[0]) - days(columns[1])) * DAY_US, kind, columns
        )
    ),
}
TIMESTAMPS["try_make_wall_time"] = lambda arguments, kind: _make_wall_time(arguments, kind).value
