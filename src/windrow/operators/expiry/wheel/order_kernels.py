"""Rows that were counted into buckets, brought into order within them.

Purpose: buckets hold about one row, so that few rows must move at all.
Time: O(1) a row where expiries are even; O(digits) a row at worst, by a radix sort.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit

FEW_ROWS = 24
RADIX_BITS = 11
RADIX = 1 << RADIX_BITS


@njit(cache=True)
def sort_buckets(begin, ends, first_end, buckets, expiries, items):
    """Order the rows of each bucket, stably; bucket b ends at ends[first_end + b]."""
    start = begin
    for bucket in range(buckets):
        end = ends[first_end + bucket]
        if end - start > FEW_ROWS:
            sort_many(start, end, expiries, items)
        start = end
    # All buckets at once: a loop for each would be mispredicted more often than rows are moved.
    for row in range(begin + 1, start):
        expiry = expiries[row]
        if expiries[row - 1] > expiry:
            item = items[row]
            place = row
            while place > begin and expiries[place - 1] > expiry:
                expiries[place] = expiries[place - 1]
                items[place] = items[place - 1]
                place -= 1
            expiries[place] = expiry
            items[place] = item


@njit(cache=True)
def sort_many(begin, end, expiries, items):
    """Order some rows, stably: digit by digit from the lowest, as far as they differ."""
    lowest = highest = expiries[begin]
    is_sorted = True
    for row in range(begin + 1, end):
        is_sorted = is_sorted and expiries[row - 1] <= expiries[row]
        lowest = min(lowest, expiries[row])
        highest = max(highest, expiries[row])
    if is_sorted:
        return
    rows = end - begin
    other_expiries = np.empty(rows, np.int64)
    other_items = np.empty(rows, np.int64)
    ends = np.empty(RADIX + 1, np.int64)
    shift = 0
    while (highest - lowest) >> shift != 0:
        ends[:] = 0
        for row in range(begin, end):
            ends[(((expiries[row] - lowest) >> shift) & (RADIX - 1)) + 1] += 1
        for digit in range(RADIX):
            ends[digit + 1] += ends[digit]
        for row in range(begin, end):
            digit = ((expiries[row] - lowest) >> shift) & (RADIX - 1)
            other_expiries[ends[digit]] = expiries[row]
            other_items[ends[digit]] = items[row]
            ends[digit] += 1
        expiries[begin:end] = other_expiries
        items[begin:end] = other_items
        shift += RADIX_BITS
