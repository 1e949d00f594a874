"""Results as they are born and expire, in the micro-batches of a sliding window.

Rows that arrive within a slide are held back until it ends, and all of them get its end as their
time: the window model of paper 4. So results are born, and expire, at the ends of slides only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["ResultStream", "Span", "Timing", "stamped"]

Longs = NDArray[np.int64]
_SECOND_US = 1_000_000


@dataclass(frozen=True)
class Timing:
    """How rows come and go: rows a second of each stream, width and slide of the window."""

    rows_per_s: int
    window_us: int
    slide_us: int


@dataclass(frozen=True)
class Span:
    """Until when results are wanted: for so many windows after the first, and so many results."""

    windows: float
    results: int


def stamped(count: int, rows_per_s: int, slide_us: int, turn: float = 0.5) -> Longs:
    """Times of rows that come evenly, each moved to the end of its slide.

    >>> stamped(4, 2, 1_000_000).tolist()
    [1000000, 1000000, 2000000, 2000000]
    """
    times = (np.arange(count) + turn) * (_SECOND_US / rows_per_s)
    return np.ceil(times / slide_us).astype(np.int64) * slide_us


@dataclass(frozen=True)
class ResultStream:
    """For each instant the results that are born; they are live until their expiries.

    At an instant those leave that expire then, and after that the new ones come in. Instants at
    which nothing happens are left out. starts[i] to starts[i + 1] are the results of instants[i].
    """

    instants: Longs
    starts: Longs
    expiries: Longs
    first_measured: int  # the first instant at which the windows have been full once

    @classmethod
    def of(cls, births: Longs, expiries: Longs, window_us: int) -> ResultStream:
        """From the instants of birth, in order, and the expiries."""
        # At the end, results leave only as long as there are new ones too.
        last = int(births[-1]) if births.size else 0
        instants = np.union1d(births, expiries[expiries <= last])
        starts = np.searchsorted(births, np.append(instants, last + 1))
        first = int(np.searchsorted(instants, window_us, side="right"))
        return cls(instants, starts, expiries, first)

    @cached_property
    def items(self) -> Longs:
        """A number for each result, in the order of birth."""
        return np.arange(self.expiries.size)

    @cached_property
    def leaving(self) -> Longs:
        """The results in the order in which they must leave: by expiry, then by birth."""
        return np.argsort(self.expiries, kind="stable")

    @cached_property
    def ends(self) -> Longs:
        """How many results have left after each instant; a leading 0."""
        ordered = self.expiries[self.leaving]
        return np.append(0, np.searchsorted(ordered, self.instants, side="right"))

    @property
    def accesses(self) -> float:
        """Results measured: the mean of those that came and those that left."""
        first = self.first_measured
        came = int(self.starts[-1] - self.starts[first])
        return (came + int(self.ends[-1] - self.ends[first])) / 2

    @cached_property
    def mean_live(self) -> float:
        """Live results, the mean over the measured time."""
        instants = self.instants[self.first_measured :]
        if instants.size < 2:
            return 0.0
        live = (self.starts[1:] - self.ends[1:])[self.first_measured : -1]
        return float((live * np.diff(instants)).sum() / (instants[-1] - instants[0]))
