"""What a stream says about its time and its fields, beyond its columns and its lateness."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from windrow.errors import BindingError, UnsupportedError
from windrow.event_time import span_of

__all__ = ["EPOCH_UNITS", "NO_OPTIONS", "Span", "StreamOptions", "on_spark", "stream_options"]

# Units of times that are numbers, counted from 1970, UTC.
EPOCH_UNITS = ("s", "ms", "us", "ns")
UNKNOWN_FIELDS = ("auto", "refuse", "ignore")

Span = str | int | float | timedelta


@dataclass(frozen=True)
class StreamOptions:
    """unit: of times that are numbers; None: these are refused.

    idle_after_us: after so long without rows, by the clock on the wall, the stream holds nothing
    back. keep_us: for so long rows are kept for queries to come and for questions. unknown_fields:
    'refuse' or 'ignore' fields of rows that are no columns; 'auto' refuses those of a push, and
    ignores those of files.
    """

    unit: str | None = None
    idle_after_us: int | None = None
    keep_us: int = 0
    unknown_fields: str = "auto"

    def declared(self) -> dict[str, Any]:
        """What stream() of a session takes; nothing where nothing was said."""
        said: dict[str, Any] = {}
        if self.unit is not None:
            said["unit"] = self.unit
        if self.idle_after_us is not None:
            said["idle_after"] = timedelta(microseconds=self.idle_after_us)
        if self.keep_us:
            said["keep"] = timedelta(microseconds=self.keep_us)
        if self.unknown_fields != "auto":
            said["unknown_fields"] = self.unknown_fields
        return said


NO_OPTIONS = StreamOptions()


def stream_options(
    stream: str,
    unit: str | None = None,
    idle_after: Span | None = None,
    keep: Span | None = None,
    unknown_fields: str = "auto",
) -> StreamOptions:
    """The options of a stream, checked.

    >>> stream_options("s", unit="ms", keep="10 minutes").keep_us
    600000000
    """
    _check(stream, "unit", unit, EPOCH_UNITS, is_optional=True)
    _check(stream, "unknown_fields", unknown_fields, UNKNOWN_FIELDS)
    idle_after_us = None if idle_after is None else _positive(stream, "idle_after", idle_after)
    keep_us = 0 if keep is None else _positive(stream, "keep", keep)
    return StreamOptions(unit, idle_after_us, keep_us, unknown_fields)


def on_spark(stream: str, options: StreamOptions) -> StreamOptions:
    """The options of a stream on Spark; those that only a session in process has are refused."""
    given = {
        "idle_after": options.idle_after_us is not None,
        "keep": options.keep_us > 0,
        'unknown_fields="refuse"': options.unknown_fields == "refuse",
    }
    for name, is_given in given.items():
        if is_given:
            raise UnsupportedError(
                "WU752",
                f"on Spark stream {stream!r} cannot have {name}",
                hint=_ON_SPARK.get(name, "omit it: Spark leaves fields out that are no columns"),
            )
    return options


_ON_SPARK = {
    "idle_after": "omit it, and advance() a stream that is silent; or connect without Spark",
    "keep": "omit it, and start queries before the rows come; or connect without Spark",
}


def _check(
    stream: str, name: str, value: Any, possible: tuple[str, ...], *, is_optional: bool = False
) -> None:
    if value in possible or (value is None and is_optional):
        return
    raise BindingError(
        "WB754",
        f"{name} of stream {stream!r} cannot be {value!r}",
        hint=f"give one of {', '.join(map(repr, possible))}",
    )


def _positive(stream: str, name: str, value: Span) -> int:
    span_us = span_of(value)
    if span_us > 0:
        return span_us
    raise BindingError(
        "WB754",
        f"{name} of stream {stream!r} cannot be {value!r}",
        hint='give a span above 0, such as "10 seconds", or omit it',
    )
