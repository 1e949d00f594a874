"""Exact sums of 64-bit integers and doubles, as rows of limbs.

Purpose: a sum that is right after 1e300, infinities and NaN have come and gone; the same bits in
    any order of adding, so that parallel parts combine and a rebuilt state equals the one it
    replaces.
Form: a number is a row of int64 limbs; limb i of the full range weighs 2**(32*i - 1088). A double
    touches three neighbouring limbs, an integer two. Limbs may run over 32 bits until normalised:
    then all are in [0, 2**32) but the highest, which carries the sign.
Space: only the limbs between the lowest and the highest one in use are kept (see lanes.py), four
    for everyday values. Infinities and NaN are counted separately.
Source: the "small superaccumulator" of Neal (2015), with multiplication by a count added.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit

LIMB_BITS = 32
LIMB_MASK = 0xFFFFFFFF
LOWEST_BIT = -1088
INTEGER_LIMB = 34  # limb 34 weighs 2**0
HEADROOM_LIMBS = 1  # above all values; it holds 63 bits and a sign: enough for 2**62 pairs

INTEGER = 0
DOUBLE = 1

# Lanes of a value before its limbs, where rows that are NULL or special are counted separately.
VALID_LANE = 0
NAN_LANE = 1
PLUS_INFINITY_LANE = 2
MINUS_INFINITY_LANE = 3
COUNTER_LANES = 4
NO_LANE = -1

_EXPONENT_MASK = 0x7FF
_FRACTION_MASK = (1 << 52) - 1
_HIDDEN_BIT = 1 << 52
_LOW_HALF = np.uint64(LIMB_MASK)
_HALF = np.uint64(LIMB_BITS)


@njit(cache=True)
def spread(bits, kind, low_limb, counters, lanes, row, base):
    """Write one valid value into zeroed lanes[row, base:]: its count, its limbs or special lane.

    counters: COUNTER_LANES, or 0 where every value is valid and finite.
    """
    if counters > 0:
        lanes[row, base + VALID_LANE] = 1
    if kind == INTEGER:
        spread_integer(bits, low_limb, lanes, row, base + counters)
    else:
        spread_double(bits, low_limb, lanes, row, base, counters)


@njit(cache=True)
def spread_integer(value, low_limb, lanes, row, base):
    """Two limbs of an integer: the low one without sign, the high one with it."""
    at = base + INTEGER_LIMB - low_limb
    lanes[row, at] = value & LIMB_MASK
    lanes[row, at + 1] = value >> LIMB_BITS


@njit(cache=True)
def spread_double(bits, low_limb, lanes, row, base, counters):
    """Three limbs of a double, all with its sign, or one count of a special value."""
    exponent = (bits >> 52) & _EXPONENT_MASK
    fraction = bits & _FRACTION_MASK
    if exponent == _EXPONENT_MASK:
        if fraction != 0:
            lanes[row, base + NAN_LANE] = 1
        elif bits < 0:
            lanes[row, base + MINUS_INFINITY_LANE] = 1
        else:
            lanes[row, base + PLUS_INFINITY_LANE] = 1
        return
    if exponent == 0:
        exponent = 1
    else:
        fraction |= _HIDDEN_BIT
    position = exponent - 1075 - LOWEST_BIT
    shift = position & (LIMB_BITS - 1)
    low = (fraction & LIMB_MASK) << shift
    high = ((fraction >> LIMB_BITS) << shift) + (low >> LIMB_BITS)
    sign = -1 if bits < 0 else 1
    at = base + counters + (position >> 5) - low_limb
    # A range of limbs that was fitted to the values has room for every limb that is not zero.
    if low & LIMB_MASK:
        lanes[row, at] = sign * (low & LIMB_MASK)
    if high & LIMB_MASK:
        lanes[row, at + 1] = sign * (high & LIMB_MASK)
    if high >> LIMB_BITS:
        lanes[row, at + 2] = sign * (high >> LIMB_BITS)


@njit(cache=True)
def add_value(word, kind, factor, low_limb, lanes, row, base):
    """Add a finite value times 1 or -1 to the limbs at lanes[row, base:], without carrying."""
    if kind == INTEGER:
        at = uint64(base + INTEGER_LIMB - low_limb)
        lanes[row, at] += factor * (word & LIMB_MASK)
        lanes[row, at + uint64(1)] += factor * (word >> LIMB_BITS)
        return
    exponent = (word >> 52) & _EXPONENT_MASK
    fraction = word & _FRACTION_MASK
    if exponent == 0:
        exponent = 1
        if fraction == 0:
            return  # zero may lie below all limbs
    else:
        fraction |= _HIDDEN_BIT
    position = exponent - 1075 - LOWEST_BIT
    shift = position & (LIMB_BITS - 1)
    low = (fraction & LIMB_MASK) << shift
    high = ((fraction >> LIMB_BITS) << shift) + (low >> LIMB_BITS)
    sign = -factor if word < 0 else factor
    # The range of limbs was fitted to the values, and has a limb of headroom above all three.
    at = uint64(base + (position >> 5) - low_limb)
    lanes[row, at] += sign * (low & LIMB_MASK)
    lanes[row, at + uint64(1)] += sign * (high & LIMB_MASK)
    lanes[row, at + uint64(2)] += sign * (high >> LIMB_BITS)


@njit(cache=True)
def spread_product(x, x_kind, y, y_kind, low_limb, counters, lanes, row, base):
    """Add the exact product of two words to lanes[row, base:]: five limbs, or one special value.

    A double is an integer of 53 bits times a power of two, so that integers and doubles mix. The
    product of finite factors is never infinite; others follow IEEE.
    """
    x_size, x_shift, x_special = parts_of_word(x, x_kind)
    y_size, y_shift, y_special = parts_of_word(y, y_kind)
    is_negative = (x < 0) != (y < 0)
    if x_special != 0 or y_special != 0:
        # Infinity times zero is NaN; zero has no bits.
        is_nan = x_special == 2 or y_special == 2
        is_nan = is_nan or (x_special == 0 and x_size == 0) or (y_special == 0 and y_size == 0)
        lane = MINUS_INFINITY_LANE if is_negative else PLUS_INFINITY_LANE
        lanes[row, base + (NAN_LANE if is_nan else lane)] += 1
        return
    position = x_shift + y_shift - LOWEST_BIT
    shift = np.uint64(position & (LIMB_BITS - 1))
    sign = -1 if is_negative else 1
    at = base + counters + (position >> 5) - low_limb
    x_low, x_high = x_size & _LOW_HALF, x_size >> _HALF
    y_low, y_high = y_size & _LOW_HALF, y_size >> _HALF
    lowest = x_low * y_low
    left, right = x_low * y_high, x_high * y_low
    middle = (lowest >> _HALF) + (left & _LOW_HALF) + (right & _LOW_HALF)
    upper = x_high * y_high + (left >> _HALF) + (right >> _HALF) + (middle >> _HALF)
    carry = np.uint64(0)
    for limb in range(5):
        part = carry
        if limb == 0:
            part += (lowest & _LOW_HALF) << shift
        elif limb == 1:
            part += (middle & _LOW_HALF) << shift
        elif limb == 2:
            part += (upper & _LOW_HALF) << shift
        elif limb == 3:
            part += (upper >> _HALF) << shift
        carry = part >> _HALF
        kept = np.int64(part & _LOW_HALF)
        # A range of limbs that was fitted to the factors has room for every limb that is not zero.
        if kept != 0:
            lanes[row, at + limb] += sign * kept


@njit(cache=True)
def parts_of_word(word, kind):
    """A word as size * 2**shift without its sign; special: 0 finite, 1 infinite, 2 NaN."""
    if kind == INTEGER:
        # The smallest integer has no opposite, but as a number without sign it is right.
        return np.uint64(-word if word < 0 else word), 0, 0
    exponent = (word >> 52) & _EXPONENT_MASK
    fraction = word & _FRACTION_MASK
    if exponent == _EXPONENT_MASK:
        return np.uint64(0), 0, (1 if fraction == 0 else 2)
    if exponent == 0:
        return np.uint64(fraction), -1074, 0
    return np.uint64(fraction | _HIDDEN_BIT), exponent - 1075, 0


@njit(cache=True)
def limb_range(values, valid, kind, found):
    """Widen found = [lowest, highest + 1, special] so that all valid, finite values fit between.

    found[2] counts infinities and NaN.
    """
    check = valid.size > 0
    for index in range(values.size):
        if check and valid[index] == 0:
            continue
        bits = values[index]
        if kind == INTEGER:
            found[0] = min(found[0], INTEGER_LIMB)
            found[1] = max(found[1], INTEGER_LIMB + 2)
            continue
        exponent = (bits >> 52) & _EXPONENT_MASK
        if exponent == _EXPONENT_MASK:
            found[2] += 1
            continue
        if exponent == 0 and bits & _FRACTION_MASK == 0:
            continue  # zero needs no limb
        limb = (max(exponent, 1) - 1075 - LOWEST_BIT) >> 5
        found[0] = min(found[0], limb)
        found[1] = max(found[1], limb + 3)


@njit(cache=True)
def to_doubles(limbs, low_limb, out):
    """The double nearest to each row of limbs."""
    rows, count = limbs.shape
    work = np.empty(count, np.int64)
    for row in range(rows):
        for limb in range(count):
            work[limb] = limbs[row, limb]
        out[row] = to_double(work, low_limb)


@njit(cache=True)
def to_double(limbs, low_limb):
    """The double of one number; the limbs are used up."""
    sign = carry_over(limbs, LIMB_BITS)
    if sign < 0:
        for limb in range(limbs.size):
            limbs[limb] = -limbs[limb]
        carry_over(limbs, LIMB_BITS)
    return sign * nearest_double(limbs, LIMB_BITS, LIMB_BITS * low_limb + LOWEST_BIT)


@njit(cache=True)
def nearest_double(limbs, bits, low_bit):
    """The double nearest to carried limbs of so many bits, none of them negative."""
    top = limbs.size - 1
    while top >= 0 and limbs[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    # The 64 highest bits, and whether there is anything below, say how to round.
    highest = uint64(limbs[top])
    held = bit_length(highest)
    exponent = low_bit + bits * top
    rest = 0
    place = top
    while place > 0:
        place -= 1
        taken = min(bits, 64 - held)
        below = bits - taken
        highest = (highest << uint64(taken)) | (uint64(limbs[place]) >> uint64(below))
        rest |= limbs[place] & ((1 << below) - 1)
        held += taken
        exponent -= taken
    if rest != 0:
        highest |= uint64(1)
    return scale_by_power(np.float64(highest), exponent)


@njit(cache=True)
def bit_length(number):
    """How many bits a number without sign has, from its highest one down."""
    length = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if number >> uint64(shift) != 0:
            number >>= uint64(shift)
            length += shift
    return length + np.int64(number)


@njit(cache=True)
def carry_over(limbs, bits):
    """Normalise a whole row of limbs of so many bits; returns its sign, -1 or 1."""
    carry = 0
    mask = (1 << bits) - 1
    for limb in range(limbs.size - 1):
        total = limbs[limb] + carry
        limbs[limb] = total & mask
        carry = total >> bits
    if limbs.size == 0:
        return 1.0
    limbs[limbs.size - 1] += carry
    return -1.0 if limbs[limbs.size - 1] < 0 else 1.0


@njit(cache=True)
def scale_by_power(value, exponent):
    """Value * 2**exponent, in steps that neither overflow nor lose bits on the way."""
    while exponent > 900:
        value *= 2.0**900
        exponent -= 900
    while exponent < -900:
        value *= 2.0**-900
        exponent += 900
    return value * 2.0**exponent


@njit(cache=True)
def share_narrow(
    first, size, rows, cells, chosen, values, valid, offset, valid_offset, out_cell, share
):
    """Cells and lanes of one side's events: each value and, if wanted, whether it is valid.

    chosen: which of the values. Writes from event `first` on; lanes from `offset` on, counts from
    `valid_offset` on (EMPTY: none).
    """
    count = chosen.size
    checked = valid.shape[0] > 0
    for i in range(first, first + size):
        event = uint64(i)
        row = uint64(rows[event])
        out_cell[event] = cells[row]
        for number in range(count):
            value = uint64(chosen[uint64(number)])
            lane = uint64(offset + number)
            share[event, lane] = values[value, row]
            if valid_offset != NO_LANE:
                is_valid = not checked or valid[value, row] != 0
                share[event, uint64(valid_offset + number)] = is_valid
                if not is_valid:
                    share[event, lane] = 0


@njit(cache=True)
def share_wide(
    first,
    size,
    rows,
    cells,
    chosen,
    values,
    valid,
    kinds,
    low_limb,
    counters,
    width,
    offset,
    out_cell,
    share,
):
    """Cells and lanes of one side's events: every chosen value spread over its exact lanes."""
    count = chosen.size
    checked = valid.shape[0] > 0
    for i in range(size):
        event = first + i
        row = rows[event]
        out_cell[event] = cells[row]
        for lane in range(offset, offset + count * width):
            share[event, lane] = 0
        for number in range(count):
            value = chosen[number]
            if not checked or valid[value, row] != 0:
                base = offset + number * width
                spread(values[value, row], kinds[number], low_limb, counters, share, event, base)
