"""Answers as lines to draw: one for each group and value, of the newest points only.

A line is broken where its group had no answer though there was one due. A bound is drawn as the
band in which the exact value lies: |answer - exact| <= bound * |exact|.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["LINES_LIMIT", "Line", "Lines", "band"]

# More lines than these are indistinguishable; further groups are counted, not drawn.
LINES_LIMIT = 12

Floats = NDArray[np.float64]


def _none() -> Floats:
    return np.zeros((4, 0))


@dataclass
class Line:
    """points: times in milliseconds, values, and the ends of the band, a row each."""

    label: str
    points: Floats = field(default_factory=_none)

    def add(self, points: Floats, limit: int) -> None:
        """Appends points; the oldest beyond the limit are dropped."""
        self.points = np.concatenate([self.points, points], axis=1)[:, -limit:]


class Lines:
    """Takes tables of answers one after the other.

    groups: the columns that tell lines apart; values: the columns drawn; every_us: the time between
    two answers, if it is fixed; limit: how many points are kept per line.
    """

    def __init__(
        self, groups: Sequence[str], values: Sequence[str], every_us: int | None, limit: int
    ) -> None:
        self._groups = list(groups)
        self._values = list(values)
        self._every_ms = None if every_us is None else every_us / 1000
        self._limit = limit
        self._lines: dict[tuple[str, str], Line] = {}
        self._left_out: set[tuple[str, str]] = set()
        self._newest_two = (-np.inf, -np.inf)

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines.values())

    @property
    def left_out(self) -> int:
        """How many lines are not drawn, of those there have been lately."""
        return len(self._left_out)

    def append(self, answers: pa.Table) -> None:
        """Answers in the order of their instants."""
        if answers.num_rows == 0:
            return
        times = answers.column("at").cast(pa.int64()).to_numpy() / 1000.0
        instants = np.unique(times)
        bounds = _floats(answers.column("error_bound"), missing=0.0)
        names, codes = _labels(answers, self._groups)
        self._left_out.clear()
        for code, name in enumerate(names):
            rows = np.flatnonzero(codes == code)
            for value in self._values:
                line = self._line(name, value)
                if line is not None:
                    shown = _floats(answers.column(value), missing=np.nan)[rows]
                    points = np.stack([times[rows], shown, *band(shown, bounds[rows])])
                    line.add(self._broken(line, points, instants), self._limit)
        self._newest_two = tuple(np.unique([*self._newest_two, *instants[-2:]])[-2:].tolist())

    def latest(self, line: Line) -> float | None:
        """The value at the newest instant; None where the group has none."""
        if line.points.shape[1] == 0 or line.points[0, -1] < self._newest_two[-1]:
            return None
        value = float(line.points[1, -1])
        return None if np.isnan(value) else value

    def _line(self, name: str, value: str) -> Line | None:
        key = (name, value)
        if key not in self._lines:
            if len(self._lines) >= LINES_LIMIT:
                self._left_out.add(key)
                return None
            several = len(self._values) > 1 or not name
            self._lines[key] = Line(f"{name} {value}".strip() if several else name)
        return self._lines[key]

    def _broken(self, line: Line, points: Floats, instants: Floats) -> Floats:
        """The points, with a hole at the first answer that each group lacks between two of them."""
        times = points[0]
        before = np.append(line.points[0, -1:], times[:-1])
        first = times.size - before.size  # 1 for a new line: nothing comes before its first point
        if self._every_ms is not None:
            missed = before + self._every_ms
        else:
            known = np.unique([*self._newest_two, *instants])
            missed = known[np.searchsorted(known, before, side="right")]
        # Milliseconds since 1970 are exact to less than half a microsecond as doubles.
        at = np.flatnonzero(missed < times[first:] - 5e-4)
        gaps = np.full((4, at.size), np.nan)
        gaps[0] = missed[at]
        return np.insert(points, at + first, gaps, axis=1)


def band(values: Floats, bounds: Floats) -> tuple[Floats, Floats]:
    """Between which values the exact one lies.

    >>> low, high = band(np.array([90.0, -90.0, 5.0]), np.array([0.1, 0.1, 1.0]))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([81.82, -100.0, -inf], [100.0, -81.82, inf])
    """
    known = bounds < 1
    safe = np.where(known, bounds, 0.0)
    ends = values / (1 + safe), values / (1 - safe)
    low = np.where(known, np.minimum(*ends), -np.inf)
    high = np.where(known, np.maximum(*ends), np.inf)
    return low, high


def _floats(column: pa.ChunkedArray, missing: float) -> Floats:
    values: Floats = pc.fill_null(column.cast(pa.float64(), safe=False), missing).to_numpy()
    return values


def _labels(answers: pa.Table, groups: list[str]) -> tuple[list[str], NDArray[Any]]:
    """The names of the groups, and for each row the number of its name."""
    if not groups:
        return [""], np.zeros(answers.num_rows, np.int32)
    texts = [pc.fill_null(answers.column(name).cast(pa.string()), "NULL") for name in groups]
    whole = pc.binary_join_element_wise(*texts, ", ").combine_chunks().dictionary_encode()
    return whole.dictionary.to_pylist(), whole.indices.to_numpy()
