"""Queues of codes, one for each owner: room for what the kernels of queues work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import Vector
from windrow.operators.tree import queue_kernels
from windrow.windows.growing import enlarged, enlarging_bytes, next_size
from windrow.windows.kernels import EMPTY

__all__ = ["CodeQueues", "QueueArrays"]

SMALLEST_BLOCKS = 64


class QueueArrays(NamedTuple):
    """The structures of queue_kernels.py."""

    owners: NDArray[np.int32]
    blocks: NDArray[np.int32]
    control: Vector


class CodeQueues:
    """The codes of rows by owner, which leave in the order in which they came."""

    def __init__(self) -> None:
        control = np.zeros(queue_kernels.CONTROL_ENTRIES, np.int64)
        control[queue_kernels.FIRST_FREE] = EMPTY
        self.arrays = QueueArrays(
            np.full((0, queue_kernels.OWNER_COLUMNS), EMPTY, np.int32),
            np.zeros((SMALLEST_BLOCKS, queue_kernels.BLOCK), np.int32),
            control,
        )

    def reserve(self, owners: int) -> None:
        """Have owners below this number."""
        arrays = self.arrays
        if owners > arrays.owners.shape[0]:
            self.arrays = arrays._replace(owners=enlarged(arrays.owners, owners, EMPTY))

    def grow(self) -> None:
        """Have more blocks: a kernel found none that was free."""
        blocks = self.arrays.blocks
        self.arrays = self.arrays._replace(blocks=enlarged(blocks, _longer(blocks.shape[0])))

    def growth_bytes(self, rows: int, owners: int) -> int:
        """Peak of additional bytes while so many rows come, with owners below this number."""
        arrays = self.arrays
        # A block is taken by an owner without codes, or for as many codes as a block holds.
        taken = min(rows, owners + rows // (queue_kernels.BLOCK - 1) + 1)
        needed = int(arrays.control[queue_kernels.NEXT_FRESH]) + taken
        size = arrays.blocks.shape[0]
        while size < needed:
            size = _longer(size)
        return enlarging_bytes((arrays.owners,), owners) + enlarging_bytes((arrays.blocks,), size)

    @property
    def walked(self) -> int:
        """Codes that were gone through so far."""
        return int(self.arrays.control[queue_kernels.WALKED])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(array.nbytes for array in self.arrays)


def _longer(blocks: int) -> int:
    return next_size(blocks, blocks + 1)
