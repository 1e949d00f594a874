"""How types of times and intervals are spelled, in Spark and elsewhere.

TIMESTAMP is an instant, TIMESTAMP_NTZ what a clock on the wall shows. Their digits of a second, as
in TIMESTAMP(3), are read and left aside: both always have six. An interval is counted in
microseconds or in months, whatever fields it is written with.
"""

from __future__ import annotations

import re

__all__ = ["DAY_TIME", "YEAR_MONTH", "time_type_named"]

DAY_TIME = "INTERVAL DAY TO SECOND"
YEAR_MONTH = "INTERVAL YEAR TO MONTH"

_TIMESTAMP = re.compile(
    r"(timestamp|timestamp_ltz|timestamp_ntz|timestamptz|datetime)"
    r"(?: ?\( ?[0-9] ?\))?"
    r"( with time zone| with local time zone| without time zone)?\Z"
)
_FIELDS = ("day", "hour", "minute", "second")
_INTERVAL = re.compile(r"interval (\w+)(?: to (\w+))?\Z")


def time_type_named(text: str) -> str | None:
    """The name of the type that a spelling means; None where it is none of time.

    >>> time_type_named("TIMESTAMP(3) WITH LOCAL TIME ZONE"), time_type_named("interval day")
    ('TIMESTAMP', 'INTERVAL DAY TO SECOND')
    """
    word = " ".join(text.lower().split())
    match = _TIMESTAMP.match(word)
    if match is not None:
        return _timestamp(match.group(1), match.group(2) or "")
    match = _INTERVAL.match(word)
    return None if match is None else _interval(match.group(1), match.group(2))


def _timestamp(word: str, zone: str) -> str | None:
    if not zone:
        return "TIMESTAMP_NTZ" if word == "timestamp_ntz" else "TIMESTAMP"
    if word != "timestamp":
        return None
    return "TIMESTAMP_NTZ" if "without" in zone else "TIMESTAMP"


def _interval(first: str, last: str | None) -> str | None:
    last = last or first
    if first in ("year", "month") and last in ("year", "month"):
        return YEAR_MONTH if (first, last) != ("month", "year") else None
    if first in _FIELDS and last in _FIELDS and _FIELDS.index(first) <= _FIELDS.index(last):
        return DAY_TIME
    return None
