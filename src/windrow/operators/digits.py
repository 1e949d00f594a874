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

    digits: int
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
             2.0 ** -(form.low_bit + bits * (digit + 1)) if digit + 1 < form.digits else 0.0)
            for value, form in enumerate(forms)
            for digit in range(form.digits)
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
    values = list(zip(ranges, kinds, strict=True))
    if any(kind == INTEGER and high > EXACT_INTEGER_BITS for (_, high), kind in values):
        return None
    forms = tuple(_form(*each, kind, bits) for each, kind in values)
    return (bits, forms) if all(_is_usable(form, bits) for form in forms) else None


def _form(low: int, high: int, kind: int, bits: int) -> DigitForm:
    if low == high:
        return DigitForm(0, 0)
    count = -(-(high - low) // bits)
    if kind == INTEGER:
        return DigitForm(count, 0)
    # What is left over is for values to come: more of them are finer than are larger.
    spare = bits * count - (high - low)
    return DigitForm(count, low - (spare - spare // 3))


def _is_usable(form: DigitForm, bits: int) -> bool:
    ends = (form.low_bit, form.low_bit + bits * form.digits)
    return form.digits <= MOST_DIGITS and max(map(abs, ends)) <= LARGEST_POWER


def limb_span(forms: Sequence[DigitForm], bits: int) -> tuple[int, int]:
    """The limbs that hold the digits of all values: the lowest, and one more than the highest."""
    used = [form for form in forms if form.digits]
    if not used:
        return 0, 0
    low = min((form.low_bit - LOWEST_BIT) >> 5 for form in used)
    high = max((form.low_bit + bits * (form.digits - 1) - LOWEST_BIT) >> 5 for form in used)
    return low, high + 3


def forms_holding(
    left: tuple[int, Sequence[DigitForm]], right: tuple[int, Sequence[DigitForm]]
) -> tuple[int, tuple[DigitForm, ...]]:
    """Bits and forms that hold any sum that either side holds, to keep and read it."""
    bits = min(left[0], right[0])
    forms = []
    for pair in zip(left[1], right[1], strict=True):
        sides = zip((left[0], right[0]), pair, strict=True)
        used = [(form.low_bit, each * (form.digits - 1)) for each, form in sides if form.digits]
        low = min((low_bit for low_bit, _ in used), default=0)
        top = max((low_bit + length for low_bit, length in used), default=0)
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
            return self.digits[:, 0].astype(np.float64) * 2.0**self.low_bit
        out = np.empty(self.valid.size, np.float64)
        digits_to_doubles(np.ascontiguousarray(self.digits), self.bits, self.low_bit, out)
        return out

    def taken(self, rows: Vector) -> DigitLanes:
        """Those of some rows."""
        return DigitLanes(
            self.valid[rows], self.digits[rows], self.bits, self.low_bit, self.is_integer
        )
