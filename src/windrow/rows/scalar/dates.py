"""Fields of dates and times, and arithmetic of dates: YEAR to SECOND, LAST_DAY, ADD_MONTHS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.time_columns import (
    column_of,
    days,
    integers,
    micros,
    of_days,
    of_times,
)
from windrow.rows.scalar.values import (
    Checked,
    Function,
    NoValueError,
    from_numpy,
    over_arrays,
    per_value,
)
from windrow.schema import DOUBLE, ColumnType
from windrow.times.civil import (
    DAY_US,
    Integers,
    add_months,
    civil,
    day_of_year,
    days_in_month,
    days_of,
    iso_week,
    iso_week_year,
    monday_before,
)
from windrow.times.formatting import DAYS, MONTHS
from windrow.times.moments import day_number

__all__ = ["DATES", "truncated_days"]

_SECOND_US = 1_000_000
_MONTH_SECONDS = 31 * 86_400
# Starts of names of days, from Monday on.
_WEEKDAYS = {
    **{name[:length].upper(): i for i, name in enumerate(DAYS) for length in (2, 3, 20)},
}


def _second_of_minute(moments: Integers) -> Integers:
    return np.mod(moments, 60 * _SECOND_US) // _SECOND_US


def _names(of: tuple[str, ...], index: Any) -> Function:
    words = pa.array([name[:3] for name in of])

    def apply(columns: list[Any], _kind: ColumnType) -> Any:
        places = column_of(index(days(columns[0])), _INDEX, columns)
        return words.take(places)

    return over_arrays(apply)


_INDEX = ColumnType("INT")


@over_arrays
def _seconds_with_fraction(columns: list[Any], kind: ColumnType) -> Any:
    within = np.mod(micros(columns[0]), 60 * _SECOND_US)
    pairs = np.zeros((within.size, 2), np.int64)
    pairs[:, 0] = within  # six digits behind the point: the microseconds themselves
    found = pa.Array.from_buffers(kind.arrow, within.size, [None, pa.py_buffer(pairs)])
    return pc.if_else(pc.is_valid(columns[0]), found, pa.scalar(None, kind.arrow))


@over_arrays
def _add_months(columns: list[Any], kind: ColumnType) -> Any:
    return column_of(add_months(days(columns[0]), integers(columns[1])), kind, columns)


@over_arrays
def _add_days(columns: list[Any], kind: ColumnType) -> Any:
    return column_of(days(columns[0]) + integers(columns[1]), kind, columns)


@over_arrays
def _subtract_days(columns: list[Any], kind: ColumnType) -> Any:
    return column_of(days(columns[0]) - integers(columns[1]), kind, columns)


@over_arrays
def _months_between(columns: list[Any], _kind: ColumnType) -> Any:
    """Whole months from a day to the same day, or from end to end; others by months of 31 days."""
    ends = [micros(column) for column in columns[:2]]
    (year, month, day), (other_year, other_month, other_day) = (
        civil(np.floor_divide(end, DAY_US)) for end in ends
    )
    months = ((year - other_year) * 12 + month - other_month).astype(np.float64)
    last = (day == days_in_month(year, month)) & (
        other_day == days_in_month(other_year, other_month)
    )
    seconds = [np.floor_divide(np.mod(end, DAY_US), _SECOND_US) for end in ends]
    apart = (day - other_day) * 86_400 + seconds[0] - seconds[1]
    found = np.where(last | (day == other_day), months, months + apart / _MONTH_SECONDS)
    # Spark rounds by the decimal digits of the double, half up.
    is_rounded = columns[2].to_numpy(zero_copy_only=False).astype(np.bool_)
    eighth = np.floor(np.abs(found) * 1e8 + 0.5) / 1e8 * np.sign(found)
    return from_numpy(np.where(is_rounded, eighth, found), DOUBLE, columns)


def truncated_days(day: Any, unit: str) -> Integers:
    """The first day of the year, quarter, month or week of each day."""
    if unit == "WEEK":
        return monday_before(day)
    year, month, _ = civil(day)
    if unit == "YEAR":
        return days_of(year, 1, 1)
    return days_of(year, (month - 1) // 3 * 3 + 1 if unit == "QUARTER" else month, 1)


@over_arrays
def _trunc(columns: list[Any], kind: ColumnType) -> Any:
    units = columns[1].to_pylist()
    unit = units[0] if units else None
    if unit is None:
        return pa.nulls(len(columns[0]), kind.arrow)
    return column_of(truncated_days(days(columns[0]), unit), kind, columns[:1])


@over_arrays
def _last_day(columns: list[Any], kind: ColumnType) -> Any:
    year, month, _ = civil(days(columns[0]))
    return column_of(days_of(year, month, days_in_month(year, month)), kind, columns)


def _next_day(arguments: list[Any], kind: ColumnType) -> Any:
    """The first day after the date that is the weekday; another word is a fault."""
    wanted = per_value(_weekday)([arguments[1]], _INDEX)
    later = over_arrays(
        lambda columns, kind: column_of(
            days(columns[0]) + 1 + np.mod(integers(columns[1]) - days(columns[0]) - 4, 7),
            kind,
            columns,
        )
    )
    found = later([arguments[0], wanted.value], kind)
    if wanted.faults is None:
        return found
    known = arguments[0].is_valid
    given = known if isinstance(arguments[0], pa.Scalar) else known().to_numpy(zero_copy_only=False)
    return Checked(found, wanted.faults & given)


def _weekday(word: str) -> int:
    found = _WEEKDAYS.get(word.strip().upper())
    if found is None:
        raise NoValueError
    return found


@over_arrays
def _make_date(columns: list[Any], kind: ColumnType) -> Any:
    year, month, day = (integers(column) for column in columns)
    valid = (month >= 1) & (month <= 12) & (day >= 1)
    sane = np.where(valid, month, 1)
    valid &= day <= days_in_month(year, sane)
    return column_of(days_of(year, sane, np.where(valid, day, 1)), kind, columns, valid)


def make_day(year: int, month: int, day: int) -> int:
    """Days since 1970, or a fault."""
    found = day_number(year, month, day)
    if found is None:
        raise NoValueError
    return found


DATES: dict[str, Function] = {
    "year": of_days(lambda day: civil(day)[0]),
    "quarter": of_days(lambda day: (civil(day)[1] + 2) // 3),
    "month": of_days(lambda day: civil(day)[1]),
    "day": of_days(lambda day: civil(day)[2]),
    "dayofweek": of_days(lambda day: np.mod(day + 4, 7) + 1),
    "dayofweek_iso": of_days(lambda day: np.mod(day + 3, 7) + 1),
    "weekday": of_days(lambda day: np.mod(day + 3, 7)),
    "dayofyear": of_days(day_of_year),
    "weekofyear": of_days(iso_week),
    "yearofweek": of_days(iso_week_year),
    "dayname": _names(DAYS, lambda day: np.mod(day + 3, 7)),
    "monthname": _names(MONTHS, lambda day: civil(day)[1] - 1),
    "hour": of_times(lambda moments: np.mod(moments, DAY_US) // (3600 * _SECOND_US)),
    "minute": of_times(lambda moments: np.mod(moments, 3600 * _SECOND_US) // (60 * _SECOND_US)),
    "second": of_times(_second_of_minute),
    "second_with_fraction": _seconds_with_fraction,
    "last_day": _last_day,
    "next_day": _next_day,
    "add_months": _add_months,
    "date_add": _add_days,
    "date_sub": _subtract_days,
    "datediff": of_days(lambda end, start: end - start),
    "months_between": _months_between,
    "trunc": _trunc,
    "make_date": _make_date,
    "unix_date": of_days(lambda day: day),
    "date_from_unix_date": over_arrays(
        lambda columns, kind: column_of(integers(columns[0]), kind, columns)
    ),
}
