"""Exact sums as rows of digits: plain lanes that are added without carrying.

Purpose: sums of doubles at the speed of sums of integers, where the values allow it.
Form: a value is a whole number of 2**low_bit, cut into digits of `bits` bits, lowest first, all of
    its sign. The digits of a sum are the sums of the digits: each is a plain lane, which may be
    multiplied by a count. Nothing is carried until a sum is read.
Needs: every value is such a whole number, of as many digits as there are; the digits of all values
    that can be in a sum together stay below 63 bits (operators/digits.py sees to both).
Space: one lane a digit; a value that was never anything but zero has none.

A double is cut by multiplying it with powers of two and dropping fractions, which rounds nothing.
Integers up to 2**53 are cut as the doubles that they are.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.exact.kernels import (
    INTEGER,
    LIMB_BITS,
    LIMB_MASK,
    LOWEST_BIT,
    NO_LANE,
    bit_length,
    carry_over,
    nearest_double,
)

_EXPONENT_MASK = 0x7FF
_FRACTION_MASK = (1 << 52) - 1
_HIDDEN_BIT = 1 << 52


@inlined
def digit_of(value, scale, above, base):
    """One digit of a double: what `scale` makes whole, without the digits above, times the base."""
    return np.int64(np.trunc(value * scale) - np.trunc(value * above) * base)


@njit(cache=True)
def are_whole(values, valid, scale, limit):
    """Whether all valid doubles are whole numbers up to the limit, times the scale."""
    checked = valid.size > 0
    all_are = True
    for row in range(values.size):
        scaled = values[row] * scale
        is_whole = (np.trunc(scaled) == scaled) & (abs(scaled) <= limit)
        # What is far below the scale comes to zero, but is none.
        is_whole &= (scaled != 0.0) | (values[row] == 0.0)
        all_are &= is_whole | (checked and valid[row] == 0)
    return all_are


@njit(cache=True)
def bit_range(words, valid, kind, found):
    """Widen found = [lowest bit, highest bit + 1, special] to what all valid values have.

    found[2] counts infinities and NaN. Integers begin at bit 0.
    """
    check = valid.size > 0
    for index in range(words.size):
        if check and valid[index] == 0:
            continue
        word = words[index]
        if kind == INTEGER:
            size = uint64(-word if word < 0 else word)
            found[0] = min(found[0], 0)
            found[1] = max(found[1], bit_length(size))
            continue
        exponent = (word >> 52) & _EXPONENT_MASK
        fraction = word & _FRACTION_MASK
        if exponent == _EXPONENT_MASK:
            found[2] += 1
            continue
        if exponent == 0:
            exponent = 1
            if fraction == 0:
                continue
        else:
            fraction |= _HIDDEN_BIT
        lowest = fraction & -fraction
        found[0] = min(found[0], exponent - 1075 + bit_length(uint64(lowest)) - 1)
        found[1] = max(found[1], exponent - 1075 + bit_length(uint64(fraction)))


@njit(cache=True)
def share_digits(
    first, size, rows, cells, chosen, words, valid, doubles, cut, base, offset, digit_count,
    valid_offset, out_cell, share,
):  # fmt: skip
    """Cells and lanes of one input's events: every chosen value cut into its digits.

    doubles: the words as doubles. cut: the columns of operators.digits.Cut. offset: the first lane
    of the input's digits; valid_offset: of its counts of valid rows (NO_LANE: none). Writes from
    event `first` on.
    """
    of_value, is_integer, scales, above = cut
    count = chosen.size
    checked = valid.shape[0] > 0
    for i in range(first, first + size):
        event = uint64(i)
        row = uint64(rows[event])
        out_cell[event] = cells[row]
        for number in range(digit_count):
            value = uint64(chosen[of_value[number]])
            digit = 0
            if not checked or valid[value, row] != 0:
                double = doubles[value, row]
                if is_integer[number]:
                    double = np.float64(words[value, row])
                digit = digit_of(double, scales[number], above[number], base)
            share[event, uint64(offset + number)] = digit
        if valid_offset != NO_LANE:
            for number in range(count):
                is_valid = not checked or valid[uint64(chosen[number]), row] != 0
                share[event, uint64(valid_offset + number)] = is_valid


@njit(cache=True)
def digits_to_doubles(digits, bits, low_bit, out):
    """The double nearest to each row of digits."""
    rows, count = digits.shape
    work = np.empty(count, np.int64)
    for row in range(rows):
        for place in range(count):
            work[place] = digits[row, place]
        sign = carry_over(work, bits)
        if sign < 0:
            for place in range(count):
                work[place] = -work[place]
            carry_over(work, bits)
        out[row] = sign * nearest_double(work, bits, low_bit)


@njit(cache=True)
def digits_to_limbs(digits, bits, low_bit, low_limb, out):
    """Each row of digits as carried limbs, in rows of zeros that have room for them."""
    for row in range(digits.shape[0]):
        for place in range(digits.shape[1]):
            digit = digits[row, place]
            position = low_bit + bits * place - LOWEST_BIT
            shift = position & (LIMB_BITS - 1)
            limb = (position >> 5) - low_limb
            low = (digit & LIMB_MASK) << shift
            high = ((digit >> LIMB_BITS) << shift) + (low >> LIMB_BITS)
            out[row, limb] += low & LIMB_MASK
            out[row, limb + 1] += high & LIMB_MASK
            out[row, limb + 2] += high >> LIMB_BITS
        carry_over(out[row], LIMB_BITS)


@njit(cache=True)
def limbs_to_digits(limbs, low_limb, bits, low_bit, out):
    """Each row of limbs as digits, in rows of zeros; no limb has a bit below the lowest digit."""
    last = out.shape[1] - 1
    work = np.empty(limbs.shape[1], np.int64)
    for row in range(limbs.shape[0]):
        for limb in range(work.size):
            work[limb] = limbs[row, limb]
        carry_over(work, LIMB_BITS)
        for limb in range(work.size):
            rest = work[limb]
            position = LIMB_BITS * (limb + low_limb) + LOWEST_BIT - low_bit
            if position < 0:
                rest >>= min(-position, 63)
                position = 0
            if rest == 0:
                continue
            place = min(position // bits, last)
            shift = position - bits * place
            while place < last:
                space = bits - shift
                out[row, place] += (rest & ((1 << space) - 1)) << shift
                rest >>= space
                place += 1
                shift = 0
            # Limbs that repeat the sign may be above all that a lane holds.
            if shift < 64:
                out[row, place] += rest << shift
