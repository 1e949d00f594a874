"""Monotone queues of rows that stand in a window against plain lists, the rows moving down."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.operators.extremes import kernels
from windrow.windows.kernels import EMPTY

OWNERS = 3
KIND = np.uint64(1)  # of two sets that a row is in, this one
MOST = 64


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, OWNERS - 1), st.integers(-5, 5)), max_size=60),
    st.integers(1, 7),
)
def test_the_first_is_always_the_largest(
    steps: list[tuple[bool, int, int]], moves_every: int
) -> None:
    head, tail = np.full(OWNERS, EMPTY, np.int64), np.full(OWNERS, EMPTY, np.int64)
    ranks, links = np.zeros((2, MOST), np.int64), np.zeros((2, MOST, 2), np.int32)
    rows: list[tuple[int, int]] = []  # owner and rank of each number
    oldest = base = 0
    for step, (leaves, owner, rank) in enumerate(steps):
        if step % moves_every == 0:
            gone, base = oldest - base, oldest
            ranks[:, : MOST - gone] = ranks[:, gone:].copy()
            links[:, : MOST - gone] = links[:, gone:].copy()
        if leaves and oldest < len(rows):
            kernels.pop(rows[oldest][0], KIND, oldest, base, head, tail, links)
            oldest += 1
        else:
            ranks[KIND, len(rows) - base] = rank
            kernels.push(owner, KIND, len(rows), base, head, tail, ranks, links)
            rows.append((owner, rank))
        for each in range(OWNERS):
            held = [rank for owner, rank in rows[oldest:] if owner == each]
            assert (head[each] == EMPTY) == (tail[each] == EMPTY) == (not held)
            if held:
                assert ranks[KIND, head[each] - base] == max(held)
    assert not links[0].any()
