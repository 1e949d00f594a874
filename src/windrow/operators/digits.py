"""Digits: which ones hold the values of a query, and how sums of digits are read.

A value is kept as a few digits of the same number of bits, each of which is summed in a plain lane
(exact/digit_kernels.py). How many bits a digit can have depends on how many rows a sum may have;
how many digits a value needs, on the lowest and the highest bit that was seen in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.exact.digit_kernels import digits_to_doubles, digits_to_limbs
from windrow.exact.kernels import HEADROOM_LIMBS, INTEGER, LOWEST_BIT

__all__ = ["Cut", "DigitForm", "DigitLanes", "chosen_forms", "forms_holding", "limb_span"]

Matrix = NDArray[np.int64]
Vector = NDArray[np.int64]

# The digits of a sum stay below this many bits, twice over: those of a sum that was kept in another
# layout before are not the sums of the digits of its values, but differ by less than such a sum.
LANE_BITS = 61
# A digit has as many bits as leave this many more for rows than there are now, or at least these.
SPARE_BITS = 2
FEWEST_ROW_BITS = 32
FEWEST_BITS = 16
MOST_DIGITS = 6
# Powers of two that are far inside the doubles, and so is every product of a digit with them.
LARGEST_POWER = 800
EXACT_INTEGER_BITS = 53


class DigitForm(NamedTuple):
    """How many digits a value has, and what the lowest bit of the lowest one counts: 2**low_bit."""

    count: int
    low_bit: int


class Cut(NamedTuple):
    """How the values of an input are cut into the lanes of their digits, one entry a lane.

    of_value: the value's number. scales: makes the digit the lowest of a whole number. above: the
    same for the digit above; 0 where there is none. An input without lanes has an entry of zeros,
    as compiled loops cannot have empty tuples.
    """

    of_value: tuple[int, ...]
    is_integer: tuple[bool, ...]
    scales: tuple[float, ...]
    above: tuple[float, ...]

    @classmethod
    def of(cls, kinds: Sequence[int], forms: Sequence[DigitForm], bits: int) -> Cut:
        """That of values of these kinds in these forms."""
        lanes = [
            (value, kinds[value] == INTEGER, 2.0 ** -(form.low_bit + bits * digit),
             2.0 ** -(form.low_bit + bits * (digit + 1)) if digit + 1 < form.count else 0.0)
            for value, form in enumerate(forms)
            for digit in range(form.count)
        ]  # fmt: skip
        return cls(*zip(*lanes, strict=True)) if lanes else cls((0,), (False,), (0.0,), (0.0,))


def chosen_forms(
    ranges: Sequence[tuple[int, int]], kinds: Sequence[int], rows: int
) -> tuple[int, tuple[DigitForm, ...]] | None:
    """Bits of a digit, and the form of each value, for sums of so many rows; None: there are none.

    ranges: the lowest bit of each value, and one more than the highest; equal for zero alone.
    """
    bits = LANE_BITS - SPARE_BITS - max(FEWEST_ROW_BITS, rows.bit_length())
    if bits < FEWEST_BITS:
        return None
    forms = [_form(*each, kind, bits) for each, kind in zip(ranges, kinds, strict=True)]
    if any(form.count > MOST_DIGITS for form in forms):
        return None
    ends = [form.low_bit + bits * form.count for form in forms]
    if any(abs(bit) > LARGEST_POWER for bit in (*ends, *(form.low_bit for form in forms))):
        return None
    if any(end - start > EXACT_INTEGER_BITS for (start, end), kind in zip(ranges, kinds, strict=True)
           if kind == INTEGER):
        return None
    return bits, tuple(forms)


def _form(low: int, high: int, kind: int, bits: int) -> DigitForm:
    if low == high:
        return DigitForm(0, 0)
    count = -(-(high - low) // bits)
    if kind == INTEGER:
        return DigitForm(count, 0)
    # What is left over is for values to come: more of them are finer than are larger.
    spare = bits * count - (high - low)
    return DigitForm(count, low - (spare - spare // 3))


def limb_span(forms: Sequence[DigitForm], bits: int) -> tuple[int, int]:
    """The limbs that hold the digits of all values: the lowest, and one more than the highest."""
    used = [form for form in forms if form.count]
    if not used:
        return 0, 0
    low = min((form.low_bit - LOWEST_BIT) >> 5 for form in used)
    high = max((form.low_bit + bits * (form.count - 1) - LOWEST_BIT) >> 5 for form in used)
    return low, high + 3


def forms_holding(
    left: tuple[int, Sequence[DigitForm]], right: tuple[int, Sequence[DigitForm]]
) -> tuple[int, tuple[DigitForm, ...]]:
    """Bits and forms that hold any sum that either side holds, to keep and read it."""
    bits = min(left[0], right[0])
    forms = []
    for pair in zip(left[1], right[1], strict=True):
        used = [(each, form) for each, form in zip((left[0], right[0]), pair, strict=True) if form.count]
        low = min((form.low_bit for _, form in used), default=0)
        top = max((form.low_bit + each * (form.count - 1) for each, form in used), default=0)
        forms.append(DigitForm(1 - (low - top) // bits if used else 0, low))
    return bits, tuple(forms)


@dataclass(frozen=True)
class DigitLanes:
    """One value of many rows, as ValueLanes: how many rows are valid, and the sum, in digits."""

    valid: Vector
    digits: Matrix
    bits: int
    low_bit: int
    is_integer: bool

    @property
    def special(self) -> Matrix:
        """Infinities and NaN: digits hold none."""
        return np.empty((self.valid.size, 0), np.int64)

    @cached_property
    def narrow(self) -> Vector | None:
        """The sum itself, where it is an integer of one digit."""
        if not self.is_integer or self.digits.shape[1] > 1:
            return None
        if not self.digits.shape[1]:
            return np.zeros(self.valid.size, np.int64)
        return self.digits[:, 0]

    @property
    def low_limb(self) -> int:
        """The lowest limb of `limbs`."""
        return self.span[0]

    @property
    def span(self) -> tuple[int, int]:
        """The limbs that hold the digits."""
        return limb_span((DigitForm(self.digits.shape[1], self.low_bit),), self.bits)

    @cached_property
    def limbs(self) -> Matrix:
        """The sum as carried limbs from low_limb on."""
        return self.limbs_between(*self.span)

    def limbs_between(self, low: int, high: int) -> Matrix:
        """The same from another limb on, and up to another one, with headroom."""
        out = np.zeros((self.valid.size, high - low + HEADROOM_LIMBS), np.int64)
        digits_to_limbs(np.ascontiguousarray(self.digits), self.bits, self.low_bit, low, out)
        return out

    def doubles(self) -> NDArray[np.float64]:
        """The nearest doubles to the sums."""
        if not self.digits.shape[1]:
            return np.zeros(self.valid.size, np.float64)
        if self.digits.shape[1] == 1:
            return self.digits[:, 0] * 2.0**self.low_bit
        out = np.empty(self.valid.size, np.float64)
        digits_to_doubles(np.ascontiguousarray(self.digits), self.bits, self.low_bit, out)
        return out

    def taken(self, rows: Vector) -> DigitLanes:
        """Those of some rows."""
        return DigitLanes(
            self.valid[rows], self.digits[rows], self.bits, self.low_bit, self.is_integer
        )
