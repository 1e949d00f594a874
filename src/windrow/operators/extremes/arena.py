"""An arena of heap members: room that many heaps share."""

from __future__ import annotations

import numpy as np

from windrow.operators.extremes import kernels
from windrow.operators.lanes import Matrix
from windrow.windows.growing import enlarged, next_size
from windrow.windows.kernels import EMPTY

__all__ = ["HeapArena", "empty_heap", "grown_heap"]

SMALLEST_ARENA = 64


class HeapArena:
    """The arrays of the heap kernels, where members are taken and given back.

    >>> arena = HeapArena()
    >>> root = EMPTY
    >>> for value in (3, 9, 5):
    ...     arena.make_room(1)
    ...     member = kernels.take_member(arena.heap, arena.control)
    ...     arena.heap[member, kernels.VALUE] = value
    ...     root = kernels.insert(root, member, arena.heap)
    >>> int(arena.heap[root, kernels.VALUE])
    9
    """

    def __init__(self) -> None:
        self.heap = empty_heap(SMALLEST_ARENA)
        self.control = np.zeros(kernels.CONTROL_ENTRIES, np.int64)
        self.control[kernels.FIRST_FREE] = EMPTY

    def make_room(self, members: int) -> None:
        """Reserve space for this many members (free ones are not counted on)."""
        self.reserve(int(self.control[kernels.NEXT_FRESH]) + members)

    def reserve(self, members: int) -> None:
        """Have room for members below this number."""
        self.heap = grown_heap(self.heap, members)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.heap.nbytes + self.control.nbytes


def empty_heap(members: int) -> Matrix:
    """Room for members that are in no heap."""
    return np.full((members, kernels.HEAP_COLUMNS), EMPTY, np.int64)


def grown_heap(heap: Matrix, members: int) -> Matrix:
    """The same heaps with room for members below this number."""
    size = heap.shape[0]
    if members <= size:
        return heap
    return enlarged(heap, max(next_size(size, members), SMALLEST_ARENA), EMPTY)
