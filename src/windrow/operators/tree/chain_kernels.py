"""Joined rows of a chain of three windows, counted without cells of the middle one.

Purpose: COUNT(*) over root - middle - end, where middle joins with the others by different keys.
Needs: rows of the middle that leave in the order in which they came; counts in plain words.
Time: O(1) a row of the root and of the middle; a row of the end goes through the middle's rows with
    its key, whose keys towards the root stand side by side (queue_kernels.py).
Space: 16 bytes a key of the root, 4 bytes a row of the middle.

ends[key] has two counts: the joined rows of middle and end under a key of the root, and the root's
own rows. far[key] counts the rows of the end. The other structures are those of linear_kernels.py;
`second` holds the key towards the end of the middle's events.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.tree.queue_kernels import (
    BLOCK,
    HEAD,
    HEAD_AT,
    NEXT,
    TAIL,
    TAIL_AT,
    WALKED,
    has_room,
    pop_code,
    push_code,
)
from windrow.windows.kernels import EMPTY

# Columns of `ends`.
BELOW = 0
OWN = 1


@njit(cache=True)
def apply_chain(
    start, size, order, shift, events, second, nodes, ends, far, queues, group_terms, last_out,
    output,
):  # fmt: skip
    """Returns how far it came: blocks may be missing. nodes: numbers of root, middle and end.

    There must be room for a row of output at every event.
    """
    at, sign, cell, _ = events
    control, out_at, out_group, _, out_terms = output
    owners, blocks, queue_control = queues
    root, middle, _ = nodes
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    total = group_terms[0, 0]
    out = last_out[0]
    walked = queue_control[WALKED]
    done = size
    for i in range(start, size):
        number = order[uint64(i)]
        event = uint64(number)
        own = np.int64(cell[event])
        if own == EMPTY:
            continue
        time = at[event]
        factor = np.int64(sign[event])
        node = np.int64(number >> shift)
        key = uint64(own)
        change = np.int64(0)
        if node == root:
            change = factor * ends[key, uint64(BELOW)]
            ends[key, uint64(OWN)] += factor
        elif node == middle:
            other = uint64(second[event])
            if factor > 0:
                if not has_room(other, queues):
                    done = i
                    break
                push_code(other, np.int32(own), queues)
            else:
                pop_code(other, queues)
            change = factor * far[other]
            ends[key, uint64(BELOW)] += change
            change *= ends[key, uint64(OWN)]
        else:
            far[key] += factor
            block = np.int64(owners[key, uint64(HEAD)])
            begin = np.int64(owners[key, uint64(HEAD_AT)])
            last = np.int64(owners[key, uint64(TAIL)])
            behind = np.int64(owners[key, uint64(TAIL_AT)])
            met = np.int64(0)
            while block != EMPTY:
                stop = behind if block == last else np.int64(BLOCK)
                walked += stop - begin
                for place in range(begin, stop):
                    seen = uint64(blocks[uint64(block), uint64(place)])
                    ends[seen, uint64(BELOW)] += factor
                    met += ends[seen, uint64(OWN)]
                block = np.int64(blocks[uint64(block), uint64(NEXT)])
                begin = np.int64(NEXT + 1)
            change = factor * met
        now_from = used if time != now else now_from
        now = time
        if change == 0:
            continue
        total += change
        if out < now_from:
            out = used
            used += 1
        place_out = uint64(out - first)
        out_at[place_out] = now
        out_group[place_out] = 0
        out_terms[place_out, uint64(0)] = total
    group_terms[0, 0] = total
    last_out[0] = out
    queue_control[WALKED] = walked
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used
    return done
