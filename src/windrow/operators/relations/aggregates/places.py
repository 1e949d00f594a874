"""Places of a step: the groups that changes update, instant by instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.operators.relations.aggregates import kernels
from windrow.windows.codes import Codes

__all__ = ["PlaceFinder", "Places"]

Vector = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """A place is one group at one instant, at which changes update it; places are in time order.

    groups: the different groups, as codes. place: of each change. at, number, last_change: of each
    place the instant, its group's number in `groups`, its last change. previous: which state the
    group had before, where states are those of all groups before the step, then those of places.
    """

    groups: Codes
    place: Vector
    at: Vector
    number: Vector
    last_change: Vector
    previous: Vector

    @property
    def size(self) -> int:
        """How many places there are."""
        return self.at.size

    @property
    def numbers(self) -> Vector:
        """The number of the group of every state."""
        return np.concatenate([np.arange(self.groups.size), self.number])


class PlaceFinder:
    """Finds the places of changes."""

    def __init__(self) -> None:
        self._last_place = np.empty(0, np.int64)
        self._base = 0

    def places(self, at: Vector, groups: Codes, capacity: int) -> Places:
        """The places of changes of these groups, whose codes are below `capacity`."""
        if capacity > self._last_place.size:
            more = np.full(capacity - self._last_place.size, -1, np.int64)
            self._last_place = np.concatenate([self._last_place, more])
        size = at.size
        place, place_at, number, last_change, previous = np.empty((5, size), np.int64)
        different = np.empty(size, np.int32)
        # Moved on first: a number that was used must not be used again, whatever happens.
        base, self._base = self._base, self._base + size
        used, count = kernels.find_places(
            at, groups, self._last_place, base,
            (place, place_at, number, last_change, previous, different),
        )  # fmt: skip
        previous = previous[:used]
        return Places(
            different[:count], place, place_at[:used], number[:used], last_change[:used],
            np.where(previous < 0, ~previous, previous + count),
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._last_place.nbytes
