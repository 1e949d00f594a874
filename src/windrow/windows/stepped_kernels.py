"""Loops for windows that start and end as TUMBLE, HOP and CUMULATE do: [start, end)."""

from __future__ import annotations

from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.windows.kernels import rounded_up

# Places among the numbers of lifetime.Lifetime.
SLIDE, HOLD, FLOOR, OPENS, PHASE, LEAVE_SLIDE, LEAVE_PHASE = 0, 1, 2, 6, 7, 8, 9


@njit(cache=True)
def next_of(instant, slide, phase):
    """The first instant of a grid that is not before this one."""
    return -((phase - instant) // slide) * slide + phase


@njit(cache=True)
def entry_of(time, lifetime):
    """When a row of that time enters."""
    return next_of(time + lifetime[OPENS], lifetime[SLIDE], lifetime[PHASE])


@njit(cache=True)
def exit_of(time, lifetime):
    """When a row of that time leaves."""
    if lifetime[LEAVE_SLIDE] == 0:
        leave = entry_of(time, lifetime) + lifetime[HOLD]
    else:
        shifted = time + lifetime[OPENS] + lifetime[HOLD]
        leave = next_of(shifted, lifetime[LEAVE_SLIDE], lifetime[LEAVE_PHASE])
    return max(leave, lifetime[FLOOR])


@njit(cache=True)
def stepped_events(times, cursor, lifetime, grid, until, first, limit, out_at, out_row, out_sign):
    """As windows.kernels.timed_events, with entries and exits on grids of their own.

    times[end] is a sentinel beyond every instant. Leaving comes before entering at the same
    instant.
    """
    head = cursor[0]
    tail = cursor[1]
    count = 0
    entry = entry_of(times[tail], lifetime)
    # An empty window has head == tail: what "leaves" is then later than the entry.
    leave = exit_of(times[head], lifetime)
    while count < limit:
        leaves = leave <= entry and head < tail
        now = leave if leaves else entry
        if now > until:
            break
        place = uint64(first + count)
        out_at[place] = rounded_up(now, grid)
        out_row[place] = head if leaves else tail
        out_sign[place] = -1 if leaves else 1
        if leaves:
            head += 1
            leave = exit_of(times[uint64(head)], lifetime)
        else:
            tail += 1
            entry = entry_of(times[uint64(tail)], lifetime)
        count += 1
    cursor[0] = head
    cursor[1] = tail
    return count
