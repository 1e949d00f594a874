"""The ring of rows that come in order, and rows of a list added one by one."""

from __future__ import annotations

from windrow.compiling.kernels import njit
from windrow.history.cells.kernels import PARTS
from windrow.history.state_kernels import add_rows


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


@njit(cache=True)
def add_listed_rows(
    place, codes, kinds, words, values, valid, first, end, target, out_whole, out_real
):
    """Add rows one by one to the states of their groups; place: of each code, below 0 for none."""
    for row in range(first, end):
        group = place[codes[row]]
        if group >= 0:
            add_rows(
                out_whole, out_real, PARTS * group + target, kinds, words, values, valid, row,
                row + 1,
            )  # fmt: skip
