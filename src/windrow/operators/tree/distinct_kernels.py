"""Different values of one input of a star, without cells of a key and a value.

Purpose: COUNT(DISTINCT) of a column of the root, over windows that all join by one key, or over one
    window.
Needs: rows of the root that leave in the order in which they came.
Time: O(1) a row; the first and the last row of a key in another input go through the root's rows
    with that key, whose values stand side by side (queue_kernels.py).
Space: 4 bytes a value, 8 a key and input, 4 a row of the root; of one window alone no more than the
    values.

live_rows[value] counts the root's rows with the value that join with something. rows[inputs * key +
input] counts those of each input. The other structures are those of extremes_kernels.py; `second`
holds the values' codes of the root's events, below 0 where there is none to count.
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


@njit(cache=True)
def apply_distinct(
    start, size, order, shift, events, second, nodes, root, rows, live_rows, queues, tally,
    last_out, output,
):  # fmt: skip
    """Returns how far it came: blocks may be missing. `nodes`: a tuple as long as there are inputs.

    There must be room for a row of output at every event.
    """
    at, sign, cell = events
    control, out_at, out_group, _, out_extras = output
    owners, blocks, queue_control = queues
    inputs = len(nodes)
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    found = tally[0]
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
        joins = True
        for other in range(inputs):
            if other != node and other != root:
                joins &= rows[uint64(inputs * own + other)] != 0
        before = found
        if node == root:
            value = np.int64(second[event])
            if inputs > 1:
                if factor < 0:
                    pop_code(key, queues)
                elif has_room(key, queues):
                    push_code(key, np.int32(value), queues)
                else:
                    done = i
                    break
            if joins and value >= 0:
                count = live_rows[uint64(value)]
                live_rows[uint64(value)] = count + factor
                found += (count == 0) - np.int64(count + factor == 0)
        else:
            mine = uint64(inputs * own + node)
            count = rows[mine]
            rows[mine] = count + factor
            if joins and (count == 0 or count + factor == 0):
                block = np.int64(owners[key, uint64(HEAD)])
                begin = np.int64(owners[key, uint64(HEAD_AT)])
                last = np.int64(owners[key, uint64(TAIL)])
                behind = np.int64(owners[key, uint64(TAIL_AT)])
                while block != EMPTY:
                    stop = behind if block == last else np.int64(BLOCK)
                    walked += stop - begin
                    for place in range(begin, stop):
                        value = np.int64(blocks[uint64(block), uint64(place)])
                        if value >= 0:
                            many = live_rows[uint64(value)]
                            live_rows[uint64(value)] = many + factor
                            found += (many == 0) - np.int64(many + factor == 0)
                    block = np.int64(blocks[uint64(block), uint64(NEXT)])
                    begin = np.int64(NEXT + 1)
        now_from = used if time != now else now_from
        now = time
        if found == before:
            continue
        if out < now_from:
            out = used
            used += 1
        place_out = uint64(out - first)
        out_at[place_out] = now
        out_group[place_out] = 0
        out_extras[place_out, uint64(0)] = found
    tally[0] = found
    last_out[0] = out
    queue_control[WALKED] = walked
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used
    return done
