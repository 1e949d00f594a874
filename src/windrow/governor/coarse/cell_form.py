"""What a cell holds: a count of rows, and lanes for each measure of its input.

Lanes add up but for extremes, which are kept as minima (of the values, and of the negated values).
A measure has only the lanes that the functions over it need.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.aggregate_functions import AggregateFunction, Form

__all__ = [
    "DEVIATION", "HIGHEST", "LOWEST", "NEGATIVE", "POSITIVE", "ROWS", "SQUARES", "VALID",
    "CellForm", "Lanes", "lanes_for", "reduced",
]  # fmt: skip

Lanes = NDArray[np.float64]
Codes = NDArray[np.int64]

ROWS = 0  # the first lane of every cell
VALID = "valid"
POSITIVE = "positive"  # the sum of values above zero
NEGATIVE = "negative"  # the sum of values below zero, without its sign
DEVIATION = "deviation"  # the sum of value - anchor
SQUARES = "squares"  # the sum of its squares
LOWEST = "lowest"
HIGHEST = "highest"  # negated, so that it is a minimum too
EXTREMES = (LOWEST, HIGHEST)

_SUM = (VALID, POSITIVE, NEGATIVE)
_SPREAD = (VALID, DEVIATION, SQUARES)
_NEEDED = {
    Form.COUNT: (VALID,),
    Form.SUM: _SUM,
    Form.MEAN: (*_SPREAD, LOWEST, HIGHEST),
    Form.SPREAD: _SPREAD,
}


def lanes_for(function: AggregateFunction) -> tuple[str, ...]:
    """The lanes that a function needs of its measure."""
    if function.form is Form.EXTREME:
        return (VALID, HIGHEST if function.is_greatest else LOWEST)
    return _NEEDED[function.form]


@dataclass(frozen=True)
class CellForm:
    """The lanes of a cell: (measure, lane) of each but the first, which counts rows."""

    columns: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, needed: Iterable[tuple[int, str]]) -> CellForm:
        """The form that has these lanes."""
        return cls(tuple(sorted(set(needed))))

    @property
    def width(self) -> int:
        """Lanes of a cell."""
        return 1 + len(self.columns)

    def place(self, measure: int, lane: str) -> int:
        """Which of the lanes that is."""
        return 1 + self.columns.index((measure, lane))

    @property
    def is_extreme(self) -> NDArray[np.bool_]:
        """Which lanes are minima; the others add up."""
        return np.array([False, *(lane in EXTREMES for _, lane in self.columns)])

    def empty(self, cells: int) -> Lanes:
        """Lanes of cells without rows."""
        lanes = np.zeros((cells, self.width))
        lanes[:, self.is_extreme] = np.inf
        return lanes

    def joined(self, other: CellForm) -> CellForm:
        """The form of rows that are made of one of each."""
        return CellForm(self.columns + other.columns)

    def of_rows(
        self,
        values: dict[int, NDArray[np.float64]],
        valid: dict[int, NDArray[np.bool_]],
        anchors: dict[int, float],
        rows: int,
    ) -> Lanes:
        """Lanes of single rows; values, valid, anchors: by measure."""
        out = self.empty(rows)
        out[:, ROWS] = 1.0
        for column, (measure, lane) in enumerate(self.columns, 1):
            chosen = valid[measure]
            out[chosen, column] = _of_values(lane, values[measure][chosen], anchors[measure])
        return out


def _of_values(lane: str, values: NDArray[np.float64], anchor: float) -> NDArray[np.float64]:
    if lane == VALID:
        return np.ones(values.size)
    if lane in EXTREMES:
        # NaN may be the extreme or not: then nothing is known.
        value = values if lane == LOWEST else -values
        return np.where(np.isnan(values), -np.inf, value)
    if lane == POSITIVE:
        return np.where(values < 0, 0.0, values)
    if lane == NEGATIVE:
        return np.where(values < 0, -values, 0.0)
    distance = values - anchor
    return distance if lane == DEVIATION else distance * distance


def reduced(codes: Codes, lanes: Lanes, is_extreme: NDArray[np.bool_]) -> tuple[Codes, Lanes]:
    """Each code once, in order, with the lanes of all its rows together.

    lanes: a row for each code; further axes are worked on alike.
    """
    if not codes.size:
        return codes, lanes
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    if first.size == codes.size:
        return ordered, lanes[order]
    taken = lanes[order]
    out = np.add.reduceat(taken, first, axis=0)
    if is_extreme.any():
        out[:, is_extreme] = np.minimum.reduceat(taken[:, is_extreme], first, axis=0)
    return ordered[first], out
