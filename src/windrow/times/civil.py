"""Years, months and days from days since 1970 and back, in the proleptic Gregorian calendar.

Whole arrays at once, for every year that 64 bits of microseconds can hold. NumPy's own datetime64
is not used: its way from days to months allocates five arrays, and it has no months' ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "DAY_US",
    "MOST_DAYS",
    "Integers",
    "add_months",
    "civil",
    "day_of_year",
    "days_in_month",
    "days_of",
    "iso_week",
    "iso_week_year",
    "monday_before",
]

Integers = npt.NDArray[np.int64]

DAY_US = 86_400_000_000
MOST_DAYS = 106_751_991  # of microseconds in 64 bits
_ERA_DAYS = 146_097  # of 400 years
_TO_MARCH = 719_468  # days from 0000-03-01 to 1970-01-01


def civil(days: Any) -> tuple[Integers, Integers, Integers]:
    """Year, month and day of days since 1970.

    >>> [int(part[0]) for part in civil(np.array([19_782]))]
    [2024, 2, 29]
    """
    shifted = np.asarray(days, np.int64) + _TO_MARCH
    era = np.floor_divide(shifted, _ERA_DAYS)
    day_of_era = shifted - era * _ERA_DAYS
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = np.where(shifted_month < 10, shifted_month + 3, shifted_month - 9)
    year = year_of_era + era * 400 + (month <= 2)
    return year, month, day


def days_of(year: Any, month: Any, day: Any) -> Integers:
    """Days since 1970 of a date; the day may lie beyond its month, the month may not.

    >>> int(days_of(np.array([2024]), np.array([2]), np.array([29]))[0])
    19782
    """
    year, month, day = (np.asarray(part, np.int64) for part in (year, month, day))
    shifted_year = year - (month <= 2)
    era = np.floor_divide(shifted_year, 400)
    year_of_era = shifted_year - era * 400
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    found: Integers = era * _ERA_DAYS + day_of_era - _TO_MARCH
    return found


def days_in_month(year: Any, month: Any) -> Integers:
    """28 to 31."""
    month = np.asarray(month, np.int64)
    leap = (np.mod(year, 4) == 0) & ((np.mod(year, 100) != 0) | (np.mod(year, 400) == 0))
    usual = 30 + ((month + month // 8) % 2)
    found: Integers = np.where(month == 2, 28 + leap, usual)
    return found


def add_months(days: Any, months: Any) -> Integers:
    """The date so many months later; a day that the month does not have is its last one.

    >>> int(add_months(days_of(2024, 1, 31), 1) - days_of(2024, 2, 29))
    0
    """
    year, month, day = civil(days)
    total = year * 12 + (month - 1) + np.asarray(months, np.int64)
    year, month = np.floor_divide(total, 12), np.mod(total, 12) + 1
    return days_of(year, month, np.minimum(day, days_in_month(year, month)))


def day_of_year(days: Any) -> Integers:
    """1 to 366."""
    year, _, _ = civil(days)
    return np.asarray(days, np.int64) - days_of(year, 1, 1) + 1


def monday_before(days: Any) -> Integers:
    """The Monday of the week of a day: itself, if it is one."""
    days = np.asarray(days, np.int64)
    found: Integers = days - np.mod(days + 3, 7)
    return found


def iso_week_year(days: Any) -> Integers:
    """The year to which the week of a day belongs: that of its Thursday."""
    return civil(monday_before(days) + 3)[0]


def iso_week(days: Any) -> Integers:
    """1 to 53, by ISO 8601."""
    thursday = monday_before(days) + 3
    year, _, _ = civil(thursday)
    return (thursday - days_of(year, 1, 1)) // 7 + 1
