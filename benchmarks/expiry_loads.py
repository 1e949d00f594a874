"""Expiries of the kinds that live results have, as many live at a time as is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOADS", "Load", "load_of"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

# Ticks that a row lives at the most (Pareto: twenty times that); instants are ticks.
SPAN = 60_000
TIED = 1_000
BATCHES_A_SPAN = 400
FEWEST_TIMED_ROWS = 1_000_000
MOST_SPANS_TIMED = 1.0


def _fifo(times: Longs, shares: Floats) -> Longs:
    del shares
    return times + SPAN


def _uniform(times: Longs, shares: Floats) -> Longs:
    return times + 1 + (shares * (SPAN - 1)).astype(np.int64)


def _skew(times: Longs, shares: Floats) -> Longs:
    return times + 1 + (shares**4 * (SPAN - 1)).astype(np.int64)


def _ties(times: Longs, shares: Floats) -> Longs:
    return (_uniform(times, shares) // TIED + 1) * TIED


def _pareto(times: Longs, shares: Floats) -> Longs:
    lives = ((1 - shares) ** (-1 / 1.1) - 1) * SPAN / 50
    return times + 1 + np.minimum(20 * SPAN, lives).astype(np.int64)


def _two_spans(times: Longs, shares: Floats) -> Longs:
    return times + np.where(shares < 0.5, 1_000, SPAN)


# The mean life of a row is measured, not derived: it decides how many rows come in a tick.
LOADS: dict[str, Callable[[Longs, Floats], Longs]] = {
    "fifo": _fifo,
    "uniform": _uniform,
    "skew": _skew,
    "ties": _ties,
    "pareto": _pareto,
    "two spans": _two_spans,
}


@dataclass(frozen=True)
class Load:
    """Batches of equally many rows, evenly in time; the first ones only fill the structure."""

    name: str
    live: int
    batch_rows: int
    batch_ticks: float
    warm_batches: int
    timed_batches: int
    seed: int

    def batches(self) -> Iterator[tuple[int, Longs]]:
        """The instant at which each batch ends, and its expiries."""
        random = np.random.default_rng(self.seed)
        for index in range(self.warm_batches + self.timed_batches):
            begin = index * self.batch_ticks
            offsets = np.arange(self.batch_rows) * (self.batch_ticks / self.batch_rows)
            times = (begin + offsets).astype(np.int64)
            yield int(begin + self.batch_ticks), LOADS[self.name](times, random.random(times.size))


def load_of(name: str, live: int, seed: int) -> Load:
    """A load that comes to so many live rows."""
    sample = np.random.default_rng(seed).random(200_000)
    mean_life = float(LOADS[name](np.zeros(sample.size, np.int64), sample).mean())
    rows_a_tick = live / mean_life
    batch_ticks = SPAN / BATCHES_A_SPAN
    batch_rows = max(1, round(rows_a_tick * batch_ticks))
    # Few live rows come in small batches; so that calls do not count, these are made longer.
    if batch_rows < 1_000:
        batch_ticks *= 1_000 / batch_rows
        batch_rows = 1_000
    spans = SPAN / batch_ticks
    warm = int(spans * (4 if name == "pareto" else 1)) + 1
    timed = max(int(spans * MOST_SPANS_TIMED), FEWEST_TIMED_ROWS // batch_rows) + 1
    return Load(name, live, batch_rows, batch_ticks, warm, timed, seed)
