"""How much memory an array really has: the pages that the operating system says are there."""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.windows.reserved import PAGE, memory_of

__all__ = ["resident_bytes"]


def resident_bytes(array: NDArray[Any]) -> int:
    """Bytes of its pages that are in memory; of an ordinary array, all of its bytes."""
    memory = memory_of(array)
    if memory is None or sys.platform != "linux":
        return array.nbytes
    return _pages(memory) * PAGE


def _pages(memory: mmap.mmap) -> int:
    """Pages of a mapping that are in memory."""
    whole = np.frombuffer(memory, np.uint8)
    states = np.zeros(-(-whole.size // PAGE), np.uint8)
    library = ctypes.CDLL(None, use_errno=True)
    address, size = ctypes.c_void_p(whole.ctypes.data), ctypes.c_size_t(whole.size)
    failed = library.mincore(address, size, ctypes.c_void_p(states.ctypes.data))
    assert not failed, ctypes.get_errno()
    return int(np.count_nonzero(states & 1))
