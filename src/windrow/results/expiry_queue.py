"""The contract of all structures that rows expire from, and what they share in keeping it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from windrow.results import kernels

__all__ = ["EXPIRY_LIMIT", "ExpiryQueue", "Longs", "as_batch", "as_instant", "drain", "grown"]

Longs: TypeAlias = NDArray[np.int64]
_Number = TypeVar("_Number", bound=np.generic)

# Expiries and instants lie strictly between -EXPIRY_LIMIT and EXPIRY_LIMIT, so that the
# ends of slots and buckets fit into 64 bits too. That is 73,000 years in microseconds.
EXPIRY_LIMIT = 1 << 61
# Rows that a dequeue makes room for at the least; every kernel can move on with so much of it.
SMALLEST_BLOCK = 256


class ExpiryQueue(Protocol):
    """Rows that leave in the order of their expiry, rows of equal expiry in that of arrival."""

    @property
    def size(self) -> int:
        """Rows held."""

    @property
    def nbytes(self) -> int:
        """Bytes held: those of all arrays."""

    def enqueue(self, expiries: Longs, items: NDArray[np.integer]) -> None:
        """Take rows in; one whose expiry has passed already leaves with the next dequeue."""

    def dequeue(self, until: int) -> tuple[Longs, Longs]:
        """Give out the expiries and the items of all rows whose expiry is at or before `until`."""


def as_batch(expiries: Longs, items: NDArray[np.integer]) -> tuple[Longs, Longs]:
    """The arrays of a batch as kernels take them; what no structure could hold is refused."""
    assert expiries.shape == items.shape, f"{expiries.shape} expiries, {items.shape} items"
    expiries = np.ascontiguousarray(expiries, np.int64)
    if expiries.size:
        lowest, highest = kernels.bounds(expiries)
        assert -EXPIRY_LIMIT < lowest <= highest < EXPIRY_LIMIT, f"expiries {lowest} to {highest}"
    return expiries, np.ascontiguousarray(items, np.int64)


def as_instant(until: int) -> int:
    """The instant as kernels take it: beyond the limits there are no rows."""
    return max(1 - EXPIRY_LIMIT, min(until, EXPIRY_LIMIT - 1))


def drain(take: Callable[[Longs, Longs], tuple[int, bool]], expected: int) -> tuple[Longs, Longs]:
    """All rows that `take` has: it fills two arrays, says how far, and whether that was all.

    How many will leave is not known before; blocks as large as the last dequeue mostly do at once.
    """
    room = max(SMALLEST_BLOCK, expected)
    blocks: list[tuple[Longs, Longs]] = []
    is_done = False
    while not is_done:
        expiries, items = np.empty(room, np.int64), np.empty(room, np.int64)
        count, is_done = take(expiries, items)
        blocks.append((expiries[:count], items[:count]))
        room *= 2
    if len(blocks) == 1:
        return blocks[0]
    return (
        np.concatenate([block[0] for block in blocks]),
        np.concatenate([block[1] for block in blocks]),
    )


def grown(array: NDArray[_Number], needed: int) -> NDArray[_Number]:
    """The array with at least so many rows, twice as many as before if that is more."""
    rows = array.shape[0]
    if needed <= rows:
        return array
    wider = np.empty((max(needed, 2 * rows), *array.shape[1:]), array.dtype)
    wider[:rows] = array
    return wider
