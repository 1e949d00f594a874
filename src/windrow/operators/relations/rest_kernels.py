"""Partitions of which only a front is in order: the rest are lists, in no order, behind it.

Purpose: rows that come and go behind the first few cost O(1), without being looked for.
Invariant: every row of the front is before every row of the rest; a front is never empty while
    there is a rest. A row that comes is compared with the last row of the front alone.
Time: bringing rows forward reads all of a rest. Either as many changes have come since it was done
    last, which pay for it, or the front is made twice as long as last time: so in any order, even
    where every row that leaves is the first one, a change costs O(log n) amortised.
Space: the links of a row that is in no tree; 16 bytes for each partition.
"""

from __future__ import annotations

from windrow.compiling.kernels import inlined
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FOLLOWING,
    LAST,
    PARENT,
    PREVIOUS,
    ROWS,
    insert,
    is_before,
    remove,
)

# Columns of `rests`.
HEAD = 0  # the first of the list
SIZE = 1  # its rows, copies not counted
FRONT = 2  # so many rows are brought forward, and a front has twice as many at most
SINCE = 3  # changes since rows were brought forward, or the front was made shorter
REST_COLUMNS = 4

# In the place of a parent: the row is in the rest.
BEHIND = -2
# More changes need not be counted.
_MANY = 1 << 30


@inlined
def belongs_behind(row, partition, tree, rests):
    """Whether a row that comes has its place in the rest."""
    if rests[partition, SIZE] == 0:
        return False
    return is_before(tree.heads[partition, LAST], row, tree.first, tree.words)


@inlined
def put_behind(row, partition, count, tree, rests):
    """Put a row into the rest, that many times."""
    links = tree.links
    following = rests[partition, HEAD]
    links[row, PARENT] = BEHIND
    links[row, FOLLOWING] = following
    links[row, PREVIOUS] = EMPTY
    if following != EMPTY:
        links[following, PREVIOUS] = row
    rests[partition, HEAD] = row
    rests[partition, SIZE] += 1
    tree.counts[row] = count


@inlined
def take_from_behind(row, partition, tree, rests):
    """Take all copies of a row out of the rest."""
    links = tree.links
    following, previous = links[row, FOLLOWING], links[row, PREVIOUS]
    if following != EMPTY:
        links[following, PREVIOUS] = previous
    if previous == EMPTY:
        rests[partition, HEAD] = following
    else:
        links[previous, FOLLOWING] = following
    rests[partition, SIZE] -= 1
    tree.counts[row] = 0
    links[row, PARENT] = EMPTY


@inlined
def note_change(partition, rests):
    """Count a change of the partition."""
    if rests[partition, SINCE] < _MANY:
        rests[partition, SINCE] += 1


@inlined
def shorten_front(partition, shortest, tree, rests):
    """Put the last rows of a front that has become too long into the rest."""
    if rests[partition, SINCE] >= rests[partition, SIZE]:
        rests[partition, FRONT] = max(shortest, rests[partition, FRONT] // 2)
        rests[partition, SINCE] = 0
    while tree.heads[partition, ROWS] > rests[partition, FRONT]:
        row = tree.heads[partition, LAST]
        count = tree.counts[row]
        remove(row, partition, tree)
        put_behind(row, partition, count, tree, rests)


@inlined
def bring_forward(partition, shortest, tree, rests, rows):
    """Move the first rows of a rest, which is not empty, to the front; rows: room for all rows."""
    size = rests[partition, SIZE]
    length = rests[partition, FRONT]
    if rests[partition, SINCE] < size:
        length = min(2 * length, max(shortest, size))
    else:
        length = max(shortest, length // 2)
    rests[partition, FRONT] = length
    rests[partition, SINCE] = 0
    row = rests[partition, HEAD]
    for place in range(size):
        rows[place] = row
        row = tree.links[row, FOLLOWING]
    wanted = min(size, length)
    if wanted < size:
        select_first(rows, size, wanted, tree)
    for place in range(wanted):
        row = rows[place]
        count = tree.counts[row]
        take_from_behind(row, partition, tree, rests)
        insert(row, partition, count, tree)


@inlined
def select_first(rows, size, wanted, tree):
    """Let the first `wanted` of so many rows be in front, in any order (Hoare's quickselect)."""
    first, words = tree.first, tree.words
    low, high = 0, size - 1
    while low < high:
        pivot = rows[low + (high - low) // 2]
        i, j = low, high
        while i <= j:
            while is_before(rows[i], pivot, first, words):
                i += 1
            while is_before(pivot, rows[j], first, words):
                j -= 1
            if i <= j:
                rows[i], rows[j] = rows[j], rows[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
