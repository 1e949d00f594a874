"""Loops over rows that are held: which references of codes are no longer needed, and net changes.

Rows are known by their codes. counts[code, input]: how often an input holds the row.
"""

from __future__ import annotations

from windrow.compiling.kernels import njit


@njit(cache=True)
def unneeded_references(codes, counts, is_held, out):
    """After the changes of a batch, whose rows have these codes, each with a reference of its own.

    A row that is held has one reference. That of a change becomes it where the row is new; where
    it is held no longer, there is one more to release. Returns how many codes `out` lists.
    """
    size = 0
    for place in range(codes.size):
        code = codes[place]
        is_used = False
        for each in range(counts.shape[1]):
            if counts[code, each] != 0:
                is_used = True
        if is_used and not is_held[code]:
            is_held[code] = 1
            continue
        out[size] = code
        size += 1
        if is_held[code] and not is_used:
            is_held[code] = 0
            out[size] = code
            size += 1
    return size


@njit(cache=True)
def net_changes(at, codes, weight, place_of, out_at, out_code, out_weight):
    """Sum the weights of equal codes of an instant; those that are 0 are left out.

    place_of[code]: where the code was put last, by this call or another. Returns how many.
    """
    size = 0
    first = 0  # the first place of this instant
    for index in range(codes.size):
        if index == 0 or at[index] != at[index - 1]:
            size = without_zeros(first, size, out_at, out_code, out_weight)
            first = size
        code = codes[index]
        place = place_of[code]
        if first <= place and place < size and out_code[place] == code:
            out_weight[place] += weight[index]
            continue
        place_of[code] = size
        out_at[size] = at[index]
        out_code[size] = code
        out_weight[size] = weight[index]
        size += 1
    return without_zeros(first, size, out_at, out_code, out_weight)


@njit(cache=True)
def without_zeros(first, size, out_at, out_code, out_weight):
    """Move the entries from `first` on together where one is 0; returns how many are left."""
    kept = first
    for place in range(first, size):
        if out_weight[place] == 0:
            continue
        out_at[kept] = out_at[place]
        out_code[kept] = out_code[place]
        out_weight[kept] = out_weight[place]
        kept += 1
    return kept
