"""Loops that follow rows of a select by their lives: what comes and goes as windows move.

Purpose: the changes of a select straight from the events of its windows, without a result kept.
Needs: windows whose rows leave in the order in which they came.
Time: O(1) an event and change. Space: a link a row and 16 bytes a key for joins, 4 bytes a key for
    DISTINCT; nothing for each row of the result.
Source: symmetric hash join of two windows, where a row that leaves looks for its partners again.

A row has a number (base + its place). The rows of a key are chained from the newest to the oldest
by links, the distance to the row before; a chain ends at the first row that has left, so a row
that leaves is not taken out of anything. `left` and `right` are events of windows
(followers.WindowEvents), `chains` what is known by key (followers.Chains), `out` changes
(row_changes.FoundChanges): when, which rows, and +1 or -1.
Within an instant events may come in any order: what cancels out there is left out afterwards.
"""

from __future__ import annotations

from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.windows.kernels import AHEAD, LARGE_TABLE, prefetch

# Entries of `progress`.
LEFT = 0  # the first event of each window that is not done
RIGHT = 1
USED = 2  # changes written
PROGRESS_ENTRIES = 3


@inlined
def write_change(at, sign, left, right, out, used):
    """One change."""
    place = uint64(used)
    out.at[place] = at
    out.sign[place] = sign
    out.left[place] = left
    out.right[place] = right


@inlined
def enter_chain(place, side, code, base, links, chains):
    """A row becomes the newest of its key."""
    newest = chains.newest[uint64(code), side]
    number = base + place
    links[uint64(place)] = number - newest if newest >= chains.heads[side] else 0
    chains.newest[uint64(code), side] = number


@inlined
def fetch_partner(event, events, side, others, chains):
    """Have what a later event needs brought into the cache: its key, and its first partner."""
    later = events.row[uint64(event + 2 * AHEAD)]
    prefetch(chains.newest, events.codes[uint64(later)])
    soon = events.codes[uint64(events.row[uint64(event + AHEAD)])]
    found = chains.newest[uint64(soon), side]
    if found >= chains.heads[side]:
        prefetch(others.links, found - others.base)


@njit(cache=True)
def follow_pairs(left, right, chains, out, progress):
    """Joined rows of two windows: a row that enters or leaves finds its partners in the other.

    Returns whether it came to the end; else there is no room for changes.
    """
    i, j, used = progress[LEFT], progress[RIGHT], progress[USED]
    room = out.at.size
    fetches = chains.newest.shape[0] > LARGE_TABLE
    is_done = True
    while i < left.at.size or j < right.at.size:
        is_left = j == right.at.size or (
            i < left.at.size and left.at[uint64(i)] <= right.at[uint64(j)]
        )
        if is_left:
            now, place, sign = left.at[uint64(i)], left.row[uint64(i)], left.sign[uint64(i)]
            code = left.codes[uint64(place)]
            if fetches and i + 2 * AHEAD < left.at.size:
                fetch_partner(i, left, 1, right, chains)
            found = chains.newest[uint64(code), 1]
            first = chains.heads[1]
            while found >= first and used < room:
                partner = found - right.base
                write_change(now, sign, place, partner, out, used)
                used += 1
                distance = right.links[uint64(partner)]
                found = found - distance if distance else -1
        else:
            now, place, sign = right.at[uint64(j)], right.row[uint64(j)], right.sign[uint64(j)]
            code = right.codes[uint64(place)]
            if fetches and j + 2 * AHEAD < right.at.size:
                fetch_partner(j, right, 0, left, chains)
            found = chains.newest[uint64(code), 0]
            first = chains.heads[0]
            while found >= first and used < room:
                partner = found - left.base
                write_change(now, sign, partner, place, out, used)
                used += 1
                distance = left.links[uint64(partner)]
                found = found - distance if distance else -1
        if found >= first:  # the whole event is done again once there is room
            is_done = False
            break
        progress[USED] = used
        if is_left:
            i += 1
            if sign > 0:
                enter_chain(place, 0, code, left.base, left.links, chains)
            else:
                chains.heads[0] = left.base + place + 1
        else:
            j += 1
            if sign > 0:
                enter_chain(place, 1, code, right.base, right.links, chains)
            else:
                chains.heads[1] = right.base + place + 1
    progress[LEFT], progress[RIGHT] = i, j
    return is_done


@njit(cache=True)
def follow_unmatched(left, right, chains, out, progress):
    """Rows of the left window that no row of the right one has the key of.

    chains.newest: of each key the newest row on the left, and how many there are on the right.
    Returns whether it came to the end; else there is no room for changes.
    """
    i, j, used = progress[LEFT], progress[RIGHT], progress[USED]
    room = out.at.size
    fetches = chains.newest.shape[0] > LARGE_TABLE
    is_done = True
    while i < left.at.size or j < right.at.size:
        is_left = j == right.at.size or (
            i < left.at.size and left.at[uint64(i)] <= right.at[uint64(j)]
        )
        if is_left:
            place, sign = left.row[uint64(i)], left.sign[uint64(i)]
            code = left.codes[uint64(place)]
            if fetches and i + AHEAD < left.at.size:
                prefetch(chains.newest, left.codes[uint64(left.row[uint64(i + AHEAD)])])
            if chains.newest[uint64(code), 1] == 0:
                if used == room:
                    is_done = False
                    break
                write_change(left.at[uint64(i)], sign, place, place, out, used)
                used += 1
            i += 1
            if sign > 0:
                enter_chain(place, 0, code, left.base, left.links, chains)
            else:
                chains.heads[0] = left.base + place + 1
        else:
            now, sign = right.at[uint64(j)], right.sign[uint64(j)]
            code = right.codes[uint64(right.row[uint64(j)])]
            if fetches and j + AHEAD < right.at.size:
                prefetch(chains.newest, right.codes[uint64(right.row[uint64(j + AHEAD)])])
            before = chains.newest[uint64(code), 1]
            if before == (sign < 0):  # the first one comes, or the last one goes
                found = chains.newest[uint64(code), 0]
                first = chains.heads[0]
                while found >= first and used < room:
                    place = found - left.base
                    write_change(now, -sign, place, place, out, used)
                    used += 1
                    distance = left.links[uint64(place)]
                    found = found - distance if distance else -1
                if found >= first:
                    is_done = False
                    break
            chains.newest[uint64(code), 1] = before + sign
            j += 1
        progress[USED] = used
    progress[LEFT], progress[RIGHT] = i, j
    return is_done


@njit(cache=True)
def follow_distinct(left, count, out, progress):
    """Different rows of a window: a row comes with the first of its kind, and goes with the last.

    count: of each code. There is room for a change of each event.
    """
    used = 0
    fetches = count.size > LARGE_TABLE
    for i in range(left.at.size):
        if fetches and i + AHEAD < left.at.size:
            prefetch(count, left.codes[uint64(left.row[uint64(i + AHEAD)])])
        place, sign = left.row[uint64(i)], left.sign[uint64(i)]
        code = uint64(left.codes[uint64(place)])
        before = count[code]
        count[code] = before + sign
        if before == (sign < 0):
            write_change(left.at[uint64(i)], sign, place, place, out, used)
            used += 1
    progress[USED] = used


@njit(cache=True)
def list_pairs(head, tail, codes, right, chains, out_left, out_right):
    """The joined rows there are: of each row on the left from head to tail, its partners.

    Returns how many they are; only those are written that there is room for.
    """
    used = 0
    first = chains.heads[1]
    for place in range(head, tail):
        found = chains.newest[uint64(codes[uint64(place)]), 1]
        while found >= first:
            partner = found - right.base
            if used < out_left.size:
                out_left[uint64(used)] = place
                out_right[uint64(used)] = partner
            used += 1
            distance = right.links[uint64(partner)]
            found = found - distance if distance else -1
    return used
