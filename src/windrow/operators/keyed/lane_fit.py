"""Which layout of lanes rows ask for that are about to enter: the smallest one that holds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.exact.digit_kernels import are_whole, bit_range
from windrow.exact.kernels import INTEGER, limb_range
from windrow.operators.digits import LANE_BITS, chosen_forms
from windrow.operators.lanes import LaneLayout, Matrix
from windrow.windows.kernels import largest_magnitude

__all__ = ["LaneFit"]

Flags = NDArray[np.uint8]
Range = tuple[int, int]

# Sums stay below this in narrow lanes.
NARROW_LIMIT = 1 << 62
NO_FLAGS = np.empty(0, np.uint8)
NO_BITS = (1 << 30, -(1 << 30))


class LaneFit:
    """Remembers how large and how fine the values were.

    A layout never becomes smaller, and sums in it must hold whatever was let in.
    """

    def __init__(self, kinds: tuple[tuple[int, ...], ...]) -> None:
        self._largest = [0] * len(kinds)
        # Per value the lowest bit, and one more than the highest; equal while it was always zero.
        self._ranges: list[Range] = [(0, 0)] * sum(map(len, kinds))

    def fitted(
        self, layout: LaneLayout, input_index: int, values: Matrix, valid: Flags, rows: int
    ) -> LaneLayout:
        """The layout, or a wider one, for values of an input; a sum has at most so many rows."""
        if valid.size and not layout.is_nullable and not valid.all():
            layout = layout.nullable()
        if layout.is_plain:
            largest = -int(largest_magnitude(values)) if values.size else 0
            if self.stays_narrow(input_index, largest, rows):
                return layout
            layout = self._plain_in_digits(layout, rows)
        elif layout.forms:
            layout = self._in_digits(layout, input_index, values, valid, rows)
        return self._reaching(layout, input_index, values, valid) if layout.is_wide else layout

    def stays_narrow(self, input_index: int, largest: int, rows: int) -> bool:
        """Whether no sum of so many rows can leave its lane when such a value comes."""
        self._largest[input_index] = max(self._largest[input_index], 1, largest)
        return max(self._largest) * rows < NARROW_LIMIT

    def know(self, layout: LaneLayout, lanes: Matrix) -> None:
        """Sums in this layout are there already, of values that are not."""
        if layout.is_plain:
            self._largest[0] = max(1, -int(largest_magnitude(lanes)))
        for value, form in enumerate(layout.forms):
            if form.digits:
                end = form.low_bit + layout.digit_bits * form.digits
                self._ranges[value] = (form.low_bit, end)

    def _plain_in_digits(self, layout: LaneLayout, rows: int) -> LaneLayout:
        """Integers in digits, however large the largest was; in limbs where they are too large."""
        ranges = [
            (0, largest.bit_length())
            for largest, kinds in zip(self._largest, layout.kinds, strict=True)
            for _ in kinds
        ]
        return self._chosen(layout, ranges, rows)

    def _in_digits(
        self, layout: LaneLayout, input_index: int, values: Matrix, valid: Flags, rows: int
    ) -> LaneLayout:
        ranges, first = list(self._ranges), layout.first_value(input_index)
        for number, kind in enumerate(layout.kinds[input_index]):
            flags = valid[number] if valid.size else NO_FLAGS
            found = _widened(ranges[first + number], values[number], flags, kind)
            if found is None:
                return layout.reaching(0, 0)
            ranges[first + number] = found
        if _holds(layout, ranges, rows):
            self._ranges = ranges
            return layout
        return self._chosen(layout, ranges, rows)

    def _chosen(self, layout: LaneLayout, ranges: list[Range], rows: int) -> LaneLayout:
        """The layout with the digits that such values need, or limbs."""
        chosen = chosen_forms(ranges, layout.flat_kinds, rows)
        if chosen is None:
            return layout.reaching(0, 0)
        self._ranges = ranges
        return layout.with_digits(*chosen)

    def _reaching(
        self, layout: LaneLayout, input_index: int, values: Matrix, valid: Flags
    ) -> LaneLayout:
        found = np.array([1 << 30, -1, 0], np.int64)
        for value, kind in enumerate(layout.kinds[input_index]):
            limb_range(values[value], valid[value] if valid.size else NO_FLAGS, kind, found)
        low, high, special = found.tolist()
        return (layout.nullable() if special else layout).reaching(low, high)


def _widened(known: Range, words: NDArray[np.int64], valid: Flags, kind: int) -> Range | None:
    """The range of bits of these values, too; None where some have no such range."""
    low, high = known
    if kind == INTEGER:
        if -int(largest_magnitude(words[None, :])) < 1 << high - low:
            return known
    else:
        limit = 0.0 if low == high else 2.0 ** (high - low)
        if are_whole(words.view(np.float64), valid, 2.0**-low, limit):
            return known
    found = np.array([*(NO_BITS if low == high else known), 0], np.int64)
    bit_range(words, valid, kind, found)
    low, high, special = found.tolist()
    if special:
        return None
    return (low, high) if low < high else known


def _holds(layout: LaneLayout, ranges: list[Range], rows: int) -> bool:
    """Whether the digits hold such values, and sums of so many rows."""
    bits = layout.digit_bits
    if rows.bit_length() + bits > LANE_BITS:
        return False
    return all(
        low == high or (form.low_bit <= low and high <= form.low_bit + bits * form.digits)
        for (low, high), form in zip(ranges, layout.forms, strict=True)
    )
