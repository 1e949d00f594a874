"""Monotone queues in a ring against plain lists, the ring growing on the way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.operators.extremes import kernels
from windrow.windows.kernels import EMPTY

OWNERS = 3


@given(st.lists(st.tuples(st.booleans(), st.integers(0, OWNERS - 1), st.integers(-5, 5))))
def test_the_first_is_always_the_largest(steps: list[tuple[bool, int, int]]) -> None:
    head, tail = np.full(OWNERS, EMPTY, np.int64), np.full(OWNERS, EMPTY, np.int64)
    ranks, links = np.zeros(2, np.int64), np.zeros((2, 2), np.int32)
    rows: list[tuple[int, int]] = []  # owner and rank of each number
    oldest = 0
    for leaves, owner, rank in steps:
        if leaves and oldest < len(rows):
            place = np.uint64(oldest & (ranks.size - 1))
            kernels.pop(rows[oldest][0], place, head, tail, links)
            oldest += 1
        else:
            if len(rows) + 1 - oldest > ranks.size:
                wider = (
                    np.zeros(2 * ranks.size, np.int64),
                    np.zeros((2 * ranks.size, 2), np.int32),
                )
                kernels.move_queues(oldest, len(rows), head, tail, ranks, links, *wider)
                ranks, links = wider
            place = np.uint64(len(rows) & (ranks.size - 1))
            kernels.push(owner, place, rank, head, tail, ranks, links)
            rows.append((owner, rank))
        for each in range(OWNERS):
            held = [rank for owner, rank in rows[oldest:] if owner == each]
            assert (head[each] == EMPTY) == (tail[each] == EMPTY) == (not held)
            if held:
                assert ranks[head[each]] == max(held)
