"""Radix sort of rows by the codes of their groups: codes are small, and a pass keeps the order."""

from __future__ import annotations

from windrow.compiling.kernels import njit

DIGIT_BITS = 11
_DIGIT_MASK = (1 << DIGIT_BITS) - 1


@njit(cache=True)
def sort_by_digit(codes, shift, order, out, counts):
    """Write the order sorted by one digit of the codes."""
    counts[:] = 0
    for place in range(order.size):
        counts[(codes[place] >> shift) & _DIGIT_MASK] += 1
    before = 0
    for digit in range(counts.size):
        count = counts[digit]
        counts[digit] = before
        before += count
    for place in range(order.size):
        row = order[place]
        digit = (codes[row] >> shift) & _DIGIT_MASK
        out[counts[digit]] = row
        counts[digit] += 1
