"""Cells, the blocks above them, and ranges of them.

Purpose: the state of any run of neighbouring cells, without subtracting.
Order: a block of height h stands on 16**h neighbouring places of the columns. Blocks do not care
    which series the places belong to: a range uses only blocks that lie wholly in it.
Time: a range of n cells reads at most 30 states a height, log16(n) heights.
Space: one block for 16 places, and one for 16 blocks: a fifteenth of the cells.

The structures are those of ../arrays.py, taken apart before the loops: inside them, Numba would
count references to the arrays.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit
from windrow.history.state_kernels import (
    LARGEST_WORD,
    POSITIVE,
    REAL_STEP,
    REST,
    ROWS,
    SMALLEST_WORD,
    SQUARES,
    START,
    SUM,
    VALID,
    WHOLE_STEP,
    add_pairs,
    add_part,
    add_rows,
    add_state,
    clear_states,
)

BASE = 0
ROOM = 1
HEAD = 2
SIZE = 3
SERIES_FACTS = 4

FAN_BITS = 4
FAN = 1 << FAN_BITS
FAN_MASK = FAN - 1
MAX_HEIGHTS = 16

# Shapes of cells: the level, and whether the rows are gone.
LEVEL_MASK = 0x7F
DENSE = 0x80

EXACT = 0
LEFT = 1
RIGHT = 2
PARTS = 3


@njit(cache=True)
def move_rows(target, source, sources, targets, counts):
    """Copy runs of columns between matrices."""
    for row in range(source.shape[0]):
        for run in range(sources.size):
            first, to = sources[run], targets[run]
            for place in range(counts[run]):
                target[row, to + place] = source[row, first + place]


@njit(cache=True)
def height_places(capacity, out):
    """Where the blocks of each height begin, and the end; returns how many heights there are."""
    heights = 1
    out[0] = 0
    out[1] = 0
    blocks = capacity
    while blocks > FAN and heights < MAX_HEIGHTS - 1:
        blocks = (blocks + FAN_MASK) >> FAN_BITS
        out[heights + 1] = out[heights] + blocks
        heights += 1
    return heights


@njit(cache=True)
def mark_places(stale, places, heights, firsts, ends):
    """Note that the lowest blocks over these places are out of date."""
    if heights < 2:
        return
    for run in range(firsts.size):
        if firsts[run] < ends[run]:
            for block in range(firsts[run] >> FAN_BITS, ((ends[run] - 1) >> FAN_BITS) + 1):
                stale[places[1] + block] = 1


@njit(cache=True)
def refresh_blocks(whole, real, block_whole, block_real, places, heights, stale, low, high):
    """Rebuild the blocks that are out of date, all those over places from low to high."""
    below = whole.shape[1]
    for height in range(1, heights):
        low >>= FAN_BITS
        high = (high + FAN_MASK) >> FAN_BITS
        for block in range(low, high):
            at = places[height] + block
            if stale[at] == 0:
                continue
            stale[at] = 0
            if height + 1 < heights:
                stale[places[height + 1] + (block >> FAN_BITS)] = 1
            clear_states(block_whole, block_real, at, at + 1)
            for child in range(block << FAN_BITS, min((block + 1) << FAN_BITS, below)):
                if height == 1:
                    add_state(block_whole, block_real, at, whole, real, child)
                else:
                    source = places[height - 1] + child
                    add_state(block_whole, block_real, at, block_whole, block_real, source)
        below = places[height + 1] - places[height]


@njit(cache=True)
def first_at_or_after(starts, first, end, time):
    """The first place in order of time whose start is not before `time`."""
    while first < end:
        middle = (first + end) >> 1
        if starts[middle] < time:
            first = middle + 1
        else:
            end = middle
    return first


@njit(cache=True)
def cover_range(first, end, places, heights, runs):
    """Cut places first to end into runs of cells and of blocks; returns how many runs there are.

    A run is (height, its first place, the place behind it) in the columns of cells or blocks.
    """
    count = height = 0
    while first < end:
        base = 0 if height == 0 else places[height]
        above = (first + FAN_MASK) >> FAN_BITS
        above_end = end >> FAN_BITS
        if height + 1 >= heights or above >= above_end:
            runs[count, 0], runs[count, 1], runs[count, 2] = height, base + first, base + end
            return count + 1
        if first < above << FAN_BITS:
            runs[count, 0], runs[count, 1] = height, base + first
            runs[count, 2] = base + (above << FAN_BITS)
            count += 1
        if above_end << FAN_BITS < end:
            runs[count, 0], runs[count, 1] = height, base + (above_end << FAN_BITS)
            runs[count, 2] = base + end
            count += 1
        first, end = above, above_end
        height += 1
    return count


@njit(cache=True)
def add_range(
    whole, real, block_whole, block_real, places, heights, runs, first, end, out_whole, out_real, at
):
    """Add the states of places first to end to one state."""
    count = cover_range(first, end, places, heights, runs)
    rows = 0
    for run in range(count):
        counts = whole[ROWS] if runs[run, 0] == 0 else block_whole[ROWS]
        for place in range(runs[run, 1], runs[run, 2]):
            rows += counts[place]
    out_whole[ROWS, at] += rows
    for measure in range(real.shape[0] // REAL_STEP):
        add_range_of_measure(
            whole, real, block_whole, block_real, runs, count, measure, out_whole, out_real, at
        )


@njit(cache=True)
def add_range_of_measure(
    whole, real, block_whole, block_real, runs, count, measure, out_whole, out_real, at
):
    """Add one measure of all runs to one state."""
    w = VALID + WHOLE_STEP * measure
    r = REAL_STEP * measure
    valid = 0
    lowest, highest = LARGEST_WORD, SMALLEST_WORD
    total = rest = positive = 0.0
    for run in range(count):
        in_cells = runs[run, 0] == 0
        valids = whole[w] if in_cells else block_whole[w]
        lows = whole[w + 1] if in_cells else block_whole[w + 1]
        highs = whole[w + 2] if in_cells else block_whole[w + 2]
        sums = real[r + SUM] if in_cells else block_real[r + SUM]
        rests = real[r + REST] if in_cells else block_real[r + REST]
        positives = real[r + POSITIVE] if in_cells else block_real[r + POSITIVE]
        for place in range(runs[run, 1], runs[run, 2]):
            valid += valids[place]
            lowest = min(lowest, lows[place])
            highest = max(highest, highs[place])
            value = sums[place]
            new = total + value
            part = new - total
            rest += (total - (new - part)) + (value - part) + rests[place]
            total = new
            positive += positives[place]
    if valid == 0:
        return
    if np.isfinite(total):
        total, rest = add_pairs(total, 0.0, rest, 0.0)
    else:
        rest = 0.0
    squares = squares_of_runs(
        whole, real, block_whole, block_real, runs, count, w, r, total / valid
    )
    add_part(
        out_whole, out_real, at, measure, valid, lowest, highest, total, rest, positive, squares
    )


@njit(cache=True)
def squares_of_runs(whole, real, block_whole, block_real, runs, count, w, r, mean):
    """The second moment of all runs about their common mean: no state waits for the one before."""
    squares = 0.0
    for run in range(count):
        in_cells = runs[run, 0] == 0
        valids = whole[w] if in_cells else block_whole[w]
        sums = real[r + SUM] if in_cells else block_real[r + SUM]
        moments = real[r + SQUARES] if in_cells else block_real[r + SQUARES]
        for place in range(runs[run, 1], runs[run, 2]):
            valid = np.float64(valids[place])
            distance = sums[place] / max(valid, 1.0) - mean
            squares += moments[place] + valid * distance * distance
    return np.inf if np.isnan(squares) else squares


@njit(cache=True)
def read_series(since, until, target, granularities, kinds, cells, blocks, rows, reading):
    """Add all cells between two times to the states of a reading.

    Whole cells, and the rows of cells that are cut, go to part `target`; a cut cell without rows
    goes to LEFT or RIGHT as a whole, and its interval into cuts.
    """
    series, whole, real, shape = cells
    block_whole, block_real, places, heights, runs = blocks
    row_series, row_times, words, values, valid = rows
    codes, out_whole, out_real, cuts = reading
    starts = whole[START]
    for number in range(codes.size):
        code = codes[number]
        at = PARTS * number
        if code >= series.shape[1]:
            continue
        begin = series[BASE, code] + series[HEAD, code]
        end = begin + series[SIZE, code]
        first = first_at_or_after(starts, begin, end, since)
        for side in range(2):
            last = first_at_or_after(starts, first, end, until) if side == 1 else first
            cell = last - 1
            if cell < (begin if side == 0 else first):
                continue
            cell_end = starts[cell] + granularities[shape[cell] & LEVEL_MASK]
            limit = since if side == 0 else until
            if cell_end <= limit:
                continue
            if side == 1:
                end = cell  # whole cells end before it
            if shape[cell] & DENSE:
                if whole[ROWS, cell] == 0:
                    continue  # nothing is in doubt
                add_state(out_whole, out_real, at + LEFT + side, whole, real, cell)
                cuts[number, side, 0] = starts[cell]
                cuts[number, side, 1] = cell_end
            elif code < row_series.shape[1]:
                row = row_series[BASE, code] + row_series[HEAD, code]
                row_end = row + row_series[SIZE, code]
                row = first_at_or_after(row_times, row, row_end, max(since, starts[cell]))
                row_end = first_at_or_after(row_times, row, row_end, min(until, cell_end))
                add_rows(
                    out_whole, out_real, at + target, kinds, words, values, valid, row, row_end
                )
        last = first_at_or_after(starts, first, end, until)
        add_range(
            whole, real, block_whole, block_real, places, heights, runs, first, last, out_whole,
            out_real, at + target,
        )  # fmt: skip
