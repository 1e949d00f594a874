"""What is asked of every batch of expiries, and the ring of rows that come in order."""

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


@njit(cache=True)
def push_in_order(start, latest, expiries, items, ring_expiries, ring_items):
    """Copy rows into a ring that has room for them; returns whether they are in order."""
    rows = expiries.size
    is_ordered = rows == 0 or expiries[0] >= latest
    for row in range(1, rows):
        is_ordered &= expiries[row - 1] <= expiries[row]
    if is_ordered:
        head = min(rows, ring_expiries.size - start)
        ring_expiries[start : start + head] = expiries[:head]
        ring_items[start : start + head] = items[:head]
        ring_expiries[: rows - head] = expiries[head:]
        ring_items[: rows - head] = items[head:]
    return is_ordered


@njit(cache=True)
def expired_in_order(first, size, until, ring_expiries):
    """How many rows of a ring have expired."""
    capacity = ring_expiries.size
    begin = 0
    end = size
    while begin < end:
        middle = (begin + end) >> 1
        place = first + middle
        if place >= capacity:
            place -= capacity
        if ring_expiries[place] <= until:
            begin = middle + 1
        else:
            end = middle
    return begin
