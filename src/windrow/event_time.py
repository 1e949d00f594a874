"""Instants and spans of event time, as int64 microseconds.

An instant is microseconds since the epoch, UTC. A span is a length of time in microseconds.
Nothing here reads a clock.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from windrow.errors import BindingError

__all__ = [
    "END_OF_TIME",
    "MAX_EVENT_TIME",
    "MIN_EVENT_TIME",
    "START_OF_TIME",
    "UNITS_US",
    "instant_of",
    "is_plausible",
    "show_instant",
    "show_span",
    "span_of",
]

# Before every event and after every event: room is left so that adding spans cannot overflow.
START_OF_TIME = -(2**61)
END_OF_TIME = 2**61

# A row outside these is set aside as bad time: one record of the year 9999 must not move the clock.
MIN_EVENT_TIME = -62_135_596_800_000_000  # 0001-01-01
MAX_EVENT_TIME = 7_258_118_400_000_000  # 2200-01-01

UNITS_US = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
}

_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*\Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def span_of(value: str | int | float | timedelta) -> int:
    """A span in microseconds: '10 seconds', '1.5 hours', a timedelta, or a number of seconds.

    >>> span_of("10 seconds"), span_of("2 MINUTES"), span_of(5)
    (10000000, 120000000, 5000000)
    """
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, bool):
        raise _bad_span(value)
    if isinstance(value, (int, float)):
        return round(value * 1_000_000)
    match = _SPAN.match(value)
    if match is None:
        raise _bad_span(value)
    number, word = match.groups()
    unit = UNITS_US.get(word.upper().removesuffix("S") or "SECOND")
    if unit is None:
        raise _bad_span(value)
    return round(float(number) * unit) if "." in number else int(number) * unit


def _bad_span(value: object) -> BindingError:
    return BindingError(
        "WB101",
        f"{value!r} is not a length of time",
        hint="write a number and a unit, such as '10 seconds' "
        "(MICROSECOND, MILLISECOND, SECOND, MINUTE, HOUR, DAY)",
    )


def instant_of(value: str | int | datetime) -> int:
    """An instant in microseconds, from an ISO text, a datetime (no zone means UTC) or microseconds.

    >>> instant_of("1970-01-01 00:00:01")
    1000000
    """
    if isinstance(value, bool):
        raise _bad_instant(value)
    if isinstance(value, int):
        return value
    moment = value
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise _bad_instant(value) from None
    if not isinstance(moment, datetime):
        raise _bad_instant(value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _bad_instant(value: object) -> BindingError:
    return BindingError(
        "WB102",
        f"{value!r} is not an instant",
        hint="give a datetime, an ISO text such as '2026-01-01 09:30:00', "
        "or integer microseconds since the epoch",
    )


def is_plausible(instant_us: int) -> bool:
    """Whether an event may carry this time at all."""
    return MIN_EVENT_TIME <= instant_us < MAX_EVENT_TIME


def show_instant(instant_us: int) -> str:
    """ISO text of an instant, for people.

    >>> show_instant(0), show_instant(END_OF_TIME), show_instant(START_OF_TIME)
    ('1970-01-01 00:00:00', 'end of time', 'start of time')
    """
    if instant_us >= END_OF_TIME:
        return "end of time"
    if instant_us < MIN_EVENT_TIME:
        return "start of time"
    return str((_EPOCH + timedelta(microseconds=instant_us)).replace(tzinfo=None))


def show_span(span_us: int) -> str:
    """The span in its largest whole unit.

    >>> show_span(60_000_000), show_span(1_500_000)
    ('1 minute', '1500 milliseconds')
    """
    for name, size in reversed(UNITS_US.items()):
        if span_us % size == 0 and span_us >= size:
            count = span_us // size
            return f"{count} {name.lower()}{'' if count == 1 else 's'}"
    return f"{span_us} microseconds"
