"""Numbers for the ends of long texts, in the order of these ends.

Purpose: a sort key has a few words of a text and one number for what is behind them, so that one
    long text does not make all other rows longer.
Form: ends are kept in order, each once. A new one gets a number between those of its neighbours;
    where there is none all are numbered anew, evenly, and whoever holds numbers is told.
Time: O(log n) comparisons for a new end. Numbers run out after forty ends in one gap at least.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

__all__ = ["TextTails"]

Vector = NDArray[np.int64]

_LAST = 1 << 62
# Between the last end and one behind it, as texts that come in order are.
_STEP = 1 << 40
# Bytes of an end beside its own: the object, its number, and its places in a list and a dict.
_TAIL_BYTES = 160


class TextTails:
    """The ends that there are.

    >>> tails = TextTails()
    >>> first = tails.numbers([b"b", b"a", b"b"])
    >>> bool(first[0] == first[2] > first[1] > 0)
    True
    """

    def __init__(self) -> None:
        self._number_of: dict[bytes, int] = {}
        self._sorted: list[bytes] = []
        self._bytes = 0
        self.numbering = 0  # grows when all are numbered anew
        self._before: Vector = np.empty(0, np.int64)  # the numbers until then, in order
        self._after: Vector = np.empty(0, np.int64)

    def numbers(self, tails: list[bytes]) -> Vector:
        """The number of each; numbers given before may be others then: see renumbered()."""
        new = sorted({*tails} - self._number_of.keys())
        has_room = True
        for place, run in groupby(new, lambda tail: bisect_left(self._sorted, tail)):
            has_room = self._place(place, list(run)) and has_room
        # A list in order is merged in one go: the sort finds its runs.
        self._sorted = sorted([*self._sorted, *new]) if new else self._sorted
        if not has_room:
            self._number_anew()
        return np.array([self._number_of[tail] for tail in tails], np.int64)

    def _place(self, place: int, run: list[bytes]) -> bool:
        """Number new ends between two neighbours; False where these are too close."""
        low = self._number_of[self._sorted[place - 1]] if place else 0
        is_last = place == len(self._sorted)
        high = _LAST if is_last else self._number_of[self._sorted[place]]
        if is_last and low + _STEP * (len(run) + 1) < _LAST:
            high = low + _STEP * (len(run) + 1)
        has_room = high - low > len(run)
        for number, tail in enumerate(run, 1):
            self._number_of[tail] = low + (high - low) * number // (len(run) + 1)
            self._bytes += len(tail)
        return has_room

    def _number_anew(self) -> None:
        between = _LAST // (len(self._sorted) + 1)
        old = np.array([self._number_of[tail] for tail in self._sorted], np.int64)
        new = between * np.arange(1, old.size + 1, dtype=np.int64)
        self._number_of = dict(zip(self._sorted, new.tolist(), strict=True))
        order = np.argsort(old, kind="stable")
        self._before, self._after = old[order], new[order]
        self.numbering += 1

    def renumbered(self, numbers: Vector) -> Vector:
        """Numbers given before all were numbered anew as they are now; 0 stays."""
        if not self._before.size:
            return numbers
        place = np.minimum(np.searchsorted(self._before, numbers), self._before.size - 1)
        return np.where(self._before[place] == numbers, self._after[place], 0)

    def keep(self, numbers: Iterable[int]) -> None:
        """Forget all ends but those of these numbers."""
        used = {*numbers}
        self._number_of = {t: n for t, n in self._number_of.items() if n in used}
        self._sorted = [tail for tail in self._sorted if tail in self._number_of]
        self._bytes = sum(map(len, self._sorted))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._bytes + _TAIL_BYTES * len(self._sorted) + 2 * self._before.nbytes
