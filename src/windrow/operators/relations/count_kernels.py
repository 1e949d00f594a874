"""Rows that are there as often as a function of counts says, given once an instant.

Purpose: DISTINCT, INTERSECT and EXCEPT: what a row's counts in the inputs make of it.
Needs: changes in time order, with the codes of their rows.
Time: O(1) a change. Space: 16 bytes a row and input, and 8 a row.
"""

from __future__ import annotations

from windrow.compiling.kernels import inlined, njit

# What counts make of a row.
DISTINCT = 0
INTERSECT = 1
INTERSECT_ALL = 2
EXCEPT = 3
EXCEPT_ALL = 4


@njit(cache=True)
def count_changes(rule, at, input_of, codes, weight, counts, shown, out_at, out_code, out_weight):
    """Apply changes to counts[code, input]; shown[code]: how often the result has the row.

    The result has a change where that differs at the end of an instant. Returns how many.
    """
    size = 0
    first = 0  # the first change of this instant
    for index in range(at.size + 1):
        if index == at.size or at[index] != at[first]:
            for place in range(first, index):
                code = codes[place]
                now = shown_rows(rule, counts, code)
                if now != shown[code]:
                    out_at[size] = at[place]
                    out_code[size] = code
                    out_weight[size] = now - shown[code]
                    shown[code] = now
                    size += 1
            first = index
        if index < at.size:
            counts[codes[index], input_of[index]] += weight[index]
    return size


@inlined
def shown_rows(rule, counts, code):
    """How often the result has a row."""
    left = max(counts[code, 0], 0)
    if rule == DISTINCT:
        return min(left, 1)
    right = max(counts[code, 1], 0)
    if rule == INTERSECT_ALL:
        return min(left, right)
    if rule == EXCEPT_ALL:
        return max(left - right, 0)
    if rule == INTERSECT:
        return min(left, right, 1)
    return min(left, 1) if right == 0 else 0
