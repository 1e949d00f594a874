"""What a history asks of a structure that holds it: the adaptive tree and its two rivals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from windrow.history.arrays import ReadingArrays
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import Reals, States, empty_states
from windrow.history.cells.kernels import PARTS
from windrow.history.leaves.batch import Batch
from windrow.history.regions import Regions

__all__ = ["Nodes", "Reading", "Storage"]


@dataclass(frozen=True)
class Nodes:
    """Nodes that have left: code and state of each; a state has the start of its node."""

    level: int
    codes: Longs
    whole: Longs
    real: Reals


class Reading:
    """States of an interval for some groups: what is surely in it, and nodes cut at either end.

    cuts: for each group and end the interval of the node that is cut; of no length where none is.
    """

    def __init__(self, codes: Longs, measures: int) -> None:
        self.codes = codes
        if codes.size == 1:  # copied: that is faster than rebuilding them
            whole, real = _states_of_one_group(measures)
            self.whole, self.real = whole.copy(), real.copy()
        else:
            self.whole, self.real = empty_states(PARTS * codes.size, measures)
        self.cuts = np.zeros((codes.size, 2, 2), np.int64)

    @property
    def arrays(self) -> ReadingArrays:
        """All of it, as kernels take it."""
        return ReadingArrays(self.codes, self.whole, self.real, self.cuts)

    @property
    def states(self) -> States:
        """The states, PARTS for each group."""
        return self.whole, self.real


@lru_cache
def _states_of_one_group(measures: int) -> States:
    return empty_states(PARTS, measures)


class Storage(Protocol):
    """Rows in, states of intervals out."""

    regions: Regions

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""

    def forget_blocks(self) -> None:
        """A step was rolled back: what was derived from its cells must be rebuilt."""

    def add(self, batch: Batch) -> None:
        """Take rows that are newer than the finest horizon."""

    def expire(self, now_us: int) -> list[Nodes]:
        """Let each level forget what is too old for it; returns what left the coarsest."""

    def read(self, reading: Reading, since_us: int, until_us: int, target: int) -> None:
        """Add an interval to a part of the states."""

    def present(self) -> Longs:
        """The codes of groups that anything is held of."""

    @property
    def nbytes(self) -> int:
        """Bytes held."""
