"""Keys of which there must not be more than one row when an instant is over."""

from __future__ import annotations

from windrow.compiling.kernels import njit
from windrow.windows.kernels import EMPTY


@njit(cache=True)
def first_with_several(at, keys, weight, totals):
    """Count rows by key; returns the first change after whose instant its key has several rows.

    EMPTY: there is none.
    """
    first = 0  # the first change of this instant
    for index in range(at.size + 1):
        if index == at.size or at[index] != at[first]:
            for place in range(first, index):
                if totals[keys[place], 0] > 1:
                    return place
            first = index
        if index < at.size:
            totals[keys[index], 0] += weight[index]
    return EMPTY
