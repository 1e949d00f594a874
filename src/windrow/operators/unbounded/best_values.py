"""Extremes and different values of a window that rows never leave: what matters is the best so far.

Nothing is kept of a row but its new value, and of a group its best ranks and how many values it
has. Rows wait in a window of their own until the clock reaches them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.code_tuples import SweptTuples
from windrow.operators.group_updates import GroupUpdates
from windrow.operators.keyed import kernels
from windrow.operators.lanes import Matrix, Vector
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.lifetime import Lifetime
from windrow.windows.marks import Copies
from windrow.windows.window import Window

__all__ = ["EndlessExtras"]


class EndlessExtras:
    """Per group: distinct counts and extremes, this many of each."""

    def __init__(self, tallies: int, extremes: int) -> None:
        self._tallies, self._extremes = tallies, extremes
        # A row's words: the code of (group, value) for each tally, the rank for each extreme.
        self.window = Window(tallies + extremes, lifetime=Lifetime.unbounded())
        self._pairs = [SweptTuples(2) for _ in range(tallies)]
        self._is_seen = np.zeros((tallies, 0), np.bool_)
        self.states = np.zeros((0, tallies + 2 * extremes), np.int64)

    def append(
        self,
        times: Vector,
        groups: Codes,
        values: list[Codes],
        ranks: Matrix,
        present: NDArray[np.uint8],
    ) -> None:
        """Take rows: codes of values per tally, NO_CODE for NULL; ranks and flags per extreme."""
        words = np.empty((self._tallies + self._extremes, times.size), np.int64)
        for index, codes in enumerate(values):
            words[index] = self._pair_codes(index, groups, codes)
        words[self._tallies :] = ranks
        flags = np.ones(words.shape, np.uint8)
        flags[self._tallies :] = present
        self.window.append(times, groups, words, flags)
        self._reserve(int(groups.max(initial=-1)) + 1)

    def advance(self, updates: GroupUpdates, until: int) -> Matrix:
        """Apply the rows up to `until`; the extras of each update, whose groups have rows."""
        columns = self.window.columns
        waiting = columns.times[columns.tail : columns.end]
        first = columns.tail
        end = first + int(np.searchsorted(waiting, until, side="right"))
        out = np.zeros((updates.at.size, self.states.shape[1]), np.int64)
        kernels.best_so_far(
            first, end, columns.times, columns.codes, columns.values, columns.valid,
            self._tallies, self._extremes, self._is_seen, self.states,
            updates.at, updates.group, out,
        )  # fmt: skip
        columns.cursor[0] = columns.cursor[1] = end
        return out

    def copies(self) -> Copies:
        """What the waiting rows will change, for a step that may fail."""
        columns = self.window.columns
        waiting = slice(columns.tail, columns.end)
        groups = np.unique(columns.codes[waiting])
        found: Copies = [(self.states, groups, self.states[groups])]
        for tally in range(self._tallies):
            pairs = columns.values[tally, waiting]
            places = (tally, pairs[pairs != NO_CODE])
            found.append((self._is_seen, places, self._is_seen[places]))
        return found

    def values_of(self, tally: int) -> tuple[Codes, Codes]:
        """The groups and values that were seen, of one tally."""
        seen = np.flatnonzero(self._is_seen[tally]).astype(np.int32)
        groups, values = self._pairs[tally].parts(seen)
        return groups, values

    def load(self, groups: Codes, states: Matrix) -> None:
        """Back from `states` of these groups."""
        self._reserve(int(groups.max(initial=-1)) + 1)
        self.states[groups] = states

    def load_values(self, tally: int, groups: Codes, values: Codes) -> None:
        """Back from values_of()."""
        codes = self._pair_codes(tally, groups, values)  # may make more room for flags
        self._is_seen[tally, codes] = True

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        pairs = sum(pairs.nbytes for pairs in self._pairs)
        return self.window.nbytes + pairs + self._is_seen.nbytes + self.states.nbytes

    def _pair_codes(self, tally: int, groups: Codes, values: Codes) -> Codes:
        out = np.full(values.size, NO_CODE, np.int32)
        known = values != NO_CODE
        out[known] = self._pairs[tally].encode([groups[known], values[known]])
        more = self._pairs[tally].capacity() - self._is_seen.shape[1]
        if more > 0:
            self._is_seen = np.pad(self._is_seen, ((0, 0), (0, more)))
        return out

    def _reserve(self, groups: int) -> None:
        if groups > self.states.shape[0]:
            more = 2 * groups - self.states.shape[0]
            self.states = np.pad(self.states, ((0, more), (0, 0)))
