"""How wide sums over a join must be: from the rows of the windows and the values seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from windrow.exact.kernels import DOUBLE, INTEGER_LIMB, LIMB_BITS, limb_range
from windrow.operators.lanes import LaneLayout, Matrix
from windrow.operators.tree.joined_bounds import JoinedRows
from windrow.operators.tree.terms import SUM, Factor, MeasureTerms, Term, TermLayout
from windrow.operators.tree.wide_kernels import count_special
from windrow.windows.kernels import largest_magnitude

__all__ = ["TermBounds"]

# Sums stay below this in one word.
WORD_LIMIT = 1 << 62
# Fewer than two digits would have to be distinguished when counts are read.
FEWEST_DIGITS = 2

Flags = NDArray[np.uint8]


class TermBounds:
    """Watches the values of all inputs and says which layout their sums need.

    kinds: of every value of every input, INTEGER or DOUBLE.
    """

    def __init__(
        self,
        measures: Sequence[MeasureTerms],
        kinds: Sequence[Sequence[int]],
        joined: JoinedRows | None = None,
    ) -> None:
        lanes = LaneLayout.smallest((tuple(measure.kind for measure in measures),))
        self._kinds = kinds
        self._measured = {factor for measure in measures for factor in measure.factors}
        self._strict = {
            factor for measure in measures if not measure.is_single for factor in measure.factors
        }
        self._joined = joined
        self._rows = [1] * len(kinds)
        self._largest: dict[Factor, int] = dict.fromkeys(self._measured, 1)
        self._limbs: dict[Factor, tuple[int, int]] = {}
        self._digits: dict[Term, int] = {}
        self.layout = self._fitted(TermLayout(tuple(measures), lanes))

    def takes(self, input_index: int, values: Matrix, valid: Flags) -> bool:
        """Whether products can take these values: no factor may be NaN or infinite."""
        return not any(
            count_special(values[value], _flags(valid, value))
            for value in self._values(self._strict, input_index)
            if self._kinds[input_index][value] == DOUBLE
        )

    def admit(self, input_index: int, values: Matrix, valid: Flags, rows: int) -> TermLayout:
        """The layout that holds all sums when the input's window has this many rows in all.

        These are among them, and their codes are counted.
        """
        layout = self.layout
        is_nullable = layout.lanes.is_nullable
        for value in self._values(self._measured, input_index):
            flags = _flags(valid, value)
            is_nullable |= bool(flags.size and not flags.all())
            if self._kinds[input_index][value] == DOUBLE:
                is_nullable |= self._see_doubles((input_index, value), values[value], flags)
            else:
                seen = -int(largest_magnitude(values[value : value + 1]))
                self._largest[input_index, value] = max(self._largest[input_index, value], seen)
        # Powers of two: the layout does not change with every row.
        self._rows[input_index] = max(
            self._rows[input_index], 1 << (rows - 1).bit_length() if rows else 1
        )
        if self._joined is not None:
            self._joined.add(values.shape[1])
        if is_nullable:
            layout = replace(layout, lanes=layout.lanes.nullable())
        self.layout = self._fitted(layout)
        return self.layout

    def _see_doubles(self, factor: Factor, values: Matrix, flags: Flags) -> bool:
        found = np.array([1 << 30, -1, 0], np.int64)
        limb_range(values, flags, DOUBLE, found)
        low, high, special = (int(each) for each in found)
        if low < high:
            before = self._limbs.get(factor, (low, high))
            self._limbs[factor] = (min(low, before[0]), max(high, before[1]))
        return special > 0

    def _fitted(self, layout: TermLayout) -> TermLayout:
        if not layout.is_wide and self._fits_words(layout):
            return layout
        bounds = [self._bound(term) for term in layout.terms]
        if not layout.is_wide:
            layout = replace(layout, lanes=layout.lanes.reaching(INTEGER_LIMB, INTEGER_LIMB))
            bounds = [self._bound(term) for term in layout.terms]
        lows = tuple(sorted((factor, low) for factor, (low, _) in self._limbs.items()))
        for term, bound in zip(layout.terms, bounds, strict=True):
            needed = (bound.bit_length() + LIMB_BITS) // LIMB_BITS  # with one bit for the sign
            self._digits[term] = max(FEWEST_DIGITS, needed, self._digits.get(term, 0))
        digits = tuple(self._digits[term] for term in layout.terms)
        layout = replace(layout, digits=digits, lows=lows)
        return replace(layout, lanes=_reaching(layout))

    def _fits_words(self, layout: TermLayout) -> bool:
        """Whether all sums together stay below the limit of a word.

        Most rows do not join with most others: where their numbers alone are too large, those
        behind each key are looked at.
        """
        largest = sum(self._largest_part(term) for term in layout.terms)
        if prod(self._rows) * largest < WORD_LIMIT:
            return True
        return self._joined is not None and self._joined.stay_below(
            WORD_LIMIT // largest, self._rows
        )

    def _bound(self, term: Term) -> int:
        """No sum of the term is larger, in units of its scale."""
        return prod(self._rows) * self._largest_part(term)

    def _largest_part(self, term: Term) -> int:
        """No joined row adds more to the term."""
        return prod(self._size(each) for each in term.factors) if term.role == SUM else 1

    def _size(self, factor: Factor) -> int:
        input_index, value = factor
        if self._kinds[input_index][value] != DOUBLE:
            return self._largest[factor]
        low, high = self._limbs.get(factor, (0, 0))
        return 1 << (LIMB_BITS * (high - low))

    @staticmethod
    def _values(chosen: set[Factor], input_index: int) -> list[int]:
        return sorted(value for there, value in chosen if there == input_index)


def _reaching(layout: TermLayout) -> LaneLayout:
    """Lanes for all digits of all sums."""
    lanes = layout.lanes
    for term, digits in zip(layout.terms, layout.digits, strict=True):
        if term.role == SUM:
            low = INTEGER_LIMB + layout.total_scale(term)
            lanes = lanes.reaching(low, low + digits)
    return lanes


def _flags(valid: Flags, value: int) -> Flags:
    return valid[value] if valid.size else np.empty(0, np.uint8)
