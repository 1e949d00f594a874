"""A list as plain as can be: NumPy over slices of sorted rows, the least that a list must do."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from papers.history.measure import UnequalAnswersError
from windrow.history.history import History

__all__ = ["SLICES", "Slices"]

SLICES = "NumPy over a list"
# Plain sums of doubles, which the history's are not.
SUM_TOLERANCE = 1e-9


class Slices:
    """Times and values in order; count, sum, least and greatest of a range. No moments, no NULL."""

    def __init__(self, times: NDArray[np.int64], values: pa.Array) -> None:
        self._times = times
        self._values: NDArray[np.float64] = values.to_numpy()

    def ask(self, since_us: int, until_us: int) -> tuple[int, float, float, float]:
        """Count, sum, least and greatest; NaN where there is none."""
        first, end = np.searchsorted(self._times, (since_us, until_us))
        part = self._values[first:end]
        if part.size == 0:
            return 0, math.nan, math.nan, math.nan
        return part.size, float(part.sum()), float(part.min()), float(part.max())

    def asked_us(self, ranges: Sequence[tuple[int, int]], rounds: int) -> float:
        """CPU microseconds of a range: the mean of all, the median of some rounds."""
        spent = []
        for _ in range(rounds):
            began = time.thread_time()
            for since_us, until_us in ranges:
                self.ask(since_us, until_us)
            spent.append(1e6 * (time.thread_time() - began) / len(ranges))
        return statistics.median(spent)

    def check(self, history: History, ranges: Sequence[tuple[int, int]]) -> None:
        """The history must answer the same."""
        for since_us, until_us in ranges:
            count, total, least, greatest = self.ask(since_us, until_us)
            answer = history.snapshot(since_us, until_us)
            is_equal = answer.bounds("count").value == count
            if count:
                is_equal = (
                    is_equal
                    and answer.bounds("min", "v").value == least
                    and answer.bounds("max", "v").value == greatest
                    and math.isclose(answer.bounds("sum", "v").value, total, rel_tol=SUM_TOLERANCE)
                )
            if not is_equal:
                raise UnequalAnswersError(f"{SLICES} answers [{since_us}, {until_us}) otherwise")
