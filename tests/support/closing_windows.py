"""Windows that close, by trying their ends one after the other: TUMBLE, HOP and CUMULATE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

__all__ = [
    "CLOSING",
    "bounds_at",
    "closes_together",
    "entry_of",
    "is_in",
    "last_end_with",
    "moments_of",
    "ticks_of",
]

CLOSING = ("tumble", "hop", "cumulate")


class Numbers(Protocol):
    """A window, parsed or bound."""

    @property
    def kind(self) -> str: ...
    @property
    def length_us(self) -> int: ...
    @property
    def slide_us(self) -> int: ...
    @property
    def offset_us(self) -> int: ...


def bounds_at(window: Numbers, instant: int) -> tuple[int, int]:
    """Start and end of the newest window that has closed."""
    first = window.offset_us + window.length_us  # an end
    end = first + (instant - first) // window.slide_us * window.slide_us
    return _start(window, end), end


def _start(window: Numbers, end: int) -> int:
    if window.kind != "cumulate":
        return end - window.length_us
    return window.offset_us + (end - 1 - window.offset_us) // window.length_us * window.length_us


def is_in(window: Numbers, time: int, instant: int) -> bool:
    """Whether a row of that time is in the window at the instant."""
    start, end = bounds_at(window, instant)
    return start <= time < end


def _ends_with(window: Numbers, time: int) -> Iterator[int]:
    """The ends of all windows that a row is in."""
    _, end = bounds_at(window, time)
    end += window.slide_us
    while _start(window, end) <= time:
        yield end
        end += window.slide_us


def entry_of(window: Numbers, time: int) -> int:
    """When a row enters."""
    return next(_ends_with(window, time))


def last_end_with(window: Numbers, time: int) -> int:
    """When the last window closes that a row is in."""
    return list(_ends_with(window, time))[-1]


def moments_of(window: Numbers, times: Iterable[int]) -> Iterator[int]:
    """When something may change: every close with a row, and the one after it."""
    for time in times:
        for end in _ends_with(window, time):
            yield end
            yield end + window.slide_us


def closes_together(windows: Sequence[Numbers]) -> bool:
    """Whether answers are due when windows close."""
    grids = {
        (each.slide_us, (each.offset_us + each.length_us) % each.slide_us)
        if each.kind in CLOSING
        else None
        for each in windows
    }
    return len(grids) == 1 and None not in grids


def ticks_of(window: Numbers, first: int, clock: int) -> list[int]:
    """The closes from the first on."""
    return list(range(first, clock + 1, window.slide_us))
