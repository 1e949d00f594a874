"""The streams of the pipeline's benchmark: Parquet files of any length, and the right answers.

Both streams repeat one period of generated rows for ever, so the answer at a whole second follows
from the rows per second and key of one period. A's times are 1 and B's 3 modulo 4 milliseconds, so
no row stands on a whole second and no pair is exactly as far apart as the window is wide.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

__all__ = ["WINDOW_S", "PipelineData", "pipeline_data"]

WINDOW_S = 60
Side = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]  # times in us, keys, values


@dataclass(frozen=True)
class PipelineData:
    """One period of both streams, in time order."""

    period_s: int
    keys: int
    sides: tuple[Side, Side]

    @property
    def rate(self) -> int:
        """Rows per second and side."""
        return self.sides[0][0].size // self.period_s

    def write(self, work: Path, rows: int, batch_rows: int) -> None:
        """Writes so many rows, half of them a side; one file a side is one micro-batch."""
        step = max(1, batch_rows // 2)
        for side, name in enumerate("AB"):
            (work / name).mkdir(parents=True)
            for number, start in enumerate(range(0, rows // 2, step)):
                path = work / name / f"{number:06d}.parquet"
                pq.write_table(self.table(side, start, min(start + step, rows // 2)), path)
                os.utime(path, (number, number))  # Spark takes files in the order of their times

    def table(self, side: int, start: int, end: int) -> pa.Table:
        """Rows `start` to `end` of A (0) or B (1)."""
        times, keys, values = self.sides[side]
        repeat, place = np.divmod(np.arange(start, end), times.size)
        at = times[place] + repeat * self.period_s * 1_000_000
        columns = {
            "ts": pa.array(at).view(pa.timestamp("us", tz="UTC")),
            "k": pa.array(keys[place]),
            "v": pa.array(values[place]),
        }
        return pa.table(columns)

    def answers(self, rows: int) -> dict[int, tuple[int, int]]:
        """COUNT(*) and SUM(A.v) by whole second, for those that so many rows complete."""
        last = (rows // 2 - 1) // self.rate
        seconds = min(last, WINDOW_S + 2 * self.period_s)  # from then on the period repeats
        left, right = (self._per_second(side, seconds) for side in self.sides)
        known = {}
        for second in range(1, seconds + 1):
            window = slice(max(0, second - WINDOW_S), second)
            (_, sums), (partners, _) = left, right
            count = left[0][window].sum(axis=0) @ partners[window].sum(axis=0)
            total = sums[window].sum(axis=0) @ partners[window].sum(axis=0)
            known[second] = (int(count), int(total))
        base = seconds - self.period_s
        for second in range(seconds + 1, last + 1):
            known[second] = known[base + 1 + (second - base - 1) % self.period_s]
        return known

    def answer_at(self, at_us: int) -> tuple[int, int | None]:
        """COUNT(*) and SUM(A.v) at any instant, from the rows in the windows."""
        (left_keys, values), (right_keys, _) = (self._window(side, at_us) for side in self.sides)
        partners = np.bincount(right_keys, minlength=self.keys)[left_keys]
        if not partners.any():
            return 0, None
        return int(partners.sum()), int((partners * values).sum())

    def _window(self, side: Side, at_us: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Keys and values of the rows that a window holds."""
        times, keys, values = side
        period_us, width_us = self.period_s * 1_000_000, WINDOW_S * 1_000_000
        chosen = []
        for repeat in range(max(0, (at_us - width_us) // period_us), at_us // period_us + 1):
            since_us = at_us - repeat * period_us
            first = np.searchsorted(times, since_us - width_us, side="left")  # both ends belong
            chosen.append(np.arange(first, np.searchsorted(times, since_us, side="right")))
        places = np.concatenate(chosen)
        return keys[places], values[places]

    def _per_second(self, side: Side, seconds: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows, and their values added up, per second and key."""
        times, keys, values = side
        shape = (self.period_s, self.keys)
        cells = times // 1_000_000 * self.keys + keys
        length = shape[0] * shape[1]
        count = np.bincount(cells, minlength=length).reshape(shape)
        total = np.bincount(cells, weights=values, minlength=length).reshape(shape)
        places = np.arange(seconds) % self.period_s
        return count[places].astype(np.int64), total[places].astype(np.int64)


def pipeline_data(rate: int, keys: int, seed: int) -> PipelineData:
    """Generate it: `rate` rows per second and side, about 400,000 rows in a period."""
    rng = np.random.default_rng(seed)
    period_s = max(4, 200_000 // rate)
    sides = []
    for remainder in (1, 3):
        size = rate * period_s
        # As many rows in every second: how far a stream has come is then known from its length.
        within = np.sort(rng.integers(0, 250, (period_s, rate)), axis=1) * 4 + remainder
        times = (within * 1_000 + np.arange(period_s)[:, None] * 1_000_000).ravel()
        sides.append((times, rng.integers(0, keys, size), rng.integers(1, 100, size)))
    return PipelineData(period_s, keys, (sides[0], sides[1]))
