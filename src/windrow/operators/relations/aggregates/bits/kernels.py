"""Counts of bits of groups whose values come and go.

Purpose: the bits that all, some, or an odd number of the values of a group have.
Form: a row of counts for each group, one for each bit and one for the values.
Time: O(64) a change. Space: 520 bytes a group.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import inlined, njit

BITS = 64
VALUES = 64  # the column that counts values
ALL, SOME, ODD = 0, 1, 2


@njit(cache=True)
def update_bits(group, weight, words, valid, place, last_change, counts, out):
    """Count the bits of values from change to change; write the words at the end of each place."""
    checks = valid.size > 0
    for i in range(group.size):
        which = group[i]
        if not checks or valid[i] != 0:
            word = np.uint64(words[i])
            counts[which, VALUES] += weight[i]
            for bit in range(BITS):
                if (word >> np.uint64(bit)) & np.uint64(1):
                    counts[which, bit] += weight[i]
        at = place[i]
        if last_change[at] == i:
            write_words(counts, which, at, out)


@njit(cache=True)
def read_bits(groups, counts, out):
    """The words of these groups now."""
    for i in range(groups.size):
        write_words(counts, groups[i], i, out)


@inlined
def write_words(counts, group, state, out):
    """The bits that all, some and an odd number of values have, and whether there are values."""
    out_words, present = out
    every = np.uint64(0)
    some = np.uint64(0)
    odd = np.uint64(0)
    values = counts[group, VALUES]
    for bit in range(BITS):
        count = counts[group, bit]
        mask = np.uint64(1) << np.uint64(bit)
        if count == values:
            every |= mask
        if count > 0:
            some |= mask
        if count & 1:
            odd |= mask
    out_words[ALL, state] = np.int64(every)
    out_words[SOME, state] = np.int64(some)
    out_words[ODD, state] = np.int64(odd)
    present[state] = values > 0
