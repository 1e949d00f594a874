"""Texts of timestamps and dates read as Spark's CAST reads them, and written as it writes them."""

from __future__ import annotations

import re
from datetime import date

from windrow.times.civil import DAY_US, civil, days_in_month, days_of
from windrow.times.zones import Zone, zone_named

__all__ = [
    "date_text",
    "day_number",
    "read_date",
    "read_timestamp",
    "read_wall_time",
    "wall_text",
]

_SECOND_US = 1_000_000
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MOMENT = re.compile(
    r"([+-]?)(\d{4,6})(?:-(\d\d?)(?:-(\d\d?)"
    r"(?:[ T](\d\d?)(?::(\d\d?)(?::(\d\d?)(?:\.(\d*))?(\D.*)?)?)?)?)?)?\Z",
    re.ASCII | re.DOTALL,
)
_DAY = re.compile(r"([+-]?)(\d{4,7})(?:-(\d\d?)(?:-(\d\d?)(?:[ T].*)?)?)?\Z", re.ASCII | re.DOTALL)
# Blanks and control characters, as Spark trims them.
_BLANKS = "".join(map(chr, range(33))) + "\x7f"
_EPOCH_WORD = "epoch"
_LEAST_US, _MOST_US = -(2**63), 2**63 - 1


def read_timestamp(text: str, zone: Zone) -> int | None:
    """The instant of a text, in its own zone or in the given one; None: there is none.

    >>> from windrow.times.zones import UTC_ZONE
    >>> read_timestamp("1970-01-01T01:00:00.5+01:00", UTC_ZONE)
    500000
    """
    if text.strip(_BLANKS).lower() == _EPOCH_WORD:
        return 0
    found = _parts(text)
    if found is None:
        return None
    wall_us, written = found
    if written is not None:
        own = zone_named(written)
        if own is None:
            return None
        zone = own
    return _fitting(
        int(zone.instant([wall_us])[0]) if zone.fixed_us is None else wall_us - zone.fixed_us
    )


def read_wall_time(text: str) -> int | None:
    """What a clock shows by the text; a zone in it is read and left aside."""
    found = _parts(text)
    if found is None or (found[1] is not None and zone_named(found[1]) is None):
        return None
    return _fitting(found[0])


def read_date(text: str) -> int | None:
    """The day of a text, in days since 1970; what follows it after a blank or T is left aside."""
    match = _DAY.match(text.strip(_BLANKS))
    if match is None:
        return 0 if text.strip(_BLANKS).lower() == _EPOCH_WORD else None
    sign, year, month, day = match.groups()
    found = day_number(int(sign + year), int(month or 1), int(day or 1))
    return found if found is not None and -(2**31) <= found < 2**31 else None


def day_number(year: int, month: int, day: int) -> int | None:
    """Days since 1970 of a date, None where the calendar has no such day."""
    if 1 <= year <= 9999:
        try:
            return date(year, month, day).toordinal() - _EPOCH_DAY
        except ValueError:
            return None
    if not (1 <= month <= 12 and 1 <= day <= int(days_in_month(year, month))):
        return None
    return int(days_of(year, month, day))


def date_text(days: int) -> str:
    """The day as yyyy-mm-dd; years beyond four digits have a sign."""
    if -719_162 <= days <= 2_932_896:
        return date.fromordinal(days + _EPOCH_DAY).isoformat()
    year, month, day = (int(part) for part in civil(days))
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def wall_text(wall_us: int) -> str:
    """What a clock shows, as CAST to STRING writes it: a fraction without zeros at its end."""
    days, rest = divmod(wall_us, DAY_US)
    seconds, fraction = divmod(rest, _SECOND_US)
    text = f"{date_text(days)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def _parts(text: str) -> tuple[int, str | None] | None:
    """The time on the wall, and the zone as it is written."""
    match = _MOMENT.match(text.strip(_BLANKS))
    if match is None:
        return None
    sign, year, month, day, hour, minute, second, fraction, zone = match.groups()
    days = day_number(int(sign + year), int(month or 1), int(day or 1))
    clock = (int(hour or 0), int(minute or 0), int(second or 0))
    if days is None or clock[0] > 23 or clock[1] > 59 or clock[2] > 59:
        return None
    seconds = clock[0] * 3600 + clock[1] * 60 + clock[2]
    micros = int((fraction or "")[:6].ljust(6, "0"))
    wall_us = days * DAY_US + seconds * _SECOND_US + micros
    return wall_us, None if zone is None else zone.strip(_BLANKS)


def _fitting(value: int) -> int | None:
    return value if _LEAST_US <= value <= _MOST_US else None
