"""A calendar queue: a year of days, each a list of rows sorted by expiry; years share the days.

Purpose: there to be compared with.
Needs: expiries spread evenly; far ones lengthen the lists of all days.
Time: O(1) a row where expiries are even, O(n) at worst. Space: 24 bytes a row, 16 a day.
Source: Brown (1988); days are doubled and halved with the rows, their width is three times the mean
distance of the next rows. Lists have a tail, so that rows of equal expiry are not walked past.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit
from windrow.operators.expiry.expiry_queue import EXPIRY_LIMIT
from windrow.windows.kernels import EMPTY

# Columns of `nodes`.
EXPIRY = 0
ITEM = 1
NEXT = 2  # in the list of the day, or in that of free nodes
NODE_COLUMNS = 3

# Columns of `days`, whose number is a power of two.
HEAD = 0
TAIL = 1
DAY_COLUMNS = 2

# Entries of `control`.
WIDTH = 0
DAY = 1  # no row expires before this day, counted from instant 0
FIRST_FREE = 2
NEXT_FRESH = 3
SIZE = 4
CONTROL_ENTRIES = 5

# The width of a day is derived from this many rows, those that expire next.
SAMPLE = 25
DAYS_A_GAP = 3
# Rows a day beyond which days are doubled.
MOST_ROWS_A_DAY = 2


@njit(cache=True)
def insert_rows(start, expiries, items, nodes, days, control):
    """Put rows into their days; returns how far it came: there may be too few days."""
    width = control[WIDTH]
    mask = days.shape[0] - 1
    for row in range(start, expiries.size):
        if control[SIZE] > MOST_ROWS_A_DAY * days.shape[0]:
            return row
        expiry = expiries[row]
        node = control[FIRST_FREE]
        if node == EMPTY:
            node = control[NEXT_FRESH]
            control[NEXT_FRESH] = node + 1
        else:
            control[FIRST_FREE] = nodes[node, NEXT]
        nodes[node, EXPIRY] = expiry
        nodes[node, ITEM] = items[row]
        day = expiry // width
        control[DAY] = min(control[DAY], day)
        insert(node, day & mask, nodes, days)
        control[SIZE] += 1
    return expiries.size


@njit(cache=True, forceinline=True)
def insert(node, place, nodes, days):
    """Put a node behind all of its day that do not expire later."""
    expiry = nodes[node, EXPIRY]
    tail = days[place, TAIL]
    head = days[place, HEAD]
    if head == EMPTY:
        nodes[node, NEXT] = EMPTY
        days[place, HEAD] = node
        days[place, TAIL] = node
    elif nodes[tail, EXPIRY] <= expiry:
        nodes[node, NEXT] = EMPTY
        nodes[tail, NEXT] = node
        days[place, TAIL] = node
    elif nodes[head, EXPIRY] > expiry:
        nodes[node, NEXT] = head
        days[place, HEAD] = node
    else:
        before = head
        while nodes[nodes[before, NEXT], EXPIRY] <= expiry:
            before = nodes[before, NEXT]
        nodes[node, NEXT] = nodes[before, NEXT]
        nodes[before, NEXT] = node


@njit(cache=True)
def remove_rows(until, nodes, days, control, out_expiries, out_items):
    """Take out what has expired, day by day; returns how many rows, and whether that was all."""
    width = control[WIDTH]
    mask = days.shape[0] - 1
    last_day = until // width
    day = control[DAY]
    count = 0
    idle = 0
    while control[SIZE] > 0 and day <= last_day:
        place = day & mask
        node = days[place, HEAD]
        day_end = (day + 1) * width
        while node != EMPTY and nodes[node, EXPIRY] < day_end and nodes[node, EXPIRY] <= until:
            if count == out_expiries.size:
                control[DAY] = day
                return count, False
            out_expiries[count] = nodes[node, EXPIRY]
            out_items[count] = nodes[node, ITEM]
            count += 1
            idle = 0
            following = nodes[node, NEXT]
            days[place, HEAD] = following
            nodes[node, NEXT] = control[FIRST_FREE]
            control[FIRST_FREE] = node
            control[SIZE] -= 1
            node = following
        day += 1
        idle += 1
        if idle > mask and day <= last_day:
            # A year without a row: the next one is looked for in all days.
            day = max(day, first_day(width, nodes, days))
            idle = 0
    # Rows of the last day may be left, and the next rows may expire just after `until`.
    control[DAY] = max(control[DAY], last_day)
    return count, True


@njit(cache=True)
def first_day(width, nodes, days):
    """The day of the row that expires first."""
    first = EXPIRY_LIMIT
    for place in range(days.shape[0]):
        node = days[place, HEAD]
        if node != EMPTY:
            first = min(first, nodes[node, EXPIRY])
    return first // width


@njit(cache=True)
def move_rows(passed, nodes, days, new_days, control):
    """Move all rows into another number of days, of another width; `passed`: the last dequeue."""
    size = control[SIZE]
    members = np.empty(size, np.int64)
    keys = np.empty(size, np.int64)
    count = 0
    for place in range(days.shape[0]):
        node = days[place, HEAD]
        while node != EMPTY:
            members[count] = node
            keys[count] = nodes[node, EXPIRY]
            count += 1
            node = nodes[node, NEXT]
    order = np.argsort(keys, kind="mergesort")
    width = width_of(keys, order)
    new_days[:] = EMPTY
    mask = new_days.shape[0] - 1
    for rank in range(size):
        node = members[order[rank]]
        insert(node, (nodes[node, EXPIRY] // width) & mask, nodes, new_days)
    control[WIDTH] = width
    first = min(passed, keys[order[0]]) if size > 0 else passed
    control[DAY] = first // width


@njit(cache=True)
def pack_rows(nodes, days, fewer, control):
    """Move all nodes to the begin of another array, which then has no free ones among them."""
    count = 0
    for place in range(days.shape[0]):
        node = days[place, HEAD]
        if node == EMPTY:
            continue
        days[place, HEAD] = count
        while node != EMPTY:
            fewer[count, EXPIRY] = nodes[node, EXPIRY]
            fewer[count, ITEM] = nodes[node, ITEM]
            node = nodes[node, NEXT]
            fewer[count, NEXT] = count + 1
            count += 1
        fewer[count - 1, NEXT] = EMPTY
        days[place, TAIL] = count - 1
    control[FIRST_FREE] = EMPTY
    control[NEXT_FRESH] = count


@njit(cache=True)
def width_of(keys, order):
    """Three times the mean distance of the next rows, those far apart left out."""
    size = order.size
    sample = min(SAMPLE, size)
    while sample < size and keys[order[sample - 1]] == keys[order[0]]:
        sample = min(2 * sample, size)  # equal expiries say nothing of the distance
    if sample < 2:
        return 1
    mean = (keys[order[sample - 1]] - keys[order[0]]) // (sample - 1)
    total = 0
    gaps = 0
    for rank in range(1, sample):
        gap = keys[order[rank]] - keys[order[rank - 1]]
        if gap <= 2 * mean:
            total += gap
            gaps += 1
    mean = total // max(gaps, 1)
    return max(1, min(EXPIRY_LIMIT, DAYS_A_GAP * mean))
