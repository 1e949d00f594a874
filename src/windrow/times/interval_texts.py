"""Lengths of time as SQL writes them: '1 02:03:04' DAY TO SECOND, '1-2' YEAR TO MONTH, '1 day'."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from windrow.times.civil import DAY_US

__all__ = [
    "UNITS",
    "Length",
    "day_time_text",
    "length_of_fields",
    "length_of_units",
    "read_day_time",
    "read_year_month",
    "unit_named",
    "year_month_text",
]

_SECOND_US = 1_000_000
_MINUTE_US = 60 * _SECOND_US
_HOUR_US = 60 * _MINUTE_US
# Microseconds or months of each unit.
_MICROSECONDS = {
    "WEEK": 7 * DAY_US,
    "DAY": DAY_US,
    "HOUR": _HOUR_US,
    "MINUTE": _MINUTE_US,
    "SECOND": _SECOND_US,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
_MONTHS = {"YEAR": 12, "MONTH": 1}
UNITS = frozenset([*_MICROSECONDS, *_MONTHS])
_PAIR = re.compile(r"\s*([+-]?)\s*(\d+(?:\.\d{0,9})?|\.\d{1,9})\s+([a-z]+)", re.I | re.ASCII)
_NUMBER = re.compile(r"([+-]?)(\d+)(?:\.(\d{1,9}))?\Z", re.ASCII)
_YEAR_MONTH = re.compile(r"([+-]?)(\d+)-(\d{1,2})\Z", re.ASCII)
_CLOCKS = {
    ("DAY", "HOUR"): r"(?P<d>\d+) (?P<h>\d{1,2})",
    ("DAY", "MINUTE"): r"(?P<d>\d+) (?P<h>\d{1,2}):(?P<m>\d{1,2})",
    (
        "DAY",
        "SECOND",
    ): r"(?P<d>\d+) (?P<h>\d{1,2}):(?P<m>\d{1,2}):(?P<s>\d{1,2})(?:\.(?P<f>\d{1,9}))?",
    ("HOUR", "MINUTE"): r"(?P<h>\d+):(?P<m>\d{1,2})",
    ("HOUR", "SECOND"): r"(?P<h>\d+):(?P<m>\d{1,2}):(?P<s>\d{1,2})(?:\.(?P<f>\d{1,9}))?",
    ("MINUTE", "SECOND"): r"(?P<m>\d+):(?P<s>\d{1,2})(?:\.(?P<f>\d{1,9}))?",
}
_SIZES = {"d": DAY_US, "h": _HOUR_US, "m": _MINUTE_US, "s": _SECOND_US}
_LIMITS = {"h": 23, "m": 59, "s": 59}
_WRITTEN = re.compile(
    r"\s*INTERVAL\s+([+-]?)\s*'([^']*)'\s+(\w+)(?:\s+TO\s+(\w+))?\s*\Z", re.I | re.ASCII
)


@dataclass(frozen=True)
class Length:
    """So many months, or so many microseconds; in_days: written in whole days alone."""

    months: int | None = None
    span_us: int | None = None
    in_days: bool = False


def unit_named(word: str) -> str | None:
    """The unit that a word in singular or plural names."""
    unit = word.upper()
    return next((each for each in (unit, unit.removesuffix("S")) if each in UNITS), None)


def length_of_units(text: str) -> Length | None:
    """The length of '1 day 2 hours'; None where it is none, or has units of both kinds.

    >>> length_of_units("1 day 2 hours").span_us // 3_600_000_000
    26
    """
    months = span = 0
    units: set[str] = set()
    place = 0
    while place < len(text.rstrip()):
        match = _PAIR.match(text, place)
        unit = None if match is None else unit_named(match.group(3))
        if match is None or unit is None:
            return None
        number = Decimal(match.group(1) + match.group(2))
        if number != int(number) and unit in _MONTHS:
            return None
        units.add(unit)
        months += int(number * _MONTHS.get(unit, 0))
        span += int(number * _MICROSECONDS.get(unit, 0))
        place = match.end()
    return _length(months, span, units)


def _length(months: int, span_us: int, units: set[str]) -> Length | None:
    if not units or (units & set(_MONTHS) and units - set(_MONTHS)):
        return None
    if units & set(_MONTHS):
        return Length(months=months) if -(2**31) <= months < 2**31 else None
    fits = -(2**63) <= span_us < 2**63
    return Length(span_us=span_us, in_days=units <= {"DAY", "WEEK"}) if fits else None


def length_of_fields(text: str, first: str, last: str | None) -> Length | None:
    """The length of '10' SECOND, or of '1 02:03:04' DAY TO SECOND.

    >>> length_of_fields("-1-2", "YEAR", "MONTH").months
    -14
    """
    text = " ".join(text.split())
    if last is None or last == first:
        return _of_one(text, first)
    if (first, last) == ("YEAR", "MONTH"):
        months = _of_year_month(text)
        return None if months is None else _length(months, 0, {"MONTH"})
    clock = _CLOCKS.get((first, last))
    sign = text[:1] if text[:1] in ("+", "-") else ""
    match = None if clock is None else re.match(rf"{clock}\Z", text[len(sign) :], re.ASCII)
    if match is None:
        return None
    span = _of_clock({name: part for name, part in match.groupdict().items() if part is not None})
    if span is None:
        return None
    return _length(0, -span if sign == "-" else span, {"HOUR"})


def _of_one(text: str, unit: str) -> Length | None:
    match = _NUMBER.match(text)
    if match is None or (match.group(3) is not None and unit in _MONTHS):
        return None
    # Spark takes fractions of seconds only; those of longer units mean no other thing.
    number = Decimal(text)
    months, span = number * _MONTHS.get(unit, 0), number * _MICROSECONDS.get(unit, 0)
    return _length(int(months), int(span), {unit})


def _of_year_month(text: str) -> int | None:
    match = _YEAR_MONTH.match(text)
    if match is None or int(match.group(3)) > 11:
        return None
    months = int(match.group(2)) * 12 + int(match.group(3))
    return -months if match.group(1) == "-" else months


def _of_clock(parts: dict[str, str]) -> int | None:
    """The microseconds of fields, of which all but the first have limits."""
    names = [name for name in "dhms" if name in parts]
    if any(int(parts[name]) > _LIMITS[name] for name in names[1:]):
        return None
    micros = int(parts.get("f", "")[:6].ljust(6, "0"))
    return sum(int(parts[name]) * _SIZES[name] for name in names) + micros


def read_day_time(text: str) -> int | None:
    """The microseconds of a text that is cast: 1 02:03:04, or INTERVAL '...' DAY TO SECOND."""
    found = _read(text, "DAY", "SECOND")
    return None if found is None else found.span_us


def read_year_month(text: str) -> int | None:
    """The months of a text that is cast: 1-2, or INTERVAL '1-2' YEAR TO MONTH."""
    found = _read(text, "YEAR", "MONTH")
    return None if found is None else found.months


def _read(text: str, first: str, last: str) -> Length | None:
    match = _WRITTEN.match(text)
    if match is None:
        return length_of_fields(text, first, last)
    sign, inside, begin, end = match.groups()
    if sign == "-":
        inside = inside[1:] if inside.startswith("-") else f"-{inside}"
    found = length_of_fields(inside, begin.upper(), None if end is None else end.upper())
    is_months = found is not None and found.months is not None
    return found if is_months == (first == "YEAR") else None


def day_time_text(span_us: int) -> str:
    """The length as CAST to STRING writes it.

    >>> day_time_text(-90_061_500_000)
    "INTERVAL '-1 01:01:01.5' DAY TO SECOND"
    """
    days, rest = divmod(abs(span_us), DAY_US)
    seconds, fraction = divmod(rest, _SECOND_US)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if fraction:
        clock += f".{fraction:06}".rstrip("0")
    return f"INTERVAL '{'-' if span_us < 0 else ''}{days} {clock}' DAY TO SECOND"


def year_month_text(months: int) -> str:
    """The months as CAST to STRING writes them."""
    years, rest = divmod(abs(months), 12)
    return f"INTERVAL '{'-' if months < 0 else ''}{years}-{rest}' YEAR TO MONTH"
