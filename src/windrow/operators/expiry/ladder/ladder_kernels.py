"""Ladder queues: Top, rungs of buckets and Bottom, with branch lists for equal expiries or without.

Purpose: rows with expiries of any kind, many of them equal.
Needs: rows that expire after the last dequeue (overdue ones are kept elsewhere).
Time: O(1) a row, amortised. Space: 32 bytes a trunk node, 128 for fifteen more rows of its expiry.
Source: paper 4; without branches Tang, Goh, Thng (2005), from whom we have it that a Bottom grown
too long becomes a rung.

Top is bucket 0; the buckets of a rung follow those of the rung above. Bottom is an array of nodes,
sorted; nodes move from list to list, and take their branches along. A `look_back` of 0 means that
there are no branches. `ladder` is LadderArrays of ladder_queue.py.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit
from windrow.operators.expiry.ladder.bottom_kernels import (
    insert_bottom,
    shift_bottom,
    sort_into_bottom,
)
from windrow.operators.expiry.ladder.rung_kernels import (
    BOTTOM_END,
    BOTTOM_FIRST,
    BUCKETS,
    BUCKETS_USED,
    DRAINED,
    END,
    FIRST_BUCKET,
    FROM,
    LONG_AGO,
    LONG_BOTTOM,
    MOST_RUNGS,
    NEEDED_BOTTOM,
    NEEDED_BRANCHES,
    NEEDED_TRUNKS,
    OPEN_BRANCH,
    OPEN_EXPIRY,
    OPEN_PLACE,
    RUNG_NODES,
    RUNGS,
    TOP,
    TOP_MAX,
    TOP_MIN,
    TOP_START,
    WIDTH,
    add_rung,
    bucket_of,
    drain_bucket,
    has_room,
    next_bucket,
    open_top,
    spread,
)
from windrow.operators.expiry.ladder.trunk_kernels import (
    BRANCH,
    BRANCH_ITEMS,
    EXPIRY,
    FILL_MASK,
    ITEM,
    LAST,
    LINK,
    NODES,
    PREVIOUS,
    TAIL,
    TRUNK_MASK,
    TRUNK_NODES,
    TRUNK_SHIFT,
    add_item,
    add_trunk,
    append_node,
    give_branch,
    spare_branches,
    spare_trunks,
)
from windrow.windows.kernels import EMPTY


@njit(cache=True)
def insert_rows(start, passed, look_back, threshold, expiries, items, ladder):
    """Put rows where they belong; returns how far it came: there may be no room."""
    trunks, links, branches, buckets, rungs, bottom, control = ladder
    row = start
    top_start = control[TOP_START]
    while row < expiries.size:
        expiry = expiries[row]
        bucket = np.int64(TOP)
        rung = np.int64(EMPTY)
        if expiry < top_start:
            rung = np.int64(0)
            while rung < control[RUNGS] and expiry < rungs[rung, FROM]:
                rung += 1
            bucket = np.int64(EMPTY)
            if rung < control[RUNGS]:
                bucket = bucket_of(expiry, rung, rungs)
        if bucket != EMPTY:
            nodes = np.int64(buckets[bucket, NODES])
            node = np.int64(buckets[bucket, TAIL])
            seen = node
            equal = np.int64(EMPTY)
            for _ in range(min(look_back, nodes)):
                if trunks[seen, EXPIRY] == expiry:
                    equal = seen
                    break
                if (seen & TRUNK_MASK) == 0:
                    chunk = np.int64(links[seen >> TRUNK_SHIFT, PREVIOUS])
                    seen = (chunk << TRUNK_SHIFT) + TRUNK_NODES
                seen -= 1
            if equal != EMPTY:
                last = trunks[equal, LAST]
                if last != EMPTY and (branches[last, LINK] & FILL_MASK) != BRANCH_ITEMS:
                    branches[last, branches[last, LINK] & FILL_MASK] = items[row]
                    branches[last, LINK] += 1
                elif spare_branches(branches, control) > 0:
                    add_item(trunks, equal, items[row], branches, control)
                else:
                    control[NEEDED_BRANCHES] = 1
                    return row
                row += 1
                continue
            node += 1
            if (nodes & TRUNK_MASK) == 0:
                if spare_trunks(links, control) == 0:
                    control[NEEDED_TRUNKS] = 1
                    return row
                node = add_trunk(bucket, links, buckets, control)
            trunks[node, EXPIRY] = expiry
            trunks[node, ITEM] = items[row]
            trunks[node, BRANCH] = EMPTY
            trunks[node, LAST] = EMPTY
            buckets[bucket, TAIL] = node
            buckets[bucket, NODES] = nodes + 1
            row += 1
            if rung != EMPTY:
                rungs[rung, RUNG_NODES] += 1
            else:
                control[TOP_MIN] = min(control[TOP_MIN], expiry)
                control[TOP_MAX] = max(control[TOP_MAX], expiry)
            continue
        if spare_branches(branches, control) == 0:
            control[NEEDED_BRANCHES] = 1
            return row
        nodes = control[BOTTOM_END] - control[BOTTOM_FIRST]
        if nodes > LONG_BOTTOM and nodes > threshold:
            end = rungs[control[RUNGS] - 1, FROM]
            is_spread = (
                bottom[control[BOTTOM_FIRST], EXPIRY] != bottom[control[BOTTOM_END] - 1, EXPIRY]
            )
            if is_spread and end - passed > 2 and control[RUNGS] < MOST_RUNGS:
                width = (end - passed - 2) // threshold + 1
                more = (end - passed - 2) // width + 1
                if not has_room(more, nodes, look_back, links, branches, buckets, control):
                    return row
                add_rung(passed + 1, end, width, buckets, rungs, control)
                rung = control[RUNGS] - 1
                for place in range(control[BOTTOM_FIRST], control[BOTTOM_END]):
                    rungs[rung, RUNG_NODES] += append_node(
                        bucket_of(bottom[place, EXPIRY], rung, rungs), bottom, place, look_back,
                        trunks, links, branches, buckets, control,
                    )  # fmt: skip
                control[BOTTOM_FIRST] = 0
                control[BOTTOM_END] = 0
                continue
        if control[BOTTOM_END] == bottom.shape[0] and not shift_bottom(bottom, control):
            return row
        insert_bottom(expiry, items[row], look_back, branches, bottom, control)
        row += 1
    return row


@njit(cache=True)
def remove_rows(until, look_back, threshold, step, ladder, out_expiries, out_items):
    """Take out what has expired; returns how many rows, and whether that was all.

    It may stop for want of room in the output or, with a NEEDED_ set, in the arrays.
    """
    trunks, links, branches, buckets, rungs, bottom, control = ladder
    count = 0
    while True:
        chunk = control[OPEN_BRANCH]
        if chunk != EMPTY and control[OPEN_EXPIRY] > until:
            return count, True
        while chunk != EMPTY:
            fill = branches[chunk, LINK] & FILL_MASK
            first = control[OPEN_PLACE]
            end = min(fill, first + out_expiries.size - count)
            for place in range(first, end):
                out_expiries[count] = control[OPEN_EXPIRY]
                out_items[count] = branches[chunk, place]
                count += 1
            if end < fill:
                control[OPEN_BRANCH] = chunk
                control[OPEN_PLACE] = end
                return count, False
            control[OPEN_PLACE] = 0
            chunk = give_branch(chunk, branches, control)
        control[OPEN_BRANCH] = EMPTY
        first = control[BOTTOM_FIRST]
        end = control[BOTTOM_END]
        branch = np.int64(EMPTY)
        while first < end and branch == EMPTY and bottom[first, EXPIRY] <= until:
            if count == out_expiries.size:
                control[BOTTOM_FIRST] = first
                return count, False
            out_expiries[count] = bottom[first, EXPIRY]
            out_items[count] = bottom[first, ITEM]
            count += 1
            branch = bottom[first, BRANCH]
            first += 1
        control[BOTTOM_FIRST] = first
        if branch != EMPTY:
            control[OPEN_BRANCH] = branch
            control[OPEN_EXPIRY] = bottom[first - 1, EXPIRY]
            continue
        if first < end:
            return count, True
        control[BOTTOM_FIRST] = 0
        control[BOTTOM_END] = 0
        if control[RUNGS] == 0:
            # Nothing is sorted: Top may take whatever comes.
            control[TOP_START] = LONG_AGO
            if buckets[TOP, NODES] == 0 or control[TOP_MIN] > until:
                return count, True
            if not open_top(look_back, step, trunks, links, branches, buckets, rungs, control):
                return count, False
            continue
        rung = control[RUNGS] - 1
        bucket = next_bucket(until, rung, buckets, rungs)
        if bucket == EMPTY:
            if rungs[rung, DRAINED] < rungs[rung, BUCKETS]:
                return count, True
            control[RUNGS] = rung
            control[BUCKETS_USED] = rungs[rung, FIRST_BUCKET]
            continue
        nodes = np.int64(buckets[bucket, NODES])
        width = rungs[rung, WIDTH]
        if nodes > threshold and width > 1 and rung + 1 < MOST_RUNGS:
            finer = (width - 1) // threshold + 1
            more = (width - 1) // finer + 1
            if not has_room(more, nodes, look_back, links, branches, buckets, control):
                return count, False
            lowest = rungs[rung, FROM]
            add_rung(lowest, min(lowest + width, rungs[rung, END]), finer, buckets, rungs, control)
            spread(bucket, rung + 1, look_back, trunks, links, branches, buckets, rungs, control)
        else:
            if nodes > bottom.shape[0]:
                control[NEEDED_BOTTOM] = nodes
                return count, False
            start = rungs[rung, FROM]
            sort_into_bottom(bucket, start, width, trunks, links, buckets, bottom, control)
        rungs[rung, RUNG_NODES] -= nodes
        drain_bucket(rung, rungs)
