"""The contract of all structures that rows expire from, and what they share in keeping it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from windrow.operators.expiry import order_kernels

__all__ = [
    "EXPIRY_LIMIT", "SHRINK_SHARE", "ExpiryQueue", "Longs", "as_batch", "as_instant", "as_limit",
    "as_rows", "drain", "grown", "joined", "refuse", "shown", "shrunk",
]  # fmt: skip

Longs: TypeAlias = NDArray[np.int64]
_Number = TypeVar("_Number", bound=np.generic)

# Expiries and instants lie strictly between -EXPIRY_LIMIT and EXPIRY_LIMIT, so that the
# ends of slots and buckets fit into 64 bits too. That is 73,000 years in microseconds.
EXPIRY_LIMIT = 1 << 61
# Rows that a dequeue makes room for at the least.
SMALLEST_BLOCK = 256
# An array shrinks when only one row in this many is used.
SHRINK_SHARE = 4


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

    def dequeue(self, until: int, limit: int | None = None) -> tuple[Longs, Longs]:
        """Give out the expiries and the items of all rows whose expiry is at or before `until`.

        With a limit: at most that many; the others leave with the next calls.
        """


def as_rows(expiries: Longs, items: NDArray[np.integer]) -> tuple[Longs, Longs]:
    """The arrays of a batch as kernels take them."""
    assert expiries.shape == items.shape, f"{expiries.shape} expiries, {items.shape} items"
    return np.ascontiguousarray(expiries, np.int64), np.ascontiguousarray(items, np.int64)


def as_batch(expiries: Longs, items: NDArray[np.integer]) -> tuple[Longs, Longs]:
    """The arrays of a batch as kernels take them; what no structure could hold is refused."""
    expiries, items = as_rows(expiries, items)
    if not order_kernels.is_within(expiries, EXPIRY_LIMIT):
        refuse(expiries)
    return expiries, items


def refuse(expiries: Longs) -> NoReturn:
    """There are expiries that no structure could hold."""
    raise AssertionError(f"expiries {expiries.min()} to {expiries.max()}")


def as_instant(until: int) -> int:
    """The instant as kernels take it: beyond the limits there are no rows."""
    if -EXPIRY_LIMIT < until < EXPIRY_LIMIT:
        return until
    return 1 - EXPIRY_LIMIT if until < 0 else EXPIRY_LIMIT - 1


def as_limit(limit: int | None) -> int:
    """The rows that may leave: more than there can be when no limit is set."""
    assert limit is None or limit > 0, f"a limit of {limit} rows"
    return EXPIRY_LIMIT if limit is None else limit


def joined(blocks: list[tuple[Longs, Longs]]) -> tuple[Longs, Longs]:
    """The rows of all blocks, of which there is one at least."""
    if len(blocks) == 1:
        return blocks[0]
    return (
        np.concatenate([block[0] for block in blocks]),
        np.concatenate([block[1] for block in blocks]),
    )


def shown(array: Longs, count: int) -> Longs:
    """The first `count` items of an array, copied if far fewer than the array holds."""
    return array[:count].copy() if 4 * count < array.size else array[:count]


def drain(
    take: Callable[[Longs, Longs], tuple[int, bool]], expected: int, limit: int
) -> tuple[Longs, Longs, bool]:
    """At most `limit` rows of `take`, and whether it has no more that have expired.

    It fills two arrays, says how far, and whether that was all. How many will leave is not known
    before; a block somewhat larger than the last dequeue mostly does at once.
    """
    room = max(SMALLEST_BLOCK, expected + (expected >> 2))
    blocks: list[tuple[Longs, Longs]] = []
    taken = 0
    is_done = False
    while not is_done and taken < limit:
        room = min(room, limit - taken)
        expiries, items = np.empty(room, np.int64), np.empty(room, np.int64)
        count, is_done = take(expiries, items)
        blocks.append((shown(expiries, count), shown(items, count)))
        taken += count
        room *= 2
    return *joined(blocks), is_done


def grown(array: NDArray[_Number], needed: int) -> NDArray[_Number]:
    """The array with at least this many rows, or twice as many as before if that is more."""
    rows = array.shape[0]
    if needed <= rows:
        return array
    wider = np.empty((max(needed, 2 * rows), *array.shape[1:]), array.dtype)
    wider[:rows] = array
    return wider


def shrunk(array: NDArray[_Number], used: int) -> NDArray[_Number]:
    """The first rows of the array, twice as many as are used, if it has far more."""
    if array.shape[0] <= SHRINK_SHARE * used:
        return array
    return array[: 2 * used].copy()
