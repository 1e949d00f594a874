"""The anchor data: two streams of (ts, k, v), and the right answer at every whole second.

The same as the team's comparison of other systems uses (seed 7): 200,000 rows a side over 200
seconds, 1,000 keys, windows of 60 seconds. A's times are 1 and B's 3 modulo 4 milliseconds, so that
no row stands on a whole second and no pair is exactly 60 seconds apart: open and closed borders
give the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["WINDOW_MS", "AnchorData", "anchor_data"]

WINDOW_MS = 60_000


@dataclass(frozen=True)
class AnchorData:
    """Times in milliseconds, keys and values of both sides, in time order."""

    seconds: int
    times: tuple[NDArray[np.int64], NDArray[np.int64]]
    keys: tuple[NDArray[np.int64], NDArray[np.int64]]
    values: tuple[NDArray[np.int64], NDArray[np.int64]]

    @property
    def row_count(self) -> int:
        """Rows of both sides."""
        return self.times[0].size + self.times[1].size

    @property
    def end_us(self) -> int:
        """The end of the last second, in microseconds."""
        return self.seconds * 1_000_000

    def tables(self, repeats: int = 1, text_keys: bool = False) -> tuple[pa.Table, pa.Table]:
        """Both sides as Arrow tables; repeated one after the other in time."""
        left, right = (self._table(side, repeats, text_keys) for side in (0, 1))
        return left, right

    def _table(self, side: int, repeats: int, text_keys: bool) -> pa.Table:
        shifts = np.repeat(np.arange(repeats) * self.seconds * 1000, self.times[side].size)
        times = (np.tile(self.times[side], repeats) + shifts) * 1000
        keys = np.tile(self.keys[side], repeats)
        columns = {
            "ts": pa.array(times).view(pa.timestamp("us", tz="UTC")),
            "k": pa.array([f"key-{key}" for key in keys]) if text_keys else pa.array(keys),
            "v": pa.array(np.tile(self.values[side], repeats)),
        }
        return pa.table(columns)

    def reference(self) -> dict[int, tuple[int, int]]:
        """COUNT(*) and SUM(A.v) at each whole second, from the rows in the windows."""
        answers = {}
        key_count = 1 + int(max(self.keys[0].max(), self.keys[1].max()))
        for second in range(1, self.seconds + 1):
            high = second * 1000
            low = high - WINDOW_MS
            in_left, in_right = ((times > low) & (times < high) for times in self.times)
            partners = np.bincount(self.keys[1][in_right], minlength=key_count)
            matches = partners[self.keys[0][in_left]]
            answers[second] = (int(matches.sum()), int((matches * self.values[0][in_left]).sum()))
        return answers


def anchor_data(
    rows_a_side: int = 200_000, keys: int = 1000, seconds: int = 200, seed: int = 7
) -> AnchorData:
    """Generate it."""
    rng = np.random.default_rng(seed)
    span = seconds * 1000
    left = np.sort(rng.integers(0, span // 4, rows_a_side) * 4 + 1)
    right = np.sort(rng.integers(0, span // 4, rows_a_side) * 4 + 3)
    left_keys, right_keys = (rng.integers(0, keys, rows_a_side) for _ in range(2))
    left_values, right_values = (rng.integers(1, 100, rows_a_side) for _ in range(2))
    return AnchorData(seconds, (left, right), (left_keys, right_keys), (left_values, right_values))
