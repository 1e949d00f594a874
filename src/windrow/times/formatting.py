"""Moments written by a date pattern, in English, as Spark's date_format does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from windrow.times.civil import DAY_US, civil
from windrow.times.patterns import Field, Optional, Pattern, PatternError, Quoted
from windrow.times.zones import Zone

__all__ = [
    "DAYS",
    "MONTHS",
    "Moment",
    "fields_of",
    "format_moment",
    "format_parts",
    "offset_text",
    "reads_zone",
    "resolution_us",
    "writes_era",
]

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ORDINALS = ("1st", "2nd", "3rd", "4th")
_SECOND_US = 1_000_000
_STEPS_US = {
    **dict.fromkeys("HhKka", 3600 * _SECOND_US),
    "m": 60 * _SECOND_US,
    "s": _SECOND_US,
    "S": 1,
}
_OF_ZONE = frozenset("VzOXxZ")
_LONG_UTC = "Coordinated Universal Time"


class Moment:
    """What clocks of a zone show at one instant, field by field."""

    def __init__(self, wall_us: int, offset_us: int, zone: Zone) -> None:
        self.wall_us, self.offset_us, self.zone = wall_us, offset_us, zone
        self.days, self.day_us = divmod(wall_us, DAY_US)

    @cached_property
    def date(self) -> tuple[int, int, int]:
        """Year, month and day."""
        year, month, day = civil(self.days)
        return int(year), int(month), int(day)

    @property
    def hour(self) -> int:
        """0 to 23."""
        return self.day_us // (3600 * _SECOND_US)


def format_moment(pattern: Pattern, moment: Moment) -> str:
    """The moment written by the pattern; optional parts are written too."""
    return format_parts(pattern, moment, has_era=writes_era(pattern))


def writes_era(pattern: Pattern) -> bool:
    """Whether the era is written, which years before the first are then counted by."""
    return any(field.letter == "G" for field in fields_of(pattern))


def format_parts(parts: Pattern, moment: Moment, *, has_era: bool) -> str:
    """The moment written by some parts of a pattern."""
    return "".join(_written(parts, moment, has_era))


def fields_of(pattern: Pattern) -> Iterator[Field]:
    """All letters of a pattern."""
    for part in pattern:
        if isinstance(part, Field):
            yield part
        elif isinstance(part, Optional):
            yield from fields_of(part.parts)


def reads_zone(pattern: Pattern) -> bool:
    """Whether something of the zone is written."""
    return any(field.letter in _OF_ZONE for field in fields_of(pattern))


def resolution_us(pattern: Pattern) -> int:
    """Moments within a step of so many microseconds, from midnight on, are written alike."""
    return min(
        (_STEPS_US.get(field.letter, DAY_US) for field in fields_of(pattern)), default=DAY_US
    )


def _written(pattern: Pattern, moment: Moment, has_era: bool) -> Iterator[str]:
    for part in pattern:
        if isinstance(part, Quoted):
            yield part.text
        elif isinstance(part, Optional):
            yield from _written(part.parts, moment, has_era)
        elif part.letter == "y":
            yield _year(moment.date[0], part.count, has_era)
        else:
            yield _WRITERS[part.letter](moment, part.count)


def _year(year: int, count: int, has_era: bool) -> str:
    if has_era and year <= 0:
        year = 1 - year
    if count == 2:
        return f"{abs(year) % 100:02}"
    sign = "-" if year < 0 else "+" if count >= 4 and abs(year) >= 10**count else ""
    return f"{sign}{abs(year):0{count}}"


def _number(value: Callable[[Moment], int]) -> Callable[[Moment, int], str]:
    return lambda moment, count: f"{value(moment):0{count}}"


def _named(names: tuple[str, ...], index: Callable[[Moment], int]) -> Callable[[Moment, int], str]:
    def write(moment: Moment, count: int) -> str:
        name = names[index(moment)]
        return name if count == 4 else name[:3]

    return write


def _month(moment: Moment, count: int) -> str:
    if count <= 2:
        return f"{moment.date[1]:0{count}}"
    return _named(MONTHS, lambda each: each.date[1] - 1)(moment, count)


def _quarter(moment: Moment, count: int) -> str:
    quarter = (moment.date[1] + 2) // 3
    if count <= 2:
        return f"{quarter:0{count}}"
    return f"Q{quarter}" if count == 3 else f"{_ORDINALS[quarter - 1]} quarter"


def _day_of_year(moment: Moment) -> int:
    year, _, _ = moment.date
    earlier = year - 1
    first = earlier * 365 + earlier // 4 - earlier // 100 + earlier // 400 - 719_162
    return moment.days - first + 1


def _era(moment: Moment, count: int) -> str:
    names = ("Anno Domini", "Before Christ") if count == 4 else ("AD", "BC")
    return names[moment.date[0] <= 0]


def _fraction(moment: Moment, count: int) -> str:
    return f"{moment.day_us % _SECOND_US:06}000"[:count]


def _zone_name(moment: Moment, count: int) -> str:
    if count < 4:
        return moment.zone.short_name(moment.wall_us - moment.offset_us)
    if moment.zone.name == "UTC":
        return _LONG_UTC
    raise PatternError("zzzz, a zone's name in full, is only known of UTC")


def _localised_offset(moment: Moment, count: int) -> str:
    if not moment.offset_us:
        return "GMT"
    total = abs(moment.offset_us) // _SECOND_US
    sign = "-" if moment.offset_us < 0 else "+"
    hours, minutes, seconds = total // 3600, total // 60 % 60, total % 60
    text = f"GMT{sign}{hours:02}:{minutes:02}" if count == 4 else f"GMT{sign}{hours}"
    if count == 1 and (minutes or seconds):
        text += f":{minutes:02}"
    return f"{text}:{seconds:02}" if seconds else text


def offset_text(offset_us: int, count: int, nothing: str) -> str:
    """An offset by X or x, from +hh to +hh:mm:ss; nothing: how UTC itself is written."""
    if not offset_us and nothing:
        return nothing
    total = abs(offset_us) // _SECOND_US
    hours, minutes, seconds = total // 3600, total // 60 % 60, total % 60
    colon = ":" if count in (3, 5) else ""
    text = f"{'-' if offset_us < 0 else '+'}{hours:02}"
    if count > 1 or minutes:
        text += f"{colon}{minutes:02}"
    return f"{text}{colon}{seconds:02}" if count >= 4 and seconds else text


def _plain_offset(moment: Moment, count: int) -> str:
    if count == 4:
        return _localised_offset(moment, 4)
    return offset_text(moment.offset_us, 5 if count == 5 else 2, "Z" if count == 5 else "")


_WRITERS: dict[str, Callable[[Moment, int], str]] = {
    "G": _era,
    "M": _month,
    "L": _month,
    "d": _number(lambda moment: moment.date[2]),
    "D": _number(_day_of_year),
    "E": _named(DAYS, lambda moment: (moment.days + 3) % 7),
    "F": _number(lambda moment: (moment.date[2] - 1) % 7 + 1),
    "a": lambda moment, _count: "PM" if moment.hour >= 12 else "AM",
    "h": _number(lambda moment: (moment.hour + 11) % 12 + 1),
    "K": _number(lambda moment: moment.hour % 12),
    "k": _number(lambda moment: (moment.hour + 23) % 24 + 1),
    "H": _number(lambda moment: moment.hour),
    "m": _number(lambda moment: moment.day_us // (60 * _SECOND_US) % 60),
    "s": _number(lambda moment: moment.day_us // _SECOND_US % 60),
    "S": _fraction,
    "Q": _quarter,
    "q": _quarter,
    "V": lambda moment, _count: moment.zone.name,
    "z": _zone_name,
    "O": _localised_offset,
    "X": lambda moment, count: offset_text(moment.offset_us, count, "Z"),
    "x": lambda moment, count: offset_text(moment.offset_us, count, ""),
    "Z": _plain_offset,
}
