"""The loops of an arrival profile: rows into cells, cells into bounds on what a window lacks.

Form: cells[slot, group, lane] of doubles; slot = number of the pane modulo the panes of the ring.
    Lane 0 counts rows; then every measure has MEASURE_LANES. An empty cell is all zeros.
Rounding: u = 2**-53. The sum of n values of one sign is off by less than n*u of itself, and any sum
    by n*u of the sum of absolute values. Squares are of distances from the cell's own first value
    (its anchor): they cancel little when they are moved to another centre near by. Bounds go out
    by (values + panes + SPARE_ROUNDINGS) * ROUNDING of what was added up, where ROUNDING is 2*u:
    twice what the steps can lose, so that the few operations on bounds themselves are covered, and
    values that are the doubles nearest to integers or decimals. Products below the smallest double
    lose up to TINY each.
"""

from __future__ import annotations

import math

import numpy as np

from windrow.compiling.kernels import njit

ROWS = 0
MEASURES = 1  # the first lane of the first measure
MEASURE_LANES = 8
VALID = 0
POSITIVE = 1  # the sum of values above zero; NaN too, so that it tells
NEGATIVE = 2
ANCHOR = 3
DEVIATION = 4  # the sum of value - anchor
SQUARES = 5  # the sum of its squares; infinite where two panes became one
LOWEST = 6
HIGHEST = 7

# What is known of the rows that a window lacks: each a lowest and a highest.
COUNT = 0
SUM = 2
DEVIATIONS = 4  # from the centre given
ALL_SQUARES = 6
MINIMUM = 8
MAXIMUM = 10
TAIL_LANES = 12

ROUNDING = 2.0**-52
SPARE_ROUNDINGS = 8
TINY = 2.0**-1074


@njit(cache=True)
def add_rows(start, times, groups, values, valid, pane_us, first_pane, cells, arrivals):
    """Count rows in their cells; those before the first pane are left out.

    Returns the first row whose group there is no room for, or how many rows there are.
    """
    ring = cells.shape[0]
    begin = end = pane = slot = 0
    for row in range(start, times.size):
        time = times[row]
        group = groups[row]
        if group >= cells.shape[1]:
            return row
        # Rows mostly fall into the pane of the row before: a division costs as much as the rest.
        if time < begin or time >= end:
            pane = time // pane_us
            begin = pane * pane_us
            end = begin + pane_us
            slot = pane % ring
        if pane < first_pane:
            continue
        arrivals[slot] += 1
        cells[slot, group, ROWS] += 1.0
        for measure in range(values.shape[0]):
            if valid[measure, row] == 0:
                continue
            value = values[measure, row]
            base = MEASURES + MEASURE_LANES * measure
            if cells[slot, group, base + VALID] == 0.0:
                cells[slot, group, base + ANCHOR] = value
                cells[slot, group, base + LOWEST] = value
                cells[slot, group, base + HIGHEST] = value
            cells[slot, group, base + VALID] += 1.0
            distance = value - cells[slot, group, base + ANCHOR]
            cells[slot, group, base + DEVIATION] += distance
            cells[slot, group, base + SQUARES] += distance * distance
            if value < 0.0:
                cells[slot, group, base + NEGATIVE] += value
            else:
                cells[slot, group, base + POSITIVE] += value
            if value < cells[slot, group, base + LOWEST]:
                cells[slot, group, base + LOWEST] = value
            elif value > cells[slot, group, base + HIGHEST]:
                cells[slot, group, base + HIGHEST] = value
            elif value != value:
                cells[slot, group, base + LOWEST] = -np.inf
                cells[slot, group, base + HIGHEST] = np.inf
    return times.size


@njit(cache=True)
def merge_pairs(first_pane, cells, arrivals, merged, merged_arrivals):
    """Two neighbouring panes become one, of twice the width, in a ring of half as many.

    The oldest pane is dropped where it is the second of a pair, whose first is gone already.
    Where both have values of a measure, their squares are about different anchors. To move them
    would lose digits that no lane tells of; they are given up, and extremes bound them from here.
    """
    ring = cells.shape[0]
    for pane in range(first_pane + (first_pane & 1), first_pane + ring):
        source = pane % ring
        target = (pane >> 1) % merged.shape[0]
        merged_arrivals[target] += arrivals[source]
        for group in range(cells.shape[1]):
            merged[target, group, ROWS] += cells[source, group, ROWS]
            for base in range(MEASURES, cells.shape[2], MEASURE_LANES):
                old = cells[source, group, base : base + MEASURE_LANES]
                new = merged[target, group, base : base + MEASURE_LANES]
                if old[VALID] == 0.0:
                    continue
                if new[VALID] == 0.0:
                    new[:] = old
                    continue
                new[VALID] += old[VALID]
                new[POSITIVE] += old[POSITIVE]
                new[NEGATIVE] += old[NEGATIVE]
                new[DEVIATION] = 0.0
                new[SQUARES] = np.inf
                new[LOWEST] = min(new[LOWEST], old[LOWEST])
                new[HIGHEST] = max(new[HIGHEST], old[HIGHEST])


@njit(cache=True)
def merge_cells(start, panes, groups, lanes, shift, first_pane, cells, arrivals):
    """Add cells that were counted elsewhere, of panes 2**shift times as narrow as those here.

    Cells before the first pane are left out. Values about one anchor add up; where two anchors
    meet, squares are given up as in merge_pairs. Returns the first cell whose group there is no
    room for, or how many cells there are.
    """
    ring = cells.shape[0]
    for row in range(start, panes.size):
        group = groups[row]
        if group >= cells.shape[1]:
            return row
        pane = panes[row] >> shift
        if pane < first_pane:
            continue
        slot = pane % ring
        arrivals[slot] += np.int64(lanes[row, ROWS])
        cells[slot, group, ROWS] += lanes[row, ROWS]
        for base in range(MEASURES, cells.shape[2], MEASURE_LANES):
            old = lanes[row, base : base + MEASURE_LANES]
            new = cells[slot, group, base : base + MEASURE_LANES]
            if old[VALID] == 0.0:
                continue
            if new[VALID] == 0.0:
                new[:] = old
                continue
            new[VALID] += old[VALID]
            new[POSITIVE] += old[POSITIVE]
            new[NEGATIVE] += old[NEGATIVE]
            if new[ANCHOR] == old[ANCHOR]:
                new[DEVIATION] += old[DEVIATION]
                new[SQUARES] += old[SQUARES]
            else:
                new[DEVIATION] = 0.0
                new[SQUARES] = np.inf
            new[LOWEST] = min(new[LOWEST], old[LOWEST])
            new[HIGHEST] = max(new[HIGHEST], old[HIGHEST])
    return panes.size


@njit(cache=True)
def bound_tails(
    instants, edges, groups, base, centers, range_us, pane_us, first_pane, known_from, cells, out
):
    """What is known of the rows with instant - range <= time < edge, at most until the instant.

    base: the measure's first lane, or -1: count rows. A pane wholly inside counts as it is; of one
    that is cut, any of its rows may be meant.
    """
    for row in range(instants.size):
        begin = instants[row] - range_us
        end = min(edges[row], instants[row] + 1)
        tail = out[row]
        tail[:] = 0.0
        tail[MINIMUM] = tail[MINIMUM + 1] = np.inf
        tail[MAXIMUM] = tail[MAXIMUM + 1] = -np.inf
        if end <= begin:
            continue
        if begin < known_from:
            know_nothing(tail)
            continue
        group = groups[row]
        if group >= cells.shape[1]:
            continue
        first = max(begin // pane_us, first_pane)
        last = min((end - 1) // pane_us, first_pane + cells.shape[0] - 1)
        if base >= 0:
            bound_measure(begin, end, first, last, group, base, centers[row], pane_us, cells, tail)
            continue
        for pane in range(first, last + 1):
            count = cells[pane % cells.shape[0], group, ROWS]
            tail[COUNT + 1] += count
            if pane * pane_us >= begin and (pane + 1) * pane_us <= end:
                tail[COUNT] += count


@njit(cache=True)
def know_nothing(tail):
    """There may be any rows."""
    for lane in range(0, TAIL_LANES, 2):
        tail[lane] = -np.inf
        tail[lane + 1] = np.inf
    tail[COUNT] = tail[ALL_SQUARES] = 0.0
    tail[MINIMUM + 1] = np.inf
    tail[MAXIMUM] = -np.inf


@njit(cache=True)
def bound_measure(begin, end, first, last, group, base, center, pane_us, cells, tail):
    """The bounds of one tail on count, sum, distances from the centre, squares and extremes."""
    size = distances = squares = tiny = 0.0
    for pane in range(first, last + 1):
        lanes = cells[pane % cells.shape[0], group, base : base + MEASURE_LANES]
        count = lanes[VALID]
        if count == 0.0:
            continue
        is_whole = pane * pane_us >= begin and (pane + 1) * pane_us <= end
        positive = lanes[POSITIVE]
        negative = lanes[NEGATIVE]
        lowest = lanes[LOWEST]
        highest = lanes[HIGHEST]
        size += positive - negative
        deviation, least_square, square, distance_scale, square_scale = moved(lanes, center)
        distances += distance_scale
        squares += square_scale
        # Only a cell whose values all are the centre has no product that could be too small.
        if square_scale > 0.0 or distance_scale > 0.0:
            tiny += count + SPARE_ROUNDINGS
        tail[COUNT + 1] += count
        tail[ALL_SQUARES + 1] += square
        tail[MINIMUM] = min(tail[MINIMUM], lowest)
        tail[MAXIMUM + 1] = max(tail[MAXIMUM + 1], highest)
        if is_whole:
            tail[COUNT] += count
            tail[SUM] += positive + negative
            tail[SUM + 1] += positive + negative
            tail[DEVIATIONS] += deviation
            tail[DEVIATIONS + 1] += deviation
            tail[ALL_SQUARES] += least_square
            tail[MINIMUM + 1] = min(tail[MINIMUM + 1], lowest)
            tail[MAXIMUM] = max(tail[MAXIMUM], highest)
        else:
            tail[SUM] += negative
            tail[SUM + 1] += positive
            # The values above the centre sum up to (deviation + sum of distances) / 2, and the
            # sum of distances is at most the root of count * squares.
            error = (count + SPARE_ROUNDINGS) * (ROUNDING * square_scale + TINY)
            spread = math.sqrt(count * (square + error))
            above = min(0.5 * (spread + deviation), count * max(highest - center, 0.0))
            below = min(0.5 * (spread - deviation), count * max(center - lowest, 0.0))
            tail[DEVIATIONS] -= max(below, 0.0)
            tail[DEVIATIONS + 1] += max(above, 0.0)
    if not size < np.inf:
        spoil(tail)
        return
    steps = tail[COUNT + 1] + (last - first) + SPARE_ROUNDINGS
    widen(tail, SUM, steps * ROUNDING * size)
    widen(tail, DEVIATIONS, steps * ROUNDING * distances + tiny * TINY)
    widen(tail, ALL_SQUARES, steps * ROUNDING * squares + tiny * TINY)
    tail[ALL_SQUARES] = max(tail[ALL_SQUARES], 0.0)


@njit(cache=True)
def moved(lanes, center):
    """About a centre: the sum of distances, that of squares (least, most); scales of their errors.

    The scales bound the sums of absolute values of all that was added up.
    """
    count = lanes[VALID]
    shift = lanes[ANCHOR] - center
    if lanes[SQUARES] < np.inf:
        reach = max(lanes[HIGHEST] - lanes[ANCHOR], lanes[ANCHOR] - lanes[LOWEST])
        # Both bound the sum of |value - anchor|; the first is 0 where all values are equal.
        spread = min(count * reach, math.sqrt(count * (lanes[SQUARES] + count * TINY)))
        deviation = lanes[DEVIATION] + count * shift
        square = lanes[SQUARES] + 2.0 * shift * lanes[DEVIATION] + count * shift * shift
        scale = lanes[SQUARES] + 2.0 * abs(shift) * spread + count * shift * shift
        if scale < np.inf:
            square = max(square, 0.0)
            return deviation, square, square, spread + count * abs(shift), scale
    # The squares are beyond the doubles, or were given up when panes were merged.
    deviation = lanes[POSITIVE] + lanes[NEGATIVE] - count * center
    distance_scale = lanes[POSITIVE] - lanes[NEGATIVE] + count * abs(center)
    farthest = max(lanes[HIGHEST] - center, center - lanes[LOWEST])
    square = count * farthest * farthest
    return deviation, 0.0, square, distance_scale, square


@njit(cache=True)
def widen(tail, lane, error):
    """Both ends of an interval go outwards."""
    tail[lane] -= error
    tail[lane + 1] += error


@njit(cache=True)
def spoil(tail):
    """A value is NaN or infinite, or a sum is beyond the doubles: only count and extremes tell."""
    tail[SUM] = tail[DEVIATIONS] = -np.inf
    tail[SUM + 1] = tail[DEVIATIONS + 1] = tail[ALL_SQUARES + 1] = np.inf
    tail[ALL_SQUARES] = 0.0
