"""Where frames on the key of an order begin and end, and how many different values frames hold."""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit

_MOST = np.iinfo(np.int64).max
_LEAST = np.iinfo(np.int64).min


@njit(cache=True)
def range_edges(keys, is_number, begins, ends, distance, is_end, peers, out):
    """For each row, the first row whose key is at least (is_end: above) its own key + distance.

    For a row without a number it is the first of its peers, or the one behind them.
    keys: ascending where is_number, within each segment; ends, begins: of each row's segment;
    peers: of each row the first peer, or (is_end) the one behind the last.
    """
    first, last, reached = 0, 0, 0
    for row in range(keys.size):
        if row == 0 or begins[row] != begins[row - 1]:
            # The rows with numbers follow each other; NULL is on one end or the other.
            first = begins[row]
            while first < ends[row] and not is_number[first]:
                first += 1
            last = first
            while last < ends[row] and is_number[last]:
                last += 1
            reached = first
        if not is_number[row]:
            out[row] = peers[row]
            continue
        if is_beyond(keys[row], distance):
            out[row] = last if distance > 0 else first
            continue
        edge = keys[row] + distance
        while reached < last and (keys[reached] <= edge if is_end else keys[reached] < edge):
            reached += 1
        out[row] = reached


@njit(cache=True)
def is_beyond(key, distance):
    """Whether an integer plus a distance has no room in 64 bits; of doubles none."""
    if isinstance(key, float):
        return False
    if distance > 0:
        return key > _MOST - distance
    return key < _LEAST - distance


@njit(cache=True)
def distinct_counts(codes, is_counted, begins, lows, highs, counts, out):
    """How many different codes each frame holds; frames of a segment move forwards only.

    counts: zero for each code, and left so.
    """
    low, high, different = 0, 0, 0
    for row in range(lows.size):
        is_other = row == 0 or begins[row] != begins[row - 1]
        if is_other or lows[row] < low or highs[row] < high:
            for place in range(low, high):
                counts[codes[place]] = 0
            low, high, different = lows[row], lows[row], 0
        while high < highs[row]:
            if is_counted[high]:
                if counts[codes[high]] == 0:
                    different += 1
                counts[codes[high]] += 1
            high += 1
        while low < lows[row]:
            if low < high and is_counted[low]:
                counts[codes[low]] -= 1
                if counts[codes[low]] == 0:
                    different -= 1
            low += 1
        high = max(high, low)
        out[row] = different
    for place in range(low, high):
        counts[codes[place]] = 0
