"""Time zones: what clocks on the wall show at an instant, and at which instant they show a time.

Offsets come from the zone database by zoneinfo, in tables of about a year that are made when rows
ask for them. Gaps and overlaps are resolved as java.time does: of a time that clocks show twice the
first one counts, and a time that they skip is as much later as they were put forward.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from windrow.times.civil import DAY_US, Integers

__all__ = ["UTC_ZONE", "Zone", "zone_named"]

_SECOND_US = 1_000_000
_SPAN_BITS = 45  # a table is of 2**45 microseconds: 407 days
_SPAN_US = 1 << _SPAN_BITS
_CYCLE_US = 146_097 * DAY_US  # 400 years, after which the calendar repeats
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Beyond these years Python has no dates: rules of 400 years earlier, or the first offset, serve.
_FIRST_US = -62_135_596_800_000_000 + 2 * DAY_US
_LAST_US = 32_503_680_000_000_000  # the year 3000
_WINTERS_US = (1_579_046_400_000_000, 1_594_771_200_000_000)  # in 2020, north and south
_NO_TIME = timedelta(0)
_MAX_ZONES = 64
_OFFSET = re.compile(r"([+-])(\d\d?)(?::?(\d\d?))?(?::?(\d\d))?\Z", re.ASCII)
_PREFIXED = re.compile(r"(?:UTC|GMT|UT)([+-].+)\Z")
_UTC_NAMES = frozenset(["Z", "UTC", "GMT", "UT"])
# Java's short names, which Spark takes too.
_SHORT = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns",
    "CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
    "EST": "-05:00", "MST": "-07:00", "HST": "-10:00",
}  # fmt: skip


class Zone:
    """A zone by its name, with the offsets that were asked for so far."""

    def __init__(self, name: str, rules: tzinfo, fixed_us: int | None = None) -> None:
        self.name = name
        self.rules = rules
        self.fixed_us = fixed_us  # the offset of a zone that has only one
        self._tables: dict[int, tuple[list[int], list[int]]] = {}

    def offset(self, instants: Any) -> Integers:
        """How far clocks are ahead of UTC at each instant, in microseconds."""
        instants = np.asarray(instants, np.int64)
        if self.fixed_us is not None or not instants.size:
            return np.full(instants.shape, self.fixed_us or 0, np.int64)
        known = _within_reach(instants)
        starts, offsets = self._table(known)
        return offsets[np.searchsorted(starts, known, side="right") - 1]

    def local(self, instants: Any) -> Integers:
        """What clocks show, as microseconds since their 1970-01-01 00:00."""
        found: Integers = np.asarray(instants, np.int64)
        return found if self.fixed_us == 0 else found + self.offset(found)

    def instant(self, local: Any, preferred_us: Any = None) -> Integers:
        """The instant at which clocks show the time; of two, the one with the preferred offset."""
        local = np.asarray(local, np.int64)
        found: Integers
        if self.fixed_us is not None:
            found = local - self.fixed_us
            return found
        before, after = self.offset(local - DAY_US), self.offset(local + DAY_US)
        first, second = local - before, local - after
        first_holds, second_holds = self.offset(first) == before, self.offset(second) == after
        found = np.where(first_holds | ~second_holds, first, second)
        if preferred_us is not None:
            wanted = local - preferred_us
            found = np.where(self.offset(wanted) == preferred_us, wanted, found)
        return found

    def short_name(self, instant_us: int) -> str:
        """What the zone is called at an instant: CET or CEST."""
        name = self._moment(int(_within_reach(np.array([instant_us]))[0])).tzname()
        if name == "LMT":  # before there were zones; Java has the name of the standard time
            standard = min(map(self._moment, _WINTERS_US), key=lambda each: each.dst() or _NO_TIME)
            name = standard.tzname()
        return name or self.name

    def _moment(self, instant_us: int) -> datetime:
        return (_EPOCH + timedelta(microseconds=instant_us)).astimezone(self.rules)

    def _table(self, instants: Integers) -> tuple[Integers, Integers]:
        """Where offsets begin and which they are, for all spans in which the instants lie."""
        low, high = int(instants.min()) >> _SPAN_BITS, int(instants.max()) >> _SPAN_BITS
        if high - low > 2:
            numbers = np.unique(instants >> _SPAN_BITS).tolist()
        else:
            numbers = list(range(low, high + 1))
        starts: list[int] = []
        offsets: list[int] = []
        for number in numbers:
            if number not in self._tables:
                self._tables[number] = self._span(number)
            starts += self._tables[number][0]
            offsets += self._tables[number][1]
        return np.array(starts, np.int64), np.array(offsets, np.int64)

    def _span(self, number: int) -> tuple[list[int], list[int]]:
        """The offsets within one span: one at its start, and one at each transition."""
        start = max(number << _SPAN_BITS, _FIRST_US)
        end = (number + 1) << _SPAN_BITS
        starts, offsets = [number << _SPAN_BITS], [self._offset_at(start)]
        for day in range(start, end, DAY_US):
            until = min(day + DAY_US, end - 1)
            offset = self._offset_at(until)
            if offset != offsets[-1]:
                starts.append(self._transition(day, until, offset))
                offsets.append(offset)
        return starts, offsets

    def _transition(self, low: int, high: int, offset: int) -> int:
        """The first instant of the offset, of which `low` is before and `high` not."""
        while high - low > 1:
            middle = (low + high) // 2
            if self._offset_at(middle) == offset:
                high = middle
            else:
                low = middle
        return high

    def _offset_at(self, instant_us: int) -> int:
        offset = self._moment(instant_us).utcoffset()
        return 0 if offset is None else offset // timedelta(microseconds=1)


def _within_reach(instants: Integers) -> Integers:
    """Instants with the same offsets, within the years that Python's dates have."""
    if instants.size and (instants.min() < _FIRST_US or instants.max() > _LAST_US):
        cycles = np.maximum(0, -np.floor_divide(_LAST_US - instants, _CYCLE_US))
        near: Integers = np.maximum(instants - cycles * _CYCLE_US, _FIRST_US)
        return near
    return instants


UTC_ZONE = Zone("UTC", UTC, 0)


def zone_named(name: str) -> Zone | None:
    """The zone of a name or offset, such as Europe/Berlin or +05:30; None where there is none.

    >>> zone_named("+5:30").fixed_us // 60_000_000, zone_named("Berlin")
    (330, None)
    """
    return _known(name)


def _by_name(name: str) -> Zone | None:
    if name in _UTC_NAMES:
        return UTC_ZONE if name == "UTC" else Zone(name, UTC, 0)
    prefixed = _PREFIXED.match(name)
    offset = _offset_us(prefixed.group(1) if prefixed else name)
    if offset is not None:
        prefix = name[: prefixed.start(1)] if prefixed else ""
        rules = timezone(timedelta(microseconds=offset))
        return Zone(prefix + _offset_text(offset), rules, offset)
    if name in _SHORT:
        return _known(_SHORT[name])
    try:
        return Zone(name, ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


_known: Callable[[str], Zone | None] = lru_cache(_MAX_ZONES)(_by_name)


def _offset_us(text: str) -> int | None:
    match = _OFFSET.match(text)
    if match is None:
        return None
    sign, hours, minutes, seconds = match.groups()
    parts = (int(hours), int(minutes or 0), int(seconds or 0))
    total = parts[0] * 3600 + parts[1] * 60 + parts[2]
    if parts[1] > 59 or parts[2] > 59 or total > 18 * 3600:
        return None
    return (-total if sign == "-" else total) * _SECOND_US


def _offset_text(offset_us: int) -> str:
    """Java's id of an offset: Z, +05:30 or -00:00:01."""
    total = abs(offset_us) // _SECOND_US
    if not total:
        return "Z"
    sign = "-" if offset_us < 0 else "+"
    text = f"{sign}{total // 3600:02}:{total // 60 % 60:02}"
    return f"{text}:{total % 60:02}" if total % 60 else text
