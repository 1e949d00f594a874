"""LAG and LEAD: values of rows a few copies before or behind, maintained as rows come and go.

For every instant the rows within reach of a change are found in the order before it, and what they
showed is written with weight -1; then the changes are made, and what these rows show now is written
with weight +1. What a row showed and shows again is one entry of weight 0, and left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windrow.compiling.kernels import inlined, njit
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FOLLOWING,
    LAST,
    PREVIOUS,
    apply_count,
    first_after,
    grown,
    insert_before,
)

BELOW_ZERO = -1
NO_DEFAULT = -1

# Columns of `out` before the values.
AT = 0
ROW = 1
WEIGHT = 2
OUT_COLUMNS = 3

# Columns of `calls`.
SHIFT = 0  # how many copies further on the value is; negative: before
VALUE = 1  # the first column of the value among those held
DEFAULT = 2  # the same of the default
SHOWN = 3  # the first column in out
WIDTH = 4
CALL_COLUMNS = 5


# Columns of `states`.
NET = 0
IS_LISTED = 1
BEGIN = 2
END = 3
STATE_COLUMNS = 4


class Reached(NamedTuple):
    """Rows within reach of the changes of an instant.

    states[row]: what changes of it, whether it is in rows[:counters[0]], and where its entries in
    out begin and end; zero between two instants, but for the entries.
    """

    states: np.ndarray
    rows: np.ndarray
    counters: np.ndarray


@njit(cache=True)
def neighbour_changes(coded, tree, values, calls, reach, reached, out):
    """Apply changes and write what follows; returns (count, out). BELOW_ZERO: see top_kernels.

    reach: how many copies behind and before a change show it.
    """
    at, weight, rows, partitions = coded
    states, counts, links = reached.states, tree.counts, tree.links
    most = reach[0] + reach[1] + 1  # entries of a row
    written = 0
    begin = 0
    while begin < at.size:
        end = begin + 1
        while end < at.size and at[end] == at[begin]:
            end += 1
        for place in range(begin, end):
            states[rows[place], NET] += weight[place]
        start = written
        changed = 0
        following = EMPTY
        for place in range(begin, end):
            row = rows[place]
            if states[row, NET] == 0:
                continue
            if counts[row] + states[row, NET] < 0:
                return BELOW_ZERO, out
            changed += 1
            if counts[row] > 0:
                following, previous = links[row, FOLLOWING], links[row, PREVIOUS]
            else:
                following = first_after(row, partitions[place], tree)
                if following == EMPTY:
                    previous = tree.heads[partitions[place], LAST]
                else:
                    previous = links[following, PREVIOUS]
            listed = reached.counters[0]
            list_reached(row, following, previous, reach, tree, reached)
            room = written + (reached.counters[0] - listed) * most
            if room > out.shape[0]:
                out = grown(out, room)
            for each in range(listed, reached.counters[0]):
                node = reached.rows[each]
                written = show(
                    node, -1, at[begin], tree, values, calls, reach, reached, out, written
                )
        for place in range(begin, end):
            row = rows[place]
            change = states[row, NET]
            states[row, NET] = 0
            if change == 0:
                continue
            if changed == 1 and counts[row] == 0:
                insert_before(row, following, partitions[place], change, tree)
            else:
                apply_count(row, partitions[place], counts[row] + change, tree)
        room = written + reached.counters[0] * most
        if room > out.shape[0]:
            out = grown(out, room)
        for each in range(reached.counters[0]):
            node = reached.rows[each]
            written = show(node, 1, at[begin], tree, values, calls, reach, reached, out, written)
            states[node, IS_LISTED] = 0
        reached.counters[0] = 0
        written = without_zeros(start, written, out)
        begin = end
    return written, out


@inlined
def list_reached(row, following, previous, reach, tree, reached):
    """List a row that changes, and those that show it or will, in the order before the change."""
    list_row(row, reached)
    left = reach[0]
    while left > 0 and following != EMPTY:
        list_row(following, reached)
        left -= tree.counts[following]
        following = tree.links[following, FOLLOWING]
    left = reach[1]
    while left > 0 and previous != EMPTY:
        list_row(previous, reached)
        left -= tree.counts[previous]
        previous = tree.links[previous, PREVIOUS]


@inlined
def list_row(row, reached):
    """List a row once."""
    if reached.states[row, IS_LISTED] == 0:
        reached.states[row, IS_LISTED] = 1
        reached.rows[reached.counters[0]] = row
        reached.counters[0] += 1


@inlined
def show(row, sign, at, tree, values, calls, reach, reached, out, written):
    """Write what all copies of a row show, added to its entries; returns how many are written."""
    begin = written
    copies = tree.counts[row]
    if sign < 0:
        reached.states[row, BEGIN] = written
        reached.states[row, END] = written
    copy = 0
    while copy < copies:
        alike = 1
        if copy == reach[0] and copies - reach[1] > copy:
            # From here on, but for the last ones, copies show themselves.
            alike = copies - reach[1] - copy
        show_copy(row, copy, tree, values, calls, out, written)
        out[written, AT] = at
        out[written, ROW] = row
        out[written, WEIGHT] = sign * alike
        if is_new(row, begin, written, reached, out):
            written += 1
        copy += alike
    if sign < 0:
        reached.states[row, END] = written
    return written


@inlined
def is_new(row, begin, written, reached, out):
    """Add the entry's weight to one that shows the same; returns whether there is none."""
    for entry in range(reached.states[row, BEGIN], reached.states[row, END]):
        if is_same(entry, written, out):
            out[entry, WEIGHT] += out[written, WEIGHT]
            return False
    for entry in range(begin, written):
        if is_same(entry, written, out):
            out[entry, WEIGHT] += out[written, WEIGHT]
            return False
    return True


@inlined
def is_same(entry, other, out):
    """Whether two entries of a row show the same values."""
    for column in range(OUT_COLUMNS, out.shape[1]):
        if out[entry, column] != out[other, column]:
            return False
    return True


@inlined
def show_copy(row, copy, tree, values, calls, out, written):
    """Write the values that one copy of a row shows."""
    for call in range(calls.shape[0]):
        shift = calls[call, SHIFT]
        shown = calls[call, SHOWN]
        source = source_of(row, copy, shift, tree)
        column = calls[call, VALUE]
        if source == EMPTY:
            source = row
            column = calls[call, DEFAULT]
        if column == NO_DEFAULT or values[source, column] != 0:
            # Whatever the words are behind it, there is one NULL.
            out[written, shown] = 1
            for place in range(1, calls[call, WIDTH]):
                out[written, shown + place] = 0
        else:
            for place in range(calls[call, WIDTH]):
                out[written, shown + place] = values[source, column + place]


@inlined
def source_of(row, copy, shift, tree):
    """The row of the copy that is so many copies further on, or EMPTY."""
    wanted = copy + shift
    while row != EMPTY and wanted < 0:
        row = tree.links[row, PREVIOUS]
        if row != EMPTY:
            wanted += tree.counts[row]
    while row != EMPTY and wanted >= tree.counts[row]:
        wanted -= tree.counts[row]
        row = tree.links[row, FOLLOWING]
    return row


@inlined
def without_zeros(start, written, out):
    """Leave out the entries of an instant that say nothing; returns how many are left."""
    kept = start
    for entry in range(start, written):
        if out[entry, WEIGHT] != 0:
            if kept != entry:
                for column in range(out.shape[1]):
                    out[kept, column] = out[entry, column]
            kept += 1
    return kept
