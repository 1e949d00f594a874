"""What joined rows add to the sums: the words of their measures, spread over exact lanes.

A measure is a sum of terms, a term one word or the product of two. The layout of lanes grows with
the words that come.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.exact.kernels import INTEGER, INTEGER_LIMB, limb_range
from windrow.operators.lanes import LaneLayout, Matrix, Vector
from windrow.operators.pairs.block import JoinedRows
from windrow.operators.pairs.sums import kernels
from windrow.windows.kernels import EMPTY, largest_magnitude

__all__ = ["Shares"]

# Sums stay below this in narrow lanes.
NARROW_LIMIT = 1 << 62
NO_FLAGS: NDArray[np.uint8] = np.empty(0, np.uint8)
_NOTHING = (1 << 30, -1)  # the range of limbs of a word that was never but zero

# For each measure its terms: the numbers of one word or two.
Terms = Sequence[Sequence[tuple[int, ...]]]


class Shares:
    """Words of joined rows to lanes; kinds: of the measures, word_kinds: of the words."""

    def __init__(self, kinds: Sequence[int], word_kinds: Sequence[int], terms: Terms) -> None:
        self._terms = [list(each) for each in terms]
        self._kinds = np.array(kinds, np.int64)
        self._word_kinds = np.array(word_kinds, np.int64)
        flat = [(measure, term) for measure, each in enumerate(terms) for term in each]
        self._term_measure = np.array([measure for measure, _ in flat], np.int64)
        pairs = [(*term, EMPTY)[:2] for _, term in flat]
        self._term_words = np.array(pairs, np.int64).reshape(len(flat), 2)
        counts = [0, *(len(each) for each in terms)]
        self._first_term = np.cumsum(np.array(counts, np.int64))
        # Every measure is one word, in the order of the words.
        self._is_plain = self._terms == [[(word,)] for word in range(len(word_kinds))]
        self._largest = [1] * len(word_kinds)
        self._limbs = [_NOTHING] * len(word_kinds)
        self._has_gaps = False  # NULL, infinity or NaN
        self._share = np.empty((0, 0), np.int64)

    def admit(self, word: int, values: Vector, valid: NDArray[np.uint8] = NO_FLAGS) -> None:
        """Values that this word is going to have."""
        kind = int(self._word_kinds[word])
        found = np.array([*self._limbs[word], 0], np.int64)
        limb_range(values, valid, kind, found)
        self._limbs[word] = (int(found[0]), int(found[1]))
        if kind == INTEGER:
            largest = -int(largest_magnitude(values[None, :]))
            self._largest[word] = max(self._largest[word], largest)
        if found[2] or (valid.size and not valid.all()):
            self._has_gaps = True

    def fitted(self, layout: LaneLayout, joined_rows: int) -> LaneLayout:
        """The layout, or a wider one that holds sums over this many joined rows."""
        if self._has_gaps and not layout.is_nullable:
            layout = layout.nullable()
        if not layout.is_wide and self._bound() * joined_rows >= NARROW_LIMIT:
            layout = layout.reaching(0, 0)
        if layout.is_wide:
            low, high = self._limb_range()
            layout = layout.reaching(low, high)
        return layout

    def of(self, rows: JoinedRows, layout: LaneLayout) -> Matrix:
        """The lanes that each joined row adds; valid until the next call."""
        if self._is_plain and not layout.is_wide and not layout.is_nullable:
            return np.ascontiguousarray(rows.words.T)
        share = self._room(rows.count, layout.lane_count)
        if layout.is_wide:
            kernels.share_wide_rows(
                rows.words, self._word_kinds, rows.valid, self._kinds, self._first_term,
                self._term_words, layout.low_limb, layout.counters, layout.width, share,
            )  # fmt: skip
        elif layout.lane_count:
            kernels.share_narrow_rows(
                rows.words, rows.valid, self._term_measure, self._term_words, self._kinds.size,
                layout.value_count if layout.is_nullable else EMPTY, share,
            )  # fmt: skip
        return share

    def of_or_direct(self, rows: JoinedRows, layout: LaneLayout) -> tuple[Matrix, Vector]:
        """The lanes and no kinds; or no lanes, and the kinds of words that are added as they are.

        They are where every measure is one word, finite and not NULL, and lanes are wide.
        """
        if self._is_plain and layout.is_wide and not layout.is_nullable:
            return np.empty((0, layout.lane_count), np.int64), self._kinds
        return self.of(rows, layout), self._kinds[:0]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._share.nbytes

    def _room(self, rows: int, lanes: int) -> Matrix:
        if self._share.shape[1] != lanes or self._share.shape[0] < rows:
            self._share = np.empty((rows, lanes), np.int64)
        return self._share[:rows]

    def _bound(self) -> int:
        """No measure of one joined row is larger."""
        bound = 1
        for terms in self._terms:
            total = 0
            for term in terms:
                product = 1
                for word in term:
                    product *= self._largest[word]
                total += product
            bound = max(bound, total)
        return bound

    def _limb_range(self) -> tuple[int, int]:
        low, high = _NOTHING
        for terms in self._terms:
            for term in terms:
                ranges = [self._limbs[word] for word in term]
                if _NOTHING in ranges:
                    continue
                # Weights multiply, so that limbs add; limb INTEGER_LIMB weighs one.
                shift = INTEGER_LIMB * (len(term) - 1)
                low = min(low, sum(each[0] for each in ranges) - shift)
                high = max(high, sum(each[1] for each in ranges) - shift)
        return low, high
