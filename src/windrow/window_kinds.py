"""The kinds of windows: one entry each, from which every layer reads what it must know.

An entry says how a window is written, which rows it holds and what makes a row leave. All else
follows: which queries may have it, whether its width can be governed, whether rows may be shared or
forgotten by their time. So a kind whose rows leave by time is one entry here and its words in
sql/window_clause.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

__all__ = ["TIME", "UNBOUNDED", "WINDOW_KINDS", "Leaving", "WindowKind", "WindowNumbers"]


class Leaving(Enum):
    """What makes a row leave a window."""

    TIME = "its time is too long ago"
    NEWER_ROWS = "enough newer rows of the stream have come"
    NEWER_OF_PARTITION = "enough newer rows of its partition have come"
    LATER_OF_PARTITION = "a much later row of its partition has come"
    NEWER_OR_TIME = "enough newer rows of its partition have come, or its time is too long ago"
    NEXT_ROWS = "as many rows as the window holds have come after it"
    END_OF_SESSION = "its partition has been silent for too long"
    NOTHING = "it never does"


class WindowNumbers(Protocol):
    """The numbers of a window, parsed or bound."""

    @property
    def length_us(self) -> int:
        """How far back it reaches."""

    @property
    def slide_us(self) -> int:
        """How far it moves at once."""

    @property
    def rows(self) -> int:
        """How many rows it holds."""

    @property
    def offset_us(self) -> int:
        """How much later than a multiple of the slide its windows start."""


@dataclass(frozen=True)
class WindowKind:
    """One kind of window.

    name: in plans. written: what people write, and meaning: the rows that it then holds at time t,
    both as the docs list them. condition: the same in SQL, for a row s at an instant i.t; what
    counts rows chooses among these. printed, shown: its brackets as WQL, and for people.
    leaving: what makes a row leave. timing: where that is its time, two numbers: rows enter at
    their time rounded up to a multiple of the first, and leave the second later; more numbers are
    those of windows.lifetime.Lifetime.timed(). starts: of a window that has a start and an end,
    where one that ends then starts: its rows have both, and answers come when it ends.
    """

    name: str
    written: tuple[str, ...]
    meaning: str
    condition: str
    printed: str
    shown: str
    leaving: Leaving
    timing: Callable[[WindowNumbers], tuple[int, ...]] | None = None
    moves_in_steps: bool = False
    starts: Callable[[WindowNumbers, Any], Any] | None = None

    @property
    def has_width(self) -> bool:
        """Whether it reaches back for a time, so that it can be made narrower.

        Then its rows can be shared by windows of other lengths, too, and rows that enter and leave
        at the same instants can stand for each other.
        """
        return self.leaving is Leaving.TIME

    @property
    def leaves_by_time(self) -> bool:
        """Whether a row's time alone says when it leaves: a row can be forgotten without others."""
        return self.leaving in (Leaving.TIME, Leaving.NOTHING)

    @property
    def is_endless(self) -> bool:
        """Whether no row ever leaves."""
        return self.leaving is Leaving.NOTHING

    @property
    def closes(self) -> bool:
        """Whether it has a start, and an end at which an answer is due."""
        return self.starts is not None

    @property
    def is_session(self) -> bool:
        """Whether its rows leave together, when nothing has come for a while."""
        return self.leaving is Leaving.END_OF_SESSION

    @property
    def has_bounds(self) -> bool:
        """Whether its rows have window_start and window_end."""
        return self.closes or self.is_session

    @property
    def is_scheduled(self) -> bool:
        """Whether rows leave as others of their partition come, many at once: not in order."""
        return self.leaving in _SCHEDULED

    @property
    def enters_later(self) -> bool:
        """Whether rows wait for others before they enter: nobody knows when."""
        return self.leaving is Leaving.NEXT_ROWS

    @property
    def has_row_limit(self) -> bool:
        """Whether it names a number of rows."""
        return "{rows}" in self.printed

    @property
    def counts_rows(self) -> bool:
        """Whether it holds a number of rows, those included that a condition leaves out."""
        return not self.leaves_by_time

    @property
    def counts_whole_stream(self) -> bool:
        """Whether one place must see all rows of the stream to count them."""
        return self.leaving is Leaving.NEWER_ROWS

    @property
    def counts_by_partition(self) -> bool:
        """Whether each partition is counted separately, so that rows leave out of order."""
        return self.leaving is Leaving.NEWER_OF_PARTITION

    @property
    def ends_at_any_instant(self) -> bool:
        """Whether it has a width and moves on with every instant: only then can it take turns."""
        return self.has_width and not self.moves_in_steps

    def close_grid(self, window: WindowNumbers) -> tuple[int, int]:
        """How far apart its windows close, and how much later than at multiples of that."""
        assert self.closes
        return window.slide_us, (window.offset_us + window.length_us) % window.slide_us


_SCHEDULED = (
    Leaving.LATER_OF_PARTITION,
    Leaving.NEWER_OR_TIME,
    Leaving.NEXT_ROWS,
    Leaving.END_OF_SESSION,
)


def _both_ends(window: WindowNumbers) -> tuple[int, int]:
    """A row is held for the length and one microsecond: both ends belong to the window."""
    return 1, window.length_us + 1


def _whole_slides(window: WindowNumbers) -> tuple[int, int]:
    return window.slide_us, window.length_us


def _length_before(window: WindowNumbers, end: Any) -> Any:
    return end - window.length_us


def _start_of_period(window: WindowNumbers, end: Any) -> Any:
    return end - 1 - (end - 1 - window.offset_us) % window.length_us


def _this_instant(_window: WindowNumbers) -> tuple[int, int]:
    return 1, 1


def _between_ends(window: WindowNumbers) -> tuple[int, ...]:
    """From the first end after the row's time to the first that is so much later than it."""
    slide, phase = window.slide_us, (window.offset_us + window.length_us) % window.slide_us
    if window.length_us % slide == 0:
        return slide, window.length_us, 1, phase
    return slide, window.length_us, 1, phase, slide, phase


def _steps_of_periods(window: WindowNumbers) -> tuple[int, ...]:
    """From the next end of a step to that after the end of the period."""
    step, period = window.slide_us, window.length_us
    offset = window.offset_us
    return step, step, 1, offset % step, period, (offset + step) % period


# What code asks for by itself has a name here.
TIME = WindowKind(
    "time",
    ("[60 MINUTES]", "[RANGE 60 MINUTES]", "[RANGE Now-3600, Now]"),
    "rows with t - T <= time <= t",
    "s.time_us BETWEEN i.t - {length_us} AND i.t",
    printed="RANGE {length}",
    shown="{length}",
    leaving=Leaving.TIME,
    timing=_both_ends,
)
UNBOUNDED = WindowKind(
    "unbounded",
    ("[UNBOUNDED]",),
    "every row so far",
    "s.time_us <= i.t",
    printed="UNBOUNDED",
    shown="unbounded",
    leaving=Leaving.NOTHING,
)
_LAST_CLOSE = "(i.t - (((i.t - {offset_us} - {length_us}) % {slide_us}) + {slide_us}) % {slide_us})"
_PERIOD_START = (
    f"({_LAST_CLOSE} - 1 - ((({_LAST_CLOSE} - 1 - {{offset_us}}) % {{length_us}}) + {{length_us}})"
    " % {length_us})"
)
_IN_CLOSED = f"s.time_us >= {_LAST_CLOSE} - {{length_us}} AND s.time_us < {_LAST_CLOSE}"
_LAST_SLIDE = "(i.t - ((i.t % {slide_us}) + {slide_us}) % {slide_us})"
_ENTRIES = (
    TIME,
    WindowKind(
        "slide",
        ("[RANGE 60 SECONDS SLIDE 5 SECONDS]",),
        "at every multiple t of SLIDE the rows with t - T < time <= t; SLIDE must divide RANGE",
        f"s.time_us > {_LAST_SLIDE} - {{length_us}} AND s.time_us <= {_LAST_SLIDE}",
        printed="RANGE {length} SLIDE {slide}",
        shown="{length}, sliding by {slide}",
        leaving=Leaving.TIME,
        timing=_whole_slides,
        moves_in_steps=True,
    ),
    WindowKind(
        "rows",
        ("[ROWS 1000]",),
        "the last 1000 rows of the stream, counted before WHERE",
        "s.time_us <= i.t",
        printed="ROWS {rows}",
        shown="last {rows} rows",
        leaving=Leaving.NEWER_ROWS,
    ),
    WindowKind(
        "partition_rows",
        ("[PARTITION BY k ROWS 10]",),
        "the last 10 rows of each k",
        "s.time_us <= i.t",
        printed="PARTITION BY {columns} ROWS {rows}",
        shown="last {rows} rows of each {columns}",
        leaving=Leaving.NEWER_OF_PARTITION,
    ),
    UNBOUNDED,
    WindowKind(
        "now",
        ("[NOW]",),
        "rows with time = t",
        "s.time_us = i.t",
        printed="NOW",
        shown="now",
        leaving=Leaving.TIME,
        timing=_this_instant,
    ),
    WindowKind(
        "tumble",
        ("[TUMBLE 10 SECONDS]", "[TUMBLE 1 DAY OFFSET 6 HOURS]"),
        "of the newest window that has closed by t, the rows with start <= time < end; "
        "see [windows that close](#windows-that-close)",
        _IN_CLOSED,
        printed="TUMBLE {length}{offset}",
        shown="tumbling by {length}{offset}",
        leaving=Leaving.TIME,
        timing=_between_ends,
        moves_in_steps=True,
        starts=_length_before,
    ),
    WindowKind(
        "hop",
        ("[HOP 10 SECONDS BY 2 SECONDS]", "[HOP 10 SECONDS SLIDE 2 SECONDS OFFSET 1 SECOND]"),
        "the same of windows that overlap: one closes every 2 seconds",
        _IN_CLOSED,
        printed="HOP {length} BY {slide}{offset}",
        shown="{length}, hopping by {slide}{offset}",
        leaving=Leaving.TIME,
        timing=_between_ends,
        moves_in_steps=True,
        starts=_length_before,
    ),
    WindowKind(
        "cumulate",
        ("[CUMULATE 1 DAY BY 1 HOUR]",),
        "the same of windows that start with each period and close with each of its steps",
        f"s.time_us >= {_PERIOD_START} AND s.time_us < {_LAST_CLOSE}",
        printed="CUMULATE {length} BY {slide}{offset}",
        shown="{length}, cumulating by {slide}{offset}",
        leaving=Leaving.TIME,
        timing=_steps_of_periods,
        moves_in_steps=True,
        starts=_start_of_period,
    ),
    WindowKind(
        "session",
        ("[SESSION 30 SECONDS PARTITION BY k]", "[SESSION 30 SECONDS]"),
        "the rows of each k that is not silent for more than 30 seconds, since it was last; see "
        "[sessions](#sessions)",
        "s.time_us <= i.t",
        printed="SESSION {length}{partition}",
        shown="sessions{partition}, gap {length}",
        leaving=Leaving.END_OF_SESSION,
    ),
    WindowKind(
        "partition_range",
        ("[PARTITION BY k RANGE 10 MINUTES]",),
        "of each k the rows at most 10 minutes older than its newest row",
        "s.time_us <= i.t",
        printed="PARTITION BY {columns} RANGE {length}",
        shown="{length} up to the newest row of each {columns}",
        leaving=Leaving.LATER_OF_PARTITION,
    ),
    WindowKind(
        "partition_rows_range",
        ("[PARTITION BY k ROWS 3 RANGE 10 MINUTES]",),
        "the last 3 rows of each k, without those with time < t - T",
        "s.time_us <= i.t",
        printed="PARTITION BY {columns} ROWS {rows} RANGE {length}",
        shown="last {rows} rows of each {columns}, of {length}",
        leaving=Leaving.NEWER_OR_TIME,
    ),
    WindowKind(
        "tumble_rows",
        ("[TUMBLE 100 ROWS]",),
        "the rows of the newest complete hundred of the stream, counted before WHERE; there is an "
        "answer for each",
        "s.time_us <= i.t",
        printed="TUMBLE {rows} ROWS",
        shown="newest complete {rows} rows",
        leaving=Leaving.NEXT_ROWS,
    ),
    WindowKind(
        "partition_tumble_rows",
        ("[PARTITION BY k TUMBLE 100 ROWS]",),
        "the same of each k",
        "s.time_us <= i.t",
        printed="PARTITION BY {columns} TUMBLE {rows} ROWS",
        shown="newest complete {rows} rows of each {columns}",
        leaving=Leaving.NEXT_ROWS,
    ),
)
WINDOW_KINDS: Mapping[str, WindowKind] = {each.name: each for each in _ENTRIES}
