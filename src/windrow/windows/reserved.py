"""Arrays on reserved address space: memory is taken page by page, when a page is first written.

Purpose: an array that grows at one end and is given back at the other, and is never copied for it.
Space: the pages between the first row held and the last row written; the rest is addresses only.

The array is an ordinary one for kernels: contiguous, with its whole capacity as its size. Whoever
copies all of it copies pages that were never written; so only rows that are held may be read.
"""

from __future__ import annotations

import mmap
import sys
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["CAN_RESERVE", "PAGE", "give_back", "held_bytes", "longer", "memory_of", "reserved"]

PAGE = mmap.PAGESIZE
# Addresses that nothing is promised for; Python has no name for it before 3.13.
_NO_RESERVE = {"linux": 0x4000, "darwin": 0x0040}.get(sys.platform)
CAN_RESERVE = _NO_RESERVE is not None and hasattr(mmap, "MADV_DONTNEED")


def reserved(
    shape: tuple[int, ...], dtype: DTypeLike, *, is_dense: bool = False
) -> NDArray[Any] | None:
    """An array of zeros that takes no memory until it is written; None where that is refused.

    A matrix that is given back has rows of whole pages: its width must be a multiple of PAGE.
    is_dense: it is written from its beginning on, read anywhere, and never given back.

    >>> array = reserved((2, PAGE), np.int64)
    >>> array is None or (array.shape == (2, PAGE) and not array.any())
    True
    """
    kind = np.dtype(dtype)
    if not CAN_RESERVE or not prod(shape):
        return None
    assert _NO_RESERVE is not None
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
    try:
        memory = mmap.mmap(-1, prod(shape) * kind.itemsize, flags=flags)
    except (OSError, ValueError, OverflowError):
        return None  # a limit on addresses, or a system that promises memory for all of them
    if not is_dense and hasattr(mmap, "MADV_NOHUGEPAGE"):
        # Pages of 2 MB would be taken as a whole, so that nothing could be said of bytes held.
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, kind).reshape(shape)


def give_back(array: NDArray[Any], first: int, end: int, rows: slice = slice(None)) -> bool:
    """Give back the pages up to `end` from the one on that has `first`; False: it cannot be done.

    Entries there are zero afterwards. rows: of a matrix, only these.
    """
    memory, size = memory_of(array), array.itemsize
    if memory is None:
        return False
    begin, stop = first * size // PAGE * PAGE, end * size // PAGE * PAGE
    if begin >= stop:
        return True
    width = array.shape[-1] * size
    try:
        for start in range(0, array.nbytes, width)[rows]:
            memory.madvise(mmap.MADV_DONTNEED, start + begin, stop - begin)
    except OSError:
        return False  # pages that are locked into memory
    return True


def longer(array: NDArray[Any], size: int) -> NDArray[Any] | None:
    """The same memory as an array of more entries; None where it does not go on so far.

    What the new entries are is not said.
    """
    memory = memory_of(array)
    entry = array.itemsize * prod(array.shape[1:])
    if memory is None or not entry or size * entry > len(memory):
        return None
    whole: NDArray[Any] = np.frombuffer(memory, array.dtype, size * entry // array.itemsize)
    if whole.__array_interface__["data"] != array.__array_interface__["data"]:
        return None  # it does not begin where the memory does
    return whole.reshape(size, *array.shape[1:])


def held_bytes(array: NDArray[Any], first: int, end: int) -> int:
    """Bytes of the pages of an array in which entries `first` to `end` of each row are written."""
    size = array.itemsize
    # A page that has only a part of the entries is held.
    pages = -(-end * size // PAGE) - first * size // PAGE
    return int(pages * PAGE * (array.size // array.shape[-1]))


def memory_of(array: NDArray[Any]) -> mmap.mmap | None:
    """What an array of reserved() lies on."""
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None
