"""Texts read by a date pattern: a regular expression for their form, then the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from windrow.times.civil import DAY_US
from windrow.times.formatting import MONTHS, fields_of
from windrow.times.moments import day_number
from windrow.times.patterns import Field, Optional, Pattern, PatternError, Quoted
from windrow.times.zones import Zone, zone_named

__all__ = ["Reader", "reader_of"]

_SECOND_US = 1_000_000
# A text to an instant, or without a zone to what a clock shows; None where it is neither.
Reader = Callable[[str, Zone | None], int | None]
_LIMITS = {
    "M": (1, 12), "L": (1, 12), "d": (1, 31), "D": (1, 366), "H": (0, 23), "h": (1, 12),
    "K": (0, 11), "k": (1, 24), "m": (0, 59), "s": (0, 59),
}  # fmt: skip
_ERAS = {"ad": True, "bc": False, "anno domini": True, "before christ": False}
_MONTHS = {name[:length].lower(): i + 1 for i, name in enumerate(MONTHS) for length in (3, 20)}
_OFFSETS = {
    1: r"[+-]\d\d(?:\d\d)?",
    2: r"[+-]\d\d\d\d",
    3: r"[+-]\d\d:\d\d",
    4: r"[+-]\d\d\d\d(?:\d\d)?",
    5: r"[+-]\d\d:\d\d(?::\d\d)?",
}
_GMT = r"GMT(?:[+-]\d\d?(?::\d\d(?::\d\d)?)?)?"
_ZONE_NAME = r"[A-Za-z][A-Za-z0-9~/._+:-]*|[+-]\d\d?:?\d*:?\d*"


def reader_of(pattern: Pattern) -> Reader:
    """The function that reads a text as an instant; a text without a zone is in the given one."""
    letters = [field.letter for field in fields_of(pattern)]
    twice = next((each for each in letters if letters.count(each) > 1), None)
    if twice is not None:
        raise PatternError(f"{twice!r} can be read only once")
    form = re.compile(rf"{_expression(pattern)}\Z", re.I | re.ASCII)

    def read(text: str, zone: Zone | None) -> int | None:
        match = form.match(text)
        if match is None:
            return None
        return _resolved({key: each for key, each in match.groupdict().items() if each}, zone)

    return read


def _expression(pattern: Pattern) -> str:
    """The form of a text; a number of open width takes all digits that its neighbours leave."""
    parts: list[str] = []
    is_open = False
    for part in pattern:
        if is_open and not (isinstance(part, Field) and _is_fixed(part)):
            parts.append(r"(?!\d)")
            is_open = False
        if isinstance(part, Quoted):
            parts.append(re.escape(part.text))
        elif isinstance(part, Optional):
            parts.append(f"(?:{_expression(part.parts)})?")
        else:
            name = "yy" if (part.letter, part.count) == ("y", 2) else part.letter
            parts.append(f"(?P<{name}>{_form(part)})")
            is_open = is_open or (_is_number(part) and not _is_fixed(part))
    return "".join(parts) + (r"(?!\d)" if is_open else "")


def _is_number(part: Field) -> bool:
    return part.letter in "ydDhHkKms" or (part.letter in "ML" and part.count <= 2)


def _is_fixed(part: Field) -> bool:
    return _is_number(part) and part.count == 2 and part.letter != "D"


def _form(part: Field) -> str:
    letter, count = part.letter, part.count
    if letter == "y":
        if count >= 4:
            return rf"\d{{{count}}}|-\d{{{count},19}}|\+\d{{{count + 1},19}}"
        return r"\d\d" if count == 2 else rf"-?\d{{{count},19}}"
    if letter == "D":
        return r"\d{1,19}" if count == 1 else rf"\d{{{count},3}}"
    if _is_number(part):
        return r"\d{1,19}" if count == 1 else r"\d\d"
    if letter in "ML":
        return "|".join(name[:3] if count == 3 else name for name in MONTHS)
    return _FORMS[letter](count)


_FORMS: dict[str, Callable[[int], str]] = {
    "G": lambda count: "Anno Domini|Before Christ" if count == 4 else "AD|BC",
    "a": lambda _count: "AM|PM",
    "S": lambda count: rf"\d{{1,{count}}}",
    "V": lambda _count: _ZONE_NAME,
    "z": lambda _count: _ZONE_NAME,
    "O": lambda _count: _GMT,
    "X": lambda count: f"Z|{_OFFSETS[count]}",
    "x": lambda count: _OFFSETS[count],
    "Z": lambda count: _GMT if count == 4 else f"Z|{_OFFSETS[5]}" if count == 5 else _OFFSETS[2],
}


def _resolved(found: Mapping[str, str], zone: Zone | None) -> int | None:
    written = next((found[letter] for letter in "VzOXxZ" if letter in found), None)
    if written is not None:
        own = zone_named("Z" if written in ("Z", "z") else _zone_text(written))
        if own is None:
            return None
        zone = own if zone is not None else None
    numbers = {key: int(each) for key, each in found.items() if each.isdigit() and key in _LIMITS}
    if any(not _LIMITS[key][0] <= each <= _LIMITS[key][1] for key, each in numbers.items()):
        return None
    days, day_us = _days(found, numbers), _day_us(found, numbers)
    if days is None or day_us is None:
        return None
    wall_us = days * DAY_US + day_us
    if zone is None:
        return wall_us if -(2**63) <= wall_us < 2**63 else None
    instant = wall_us - zone.fixed_us if zone.fixed_us is not None else zone.instant([wall_us])[0]
    return int(instant) if -(2**63) <= instant < 2**63 else None


def _zone_text(written: str) -> str:
    return (
        written.upper().replace("GMT", "", 1) or "UTC" if written[:3].upper() == "GMT" else written
    )


def _days(found: Mapping[str, str], numbers: Mapping[str, int]) -> int | None:
    year = _year(found)
    month = numbers.get("M", numbers.get("L"))
    if month is None:
        month = _MONTHS.get(found.get("M", found.get("L", "jan")).lower(), 1)
    if year is None or "D" not in numbers:
        return None if year is None else day_number(year, month, numbers.get("d", 1))
    first, last = day_number(year, 1, 1), day_number(year, 12, 31)
    if first is None or last is None:
        return None
    days = first + numbers["D"] - 1
    return days if days <= last else None


def _year(found: Mapping[str, str]) -> int | None:
    year = 2000 + int(found["yy"]) if "yy" in found else int(found.get("y", "1970"))
    if "G" not in found or _ERAS[found["G"].lower()]:
        return year if abs(year) <= 999_999_999 else None
    return 1 - year


def _day_us(found: Mapping[str, str], numbers: Mapping[str, int]) -> int | None:
    is_late = found.get("a", "am").lower() == "pm"
    if "H" in numbers or "k" in numbers:
        hour = numbers["H"] if "H" in numbers else numbers["k"] % 24
        if "a" in found and is_late != (hour >= 12):
            return None
    else:
        hour = numbers["h"] % 12 if "h" in numbers else numbers.get("K", 0)
        hour += 12 * is_late
    seconds = hour * 3600 + numbers.get("m", 0) * 60 + numbers.get("s", 0)
    return seconds * _SECOND_US + int(found.get("S", "")[:6].ljust(6, "0"))
