"""Which rows functions over frames must be computed for anew, and the rows that these read.

For every instant and changed partition, the rows within reach of a change are found in the order
before it. They are written, with all that their frames can read, as a segment of the order before
(sign -1); the changes are made; and the same rows are written in the order after (sign +1). Where a
frame has no end, a segment is the whole partition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windrow.compiling.kernels import inlined, njit
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FIRST,
    FOLLOWING,
    LAST,
    PREVIOUS,
    apply_count,
    first_after,
)

BELOW_ZERO = -1

# Columns of `nodes`: a row, how many copies it has, and whether its values are asked for.
NODE_ROW = 0
NODE_COUNT = 1
NODE_IS_SHOWN = 2
NODE_COLUMNS = 3

# Columns of `segments`: its first node, its instant, and -1 before or 1 after the changes.
SEGMENT_BEGIN = 0
SEGMENT_AT = 1
SEGMENT_SIGN = 2
SEGMENT_COLUMNS = 3

# Flags of marked rows: in no segment yet, in one that is to be written, and written.
_MARKED = 1
_TRACED = 2
_WRITTEN = 3


class Reach(NamedTuple):
    """How far a change is seen.

    rows, distances: backwards and forwards, in copies and on the key of the order (-1: not at all;
    peers are at distance 0). is_whole: frames have no end, segments are whole partitions;
    is_endless: what is behind a change sees it; is_everywhere: all of the partition does.
    key_width: how many words are of keys.
    """

    rows: tuple[int, int]
    distances: tuple[float, float]
    is_whole: bool
    is_endless: bool
    is_everywhere: bool
    key_width: int


class Marks(NamedTuple):
    """Rows and partitions that an instant changes; zero between two.

    net, flags by row; rows[:counters[0]] are listed. partition_flags by partition, and
    partitions[:counters[1]] are listed. keys: of rows as doubles, NaN for those without a distance.
    """

    net: np.ndarray
    flags: np.ndarray
    rows: np.ndarray
    partition_flags: np.ndarray
    partitions: np.ndarray
    counters: np.ndarray
    keys: np.ndarray


@njit(cache=True)
def trace_spans(coded, begin, most_nodes, tree, reach, marks, nodes, segments):
    """Apply whole instants from a change on, until there are that many nodes.

    Returns the change to continue with (BELOW_ZERO: a row left more often than it was there), and
    nodes and segments with their counts.
    """
    at, weight, rows, partitions = coded
    node_count, segment_count = 0, 0
    while begin < at.size and node_count < most_nodes:
        end = begin + 1
        while end < at.size and at[end] == at[begin]:
            end += 1
        for place in range(begin, end):
            marks.net[rows[place]] += weight[place]
        for place in range(begin, end):
            if marks.net[rows[place]] != 0:
                mark_change(rows[place], partitions[place], tree, reach, marks)
        for is_after in range(2):
            if is_after == 1:
                for place in range(begin, end):
                    row = rows[place]
                    count = tree.counts[row] + marks.net[row]
                    marks.net[row] = 0
                    if count < 0:
                        return BELOW_ZERO, nodes, node_count, segments, segment_count
                    apply_count(row, partitions[place], count, tree)
            pieces = marks.counters[1] if reach.is_whole else marks.counters[0]
            for piece in range(pieces):
                start, length = piece_of(piece, tree, reach, marks)
                if length == 0:
                    continue
                if node_count + length > nodes.shape[0]:
                    nodes = grown(nodes, node_count + length)
                if segment_count == segments.shape[0]:
                    segments = grown(segments, segment_count + 1)
                segments[segment_count, SEGMENT_BEGIN] = node_count
                segments[segment_count, SEGMENT_AT] = at[begin]
                segments[segment_count, SEGMENT_SIGN] = 2 * is_after - 1
                segment_count += 1
                write_nodes(start, length, tree, reach, marks, nodes, node_count)
                node_count += length
            for place in range(marks.counters[0]):
                marks.flags[marks.rows[place]] = _MARKED if is_after == 0 else 0
        for place in range(marks.counters[1]):
            marks.partition_flags[marks.partitions[place]] = 0
        marks.counters[0] = 0
        marks.counters[1] = 0
        begin = end
    return begin, nodes, node_count, segments, segment_count


@njit(cache=True)
def grown(array, size):
    """The same with room for at least so many."""
    larger = np.empty((max(2 * array.shape[0], size), array.shape[1]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@inlined
def mark_change(row, partition, tree, reach, marks):
    """Mark a row that changes, and those that see it, in the order before the change."""
    if marks.partition_flags[partition] == 0:
        marks.partition_flags[partition] = 1
        marks.partitions[marks.counters[1]] = partition
        marks.counters[1] += 1
    if tree.counts[row] > 0:
        following, previous = tree.links[row, FOLLOWING], tree.links[row, PREVIOUS]
    else:
        following = first_after(row, partition, tree)
        previous = tree.heads[partition, LAST]
        if following != EMPTY:
            previous = tree.links[following, PREVIOUS]
    mark_row(row, marks)
    if reach.is_endless and following != EMPTY:
        mark_row(following, marks)
    mark_along(row, previous, PREVIOUS, 0, tree, reach, marks)
    mark_along(row, following, FOLLOWING, 1, tree, reach, marks)


@inlined
def mark_along(row, other, link, direction, tree, reach, marks):
    """Mark rows one after the other while they see the row that changes."""
    passed = 0
    while other != EMPTY:
        is_near = passed < reach.rows[direction]
        if not is_near and not is_close(row, other, reach.distances[direction], tree, reach, marks):
            break
        mark_row(other, marks)
        passed += tree.counts[other]
        other = tree.links[other, link]


@inlined
def mark_row(row, marks):
    """Mark a row once."""
    if marks.flags[row] == 0:
        marks.flags[row] = _MARKED
        marks.rows[marks.counters[0]] = row
        marks.counters[0] += 1


@inlined
def is_close(row, other, distance, tree, reach, marks):
    """Whether the keys of two rows are at most so far apart, or a little more; peers always."""
    if distance < 0.0:
        return False
    mine, theirs = marks.keys[row], marks.keys[other]
    if mine == mine and theirs == theirs and mine != theirs:
        # What is too much is computed, found to be as before, and left out.
        return abs(mine - theirs) <= distance + 4e-15 * (abs(mine) + abs(theirs))
    for place in range(reach.key_width):
        if tree.words[row, place] != tree.words[other, place]:
            return False
    return True


@inlined
def piece_of(piece, tree, reach, marks):
    """The first row and the number of rows of a segment: a partition, or what is about a mark."""
    if reach.is_whole:
        start = tree.heads[marks.partitions[piece], FIRST]
        length = 0
        node = start
        while node != EMPTY:
            length += 1
            node = tree.links[node, FOLLOWING]
        return start, length
    row = marks.rows[piece]
    if marks.flags[row] != _MARKED or tree.counts[row] == 0:
        return EMPTY, 0
    start = walk_context(row, PREVIOUS, tree, reach, marks)[0]
    _, length = walk_context(row, FOLLOWING, tree, reach, marks)
    node = start
    while node != row:
        length += 1
        node = tree.links[node, FOLLOWING]
    return start, length


@inlined
def walk_context(row, link, tree, reach, marks):
    """The last row that the frames of marked rows can read this way, and how many there are.

    Marked rows that are met have their frames here too, and need no other segment.
    """
    rows = max(reach.rows[0], reach.rows[1])
    distance = max(reach.distances[0], reach.distances[1])
    anchor, last, length, passed = row, row, 1, 0
    marks.flags[row] = _TRACED
    node = tree.links[row, link]
    while node != EMPTY:
        is_near = passed < rows
        if not is_near and not is_close(anchor, node, distance, tree, reach, marks):
            break
        passed += tree.counts[node]
        length += 1
        last = node
        if marks.flags[node] == _MARKED:
            marks.flags[node] = _TRACED
            anchor, passed = node, 0
        node = tree.links[node, link]
    return last, length


@inlined
def write_nodes(start, length, tree, reach, marks, nodes, first):
    """Write the rows of a segment."""
    node = start
    is_shown = 1 if reach.is_everywhere else 0
    for place in range(first, first + length):
        if reach.is_endless and marks.flags[node] != 0:
            is_shown = 1
        nodes[place, NODE_ROW] = node
        nodes[place, NODE_COUNT] = tree.counts[node]
        nodes[place, NODE_IS_SHOWN] = is_shown
        if marks.flags[node] == _TRACED:
            nodes[place, NODE_IS_SHOWN] = 1
            marks.flags[node] = _WRITTEN
        node = tree.links[node, FOLLOWING]
