"""The branch ladder queue of paper 4, and the plain ladder queue that it is compared with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.operators.expiry.expiry_queue import (
    EXPIRY_LIMIT,
    SHRINK_SHARE,
    Longs,
    as_batch,
    as_instant,
    as_limit,
    drain,
    grown,
    joined,
)
from windrow.operators.expiry.ladder import ladder_kernels, rung_kernels, trunk_kernels
from windrow.operators.expiry.overdue import OverdueRows
from windrow.windows.kernels import EMPTY

__all__ = ["BRANCH_LOOK_BACK", "THRESHOLD", "BranchLadderQueue", "LadderQueue"]

# Nodes from the tail of a trunk among which an equal expiry is looked for: a of the paper.
BRANCH_LOOK_BACK = 3
# Nodes of a bucket that are sorted rather than spread over a rung of their own; a power of two, so
# that widths of buckets stay such. Taken from single runs with 1024, 4096 and 16384, on a machine
# that did other work too: a rough choice, not a measured best. The paper's for a join is 2.
THRESHOLD = 4096
WIDEST_STEP = 1 << 60
SMALLEST_ARRAY = 16
# Arrays that never held more than a few times this many rows are not shrunk.
FEWEST_ROWS = 512


class LadderArrays(NamedTuple):
    """Top, rungs and Bottom: chunks of trunks and of branches, buckets, rungs, sorted nodes."""

    trunks: Longs
    links: NDArray[np.int32]
    branches: Longs
    buckets: NDArray[np.int32]
    rungs: Longs
    bottom: Longs
    control: Longs


class LadderQueue:
    """Rows in Top, rungs and Bottom.

    `threshold` is THRES; `step` the smallest width of a bucket that a rung made of Top may have,
    which paper 4 sets to the smallest slide of the query's windows.

    >>> queue = LadderQueue()
    >>> queue.enqueue(np.array([7, 5, 7]), np.array([0, 1, 2]))
    >>> queue.dequeue(7)
    (array([5, 7, 7]), array([1, 0, 2]))
    """

    _look_back = 0

    def __init__(self, *, threshold: int = THRESHOLD, step: int = 1) -> None:
        assert threshold >= 2, f"a threshold of {threshold} would not divide a bucket"
        assert 1 <= step <= WIDEST_STEP, f"a step of {step}"
        self._threshold = threshold
        self._step = step
        self._overdue = OverdueRows()
        self._size = self._most = self._expected = 0
        self._set_empty()

    def _set_empty(self) -> None:
        rows, trunk = SMALLEST_ARRAY, trunk_kernels
        self._ladder = LadderArrays(
            trunks=np.zeros((rows * trunk.TRUNK_NODES, trunk.NODE_COLUMNS), np.int64),
            links=np.zeros((rows, trunk.LINK_COLUMNS), np.int32),
            branches=np.zeros((rows, trunk.BRANCH_COLUMNS), np.int64),
            buckets=np.zeros((rows, trunk.BUCKET_COLUMNS), np.int32),
            rungs=np.zeros((rung_kernels.MOST_RUNGS, rung_kernels.RUNG_COLUMNS), np.int64),
            bottom=np.zeros((2 * rung_kernels.LONG_BOTTOM, trunk.NODE_COLUMNS), np.int64),
            control=np.zeros(rung_kernels.CONTROL_ENTRIES, np.int64),
        )
        control = self._ladder.control
        for entry in (trunk.FIRST_FREE_BRANCH, trunk.FIRST_FREE_TRUNK, rung_kernels.OPEN_BRANCH):
            control[entry] = EMPTY
        control[rung_kernels.TOP_START] = control[rung_kernels.TOP_MAX] = rung_kernels.LONG_AGO
        control[rung_kernels.TOP_MIN] = -rung_kernels.LONG_AGO
        control[rung_kernels.BUCKETS_USED] = rung_kernels.TOP + 1

    @property
    def size(self) -> int:
        """Rows held."""
        return self._size + self._overdue.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(array.nbytes for array in self._ladder) + self._overdue.nbytes

    def enqueue(self, expiries: Longs, items: NDArray[np.integer]) -> None:
        """Take rows in."""
        self._insert(*self._overdue.keep(*as_batch(expiries, items)))

    def dequeue(self, until: int, limit: int | None = None) -> tuple[Longs, Longs]:
        """Give out the rows at or before the instant, at most `limit` of them."""
        until, most = as_instant(until), as_limit(limit)
        late = self._overdue.drain(until, most) if self._overdue.size else None
        # If some are left, they expire later, and so does all in the ladder.
        if late and (self._overdue.size or late[0].size == most):
            return late
        expiries, items, is_done = self._remove(until, most - (late[0].size if late else 0))
        # Of the last expiry there may be more: what comes with it now leaves after those.
        self._overdue.pass_to(until if is_done else int(expiries[-1]) - 1)
        if self._most > SHRINK_SHARE * max(self._size, FEWEST_ROWS):
            self._shrink()
        return joined([late, (expiries, items)]) if late else (expiries, items)

    def _insert(self, expiries: Longs, items: Longs) -> None:
        done = 0
        while done < expiries.size:
            done = ladder_kernels.insert_rows(
                done, self._overdue.passed, self._look_back, self._threshold, expiries, items,
                self._ladder,
            )  # fmt: skip
            if done < expiries.size:
                self._make_room()
        self._size += expiries.size
        self._most = max(self._most, self._size)

    def _remove(self, until: int, limit: int) -> tuple[Longs, Longs, bool]:
        def take(expiries: Longs, items: Longs) -> tuple[int, bool]:
            count, is_done = ladder_kernels.remove_rows(
                until, self._look_back, self._threshold, self._step, self._ladder, expiries, items
            )
            if not is_done:
                self._make_room()
            return int(count), bool(is_done)

        expiries, items, is_done = drain(take, self._expected, limit)
        self._expected = expiries.size + 1
        self._size -= expiries.size
        return expiries, items, is_done

    def _shrink(self) -> None:
        """Put all rows into smaller arrays, which were made for far more."""
        rows = self._remove(EXPIRY_LIMIT - 1, EXPIRY_LIMIT)
        self._set_empty()
        self._insert(rows[0], rows[1])
        self._most = self._size

    def _make_room(self) -> None:
        ladder, trunk = self._ladder, trunk_kernels
        control = ladder.control
        taken = int(control[trunk.FRESH_TRUNK] - control[trunk.FREE_TRUNKS])
        links = grown(ladder.links, taken + int(control[rung_kernels.NEEDED_TRUNKS]))
        taken = int(control[trunk.FRESH_BRANCH] - control[trunk.FREE_BRANCHES])
        branches = taken + int(control[rung_kernels.NEEDED_BRANCHES])
        self._ladder = ladder._replace(
            trunks=grown(ladder.trunks, links.shape[0] * trunk.TRUNK_NODES),
            links=links,
            branches=grown(ladder.branches, branches),
            buckets=grown(ladder.buckets, int(control[rung_kernels.NEEDED_BUCKETS])),
            bottom=grown(ladder.bottom, int(control[rung_kernels.NEEDED_BOTTOM])),
        )
        control[rung_kernels.NEEDED_TRUNKS : rung_kernels.COUNTS] = 0


class BranchLadderQueue(LadderQueue):
    """A ladder queue whose rows of equal expiry hang on one node, as branches.

    >>> queue = BranchLadderQueue(threshold=2)
    >>> queue.enqueue(np.array([7, 5, 7]), np.array([0, 1, 2]))
    >>> queue.dequeue(7)
    (array([5, 7, 7]), array([1, 0, 2]))
    """

    _look_back = BRANCH_LOOK_BACK
