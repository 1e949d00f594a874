"""What is asked of every batch of expiries."""

from __future__ import annotations

from windrow.compiling.kernels import njit


@njit(cache=True)
def bounds(values):
    """The smallest and the largest of some values: one call, where NumPy's two cost far more."""
    lowest = highest = values[0]
    for index in range(1, values.size):
        lowest = min(lowest, values[index])
        highest = max(highest, values[index])
    return lowest, highest


@njit(cache=True)
def is_within(values, limit):
    """Whether all values lie strictly between -limit and limit."""
    # Without branches or comparisons: a value beyond makes one of the two differences negative.
    outside = 0
    for index in range(values.size):
        outside |= (values[index] + (limit - 1)) | ((limit - 1) - values[index])
    return outside >= 0
