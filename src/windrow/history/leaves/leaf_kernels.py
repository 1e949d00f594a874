"""Rows into leaves: the end of each series is rebuilt from what it was and the new rows.

Order: rows of a series in order of time; late ones make its tail longer, and nothing else.
Law: a leaf is the coarsest node with at most `most` rows, or a node of the finest level, which is
    dense: it keeps no rows. Counts only grow, so that it does not matter in which order rows come.
Time: O(1) a row of a dense node; O(levels) a leaf that is made.
"""

from __future__ import annotations

from windrow.compiling.kernels import njit
from windrow.history.cells.kernels import (
    BASE,
    DENSE,
    HEAD,
    LEVEL_MASK,
    SIZE,
    first_at_or_after,
)
from windrow.history.state_kernels import (
    ROWS,
    START,
    add_rows,
    add_state,
    clear_states,
    copy_state,
)

# Places of the tails that were found: first cell and row kept as they are, cells and rows behind.
CELLS_KEPT = 0
ROWS_KEPT = 1
CELLS_BEHIND = 2
ROWS_BEHIND = 3
TAIL_FACTS = 4


@njit(cache=True)
def find_tails(codes, batch, cells, rows, granularities, tails):
    """How much of each series lies before its first new row, and how much behind."""
    firsts, times = batch.firsts, batch.times
    series, shape, starts = cells.series, cells.shape, cells.whole[START]
    row_series, row_times = rows.series, rows.times
    for number in range(codes.size):
        code = codes[number]
        time = times[firsts[number]]
        first = series[BASE, code] + series[HEAD, code]
        end = first + series[SIZE, code]
        cell = first_at_or_after(starts, first, end, time + 1)
        since = time
        if cell > first:
            before = cell - 1
            if starts[before] + granularities[shape[before] & LEVEL_MASK] > time:
                cell = before
                since = starts[before]
        row_first = row_series[BASE, code] + row_series[HEAD, code]
        row_end = row_first + row_series[SIZE, code]
        row = first_at_or_after(row_times, row_first, row_end, since)
        tails[CELLS_KEPT, number] = cell - first
        tails[ROWS_KEPT, number] = row - row_first
        tails[CELLS_BEHIND, number] = end - cell
        tails[ROWS_BEHIND, number] = row_end - row


@njit(cache=True)
def build_tails(
    codes, tails, most, fills, granularities, kinds, batch, cells, rows, both, leaves, leaf_rows
):
    """The new tails of all series, one behind the other; firsts has one entry more than codes.

    most: rows that a leaf may have, below 0: all leaves are dense, and where `fills` is true those
    without rows are there too. both: room for the rows of one leaf, old and new.
    """
    firsts, times, words, values, valid = batch
    series, whole, real, shape = cells
    row_series = rows.series
    out_ends, out_whole, out_real, out_shape = leaves
    out_row_ends = leaf_rows.ends
    made = rows_made = 0
    out_ends[0] = 0
    out_row_ends[0] = 0
    for number in range(codes.size):
        code = codes[number]
        begin = series[BASE, code] + series[HEAD, code]
        cell = begin + tails[CELLS_KEPT, number]
        cell_end = begin + series[SIZE, code]
        old = row_series[BASE, code] + row_series[HEAD, code] + tails[ROWS_KEPT, number]
        row, row_end = firsts[number], firsts[number + 1]
        while cell < cell_end or row < row_end:
            if row < row_end and (cell == cell_end or times[row] < whole[START, cell]):
                level = level_between(times[row], begin, cell, cell_end, cells, granularities)
                limit = times[row] - times[row] % granularities[level] + granularities[level]
                last = row
                if cell == cell_end and times[row_end - 1] < limit:
                    last = row_end
                while last < row_end and times[last] < limit:
                    last += 1
                if fills and (made > out_ends[number] or cell > begin):
                    if made > out_ends[number]:
                        since = out_whole[START, made - 1] + granularities[0]
                    else:
                        since = whole[START, cell - 1] + granularities[0]
                    made = fill_cells(
                        since, times[row], granularities[0], out_whole, out_real, out_shape, made
                    )
                made, rows_made = split_rows(
                    level, most, granularities, kinds, batch, row, last, leaves, made, leaf_rows,
                    rows_made,
                )  # fmt: skip
                row = last
                continue
            limit = whole[START, cell] + granularities[shape[cell] & LEVEL_MASK]
            last = row
            while last < row_end and times[last] < limit:
                last += 1
            if fills and made > out_ends[number]:
                since = out_whole[START, made - 1] + granularities[0]
                until, step = whole[START, cell], granularities[0]
                made = fill_cells(since, until, step, out_whole, out_real, out_shape, made)
            copy_state(out_whole, out_real, made, whole, real, cell)
            out_shape[made] = shape[cell]
            held = 0 if shape[cell] & DENSE else whole[ROWS, cell]
            if shape[cell] & DENSE:
                if last > row:
                    add_rows(out_whole, out_real, made, kinds, words, values, valid, row, last)
                made += 1
            elif held + last - row <= most:
                add_rows(out_whole, out_real, made, kinds, words, values, valid, row, last)
                merge_rows(rows, old, old + held, batch, row, last, leaf_rows, rows_made)
                rows_made += held + last - row
                made += 1
            else:
                merge_rows(rows, old, old + held, batch, row, last, both, 0)
                made, rows_made = split_rows(
                    shape[cell] & LEVEL_MASK, most, granularities, kinds, both, 0,
                    held + last - row, leaves, made, leaf_rows, rows_made,
                )  # fmt: skip
            old += held
            row = last
            cell += 1
        out_ends[number + 1] = made
        out_row_ends[number + 1] = rows_made


@njit(cache=True)
def level_between(time, begin, cell, end, cells, granularities):
    """A row falls where nothing was, before `cell`: as coarse a node as its neighbours allow."""
    starts, shape = cells.whole[START], cells.shape
    level = granularities.size - 1
    while level > 0:
        start = time - time % granularities[level]
        is_free = cell == end or starts[cell] >= start + granularities[level]
        if is_free and cell > begin:
            is_free = starts[cell - 1] + granularities[shape[cell - 1] & LEVEL_MASK] <= start
        if is_free:
            break
        level -= 1
    return level


@njit(cache=True)
def fill_cells(since, until, step, out_whole, out_real, out_shape, made):
    """Dense cells without rows from `since` on, while they end before `until`."""
    while since + step <= until:
        clear_states(out_whole, out_real, made, made + 1)
        out_whole[START, made] = since
        out_shape[made] = DENSE
        made += 1
        since += step
    return made


@njit(cache=True)
def split_rows(
    level, most, granularities, kinds, rows, row, end, leaves, made, leaf_rows, rows_made
):
    """Leaves of rows that lie in one node of a level; returns how many cells and rows there are."""
    _, times, words, values, valid = rows
    _, out_whole, out_real, out_shape = leaves
    _, out_times, out_words, out_valid = leaf_rows
    begin = row
    while row < end:
        node = level
        while True:
            start = times[row] - times[row] % granularities[node]
            limit = start + granularities[node]
            if node == 0:
                break
            # A node with a row before this one was split, as its leaves are made already.
            is_split = row > begin and times[row - 1] >= start
            if not is_split and (row + most >= end or times[row + most] >= limit):
                break
            node -= 1
        last = row + 1
        while last < end and times[last] < limit:
            last += 1
        clear_states(out_whole, out_real, made, made + 1)
        out_whole[START, made] = start
        add_rows(out_whole, out_real, made, kinds, words, values, valid, row, last)
        if node > 0 and last - row <= most:
            out_shape[made] = node
            copy_rows(times, words, valid, row, last, out_times, out_words, out_valid, rows_made)
            rows_made += last - row
        else:
            out_shape[made] = node | DENSE
        made += 1
        row = last
    return made, rows_made


@njit(cache=True)
def copy_rows(times, words, valid, row, end, out_times, out_words, out_valid, at):
    """Copy rows, with flags of validity where the target has them."""
    for place in range(end - row):
        out_times[at + place] = times[row + place]
    for measure in range(words.shape[0]):
        for place in range(end - row):
            out_words[measure, at + place] = words[measure, row + place]
        if out_valid.shape[1] > 0:
            for place in range(end - row):
                is_valid = valid.shape[1] == 0 or valid[measure, row + place] != 0
                out_valid[measure, at + place] = is_valid


@njit(cache=True)
def merge_rows(rows, old, old_end, batch, row, end, out, at):
    """Two runs of rows as one, in order of time; of equal ones the old come first."""
    _, old_times, old_words, _, old_valid = rows
    _, times, words, _, valid = batch
    out_times, out_words, out_valid = out.times, out.words, out.valid
    while old < old_end or row < end:
        if row == end or (old < old_end and old_times[old] <= times[row]):
            copy_rows(
                old_times, old_words, old_valid, old, old + 1, out_times, out_words, out_valid, at
            )
            old += 1
        else:
            copy_rows(times, words, valid, row, row + 1, out_times, out_words, out_valid, at)
            row += 1
        at += 1


@njit(cache=True)
def measure_heads(cells, rows, horizon, cell_counts, row_counts):
    """How many cells begin, and rows lie, before the horizon, by series."""
    series, starts = cells.series, cells.whole[START]
    row_series, row_times = rows.series, rows.times
    for code in range(series.shape[1]):
        first = series[BASE, code] + series[HEAD, code]
        end = first + series[SIZE, code]
        cell_counts[code] = first_at_or_after(starts, first, end, horizon) - first
        if code < row_series.shape[1]:
            first = row_series[BASE, code] + row_series[HEAD, code]
            end = first + row_series[SIZE, code]
            row_counts[code] = first_at_or_after(row_times, first, end, horizon) - first


@njit(cache=True)
def take_heads(horizon, step, level, kinds, cells, rows, cell_counts, nodes):
    """Sum up the cells before the horizon in nodes of `step`; returns how many nodes there are.

    A leaf that reaches over the horizon keeps its later rows: its state is rebuilt, and it is not
    counted in cell_counts any more. Nodes come series by series, in order of time.
    """
    series, whole, real, shape = cells
    row_series, row_times, words, values, valid = rows
    out_codes, out_whole, out_real, out_shape = nodes
    made = 0
    for code in range(series.shape[1]):
        first = series[BASE, code] + series[HEAD, code]
        begin = made
        row = row_end = 0
        if code < row_series.shape[1]:
            row = row_series[BASE, code] + row_series[HEAD, code]
            row_end = row + row_series[SIZE, code]
        counted = cell_counts[code]
        for cell in range(first, first + counted):
            if shape[cell] & DENSE:
                node = whole[START, cell] - whole[START, cell] % step
                made = open_node(node, begin, level, out_whole, out_real, out_shape, made)
                add_state(out_whole, out_real, made - 1, whole, real, cell)
                continue
            held = whole[ROWS, cell]
            last = first_at_or_after(row_times, row, min(row + held, row_end), horizon)
            at = row
            while at < last:
                node = row_times[at] - row_times[at] % step
                until = first_at_or_after(row_times, at, last, node + step)
                made = open_node(node, begin, level, out_whole, out_real, out_shape, made)
                add_rows(out_whole, out_real, made - 1, kinds, words, values, valid, at, until)
                at = until
            if last < row + held:
                start = whole[START, cell]
                clear_states(whole, real, cell, cell + 1)
                whole[START, cell] = start
                add_rows(whole, real, cell, kinds, words, values, valid, last, row + held)
                cell_counts[code] -= 1
            row += held
        for node in range(begin, made):
            out_codes[node] = code
    return made


@njit(cache=True)
def open_node(start, begin, level, out_whole, out_real, out_shape, made):
    """The node that begins at `start` is the last one, new if it was not; returns how many."""
    if made == begin or out_whole[START, made - 1] != start:
        clear_states(out_whole, out_real, made, made + 1)
        out_whole[START, made] = start
        out_shape[made] = level | DENSE
        made += 1
    return made
