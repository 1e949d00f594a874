"""Arrays that become longer without being copied: behind a large one there are addresses to go on.

For tables whose entries have numbers, such as codes: they grow at one end and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.windows.reserved import longer, reserved

__all__ = ["enlarged", "enlarging_bytes", "next_size"]

# From so many bytes on there are addresses behind an array: for so many times its size.
FEW_BYTES = 1 << 16
ADDRESS_PARTS = 32
# A table becomes longer by a part of its size, once that is so much.
GROWTH_PARTS = 8
LEAST_GROWTH = 1 << 11


def next_size(size: int, needed: int) -> int:
    """How many entries a table is to have that is full with `size` and needs more.

    >>> next_size(64, 65), next_size(1 << 20, (1 << 20) + 1)
    (128, 1179648)
    """
    return max(needed, size + max(size // GROWTH_PARTS, min(size, LEAST_GROWTH)))


def enlarged(array: NDArray[Any], size: int, fill: int = 0) -> NDArray[Any]:
    """The array with at least `size` entries, the new ones filled; it is the same memory if it can.

    So the array that was given may change when the new one does.

    >>> enlarged(np.array([1, 2]), 4, fill=7).tolist()
    [1, 2, 7, 7]
    """
    count = array.shape[0]
    if size <= count:
        return array
    out = longer(array, size)
    if out is None:
        shape = (size, *array.shape[1:])
        out = _with_addresses(shape, array.dtype)
        out[:count] = array
    out[count:] = fill
    return out


def enlarging_bytes(arrays: Iterable[NDArray[Any]], size: int) -> int:
    """Peak of additional bytes while arrays get at least `size` entries."""
    return sum(_additional_bytes(each, size) for each in arrays if size > each.shape[0])


def _additional_bytes(array: NDArray[Any], size: int) -> int:
    entry = array.itemsize * prod(array.shape[1:])
    more: int = (size - array.shape[0]) * entry
    return more if longer(array, size) is not None else array.nbytes + more


def _with_addresses(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    if prod(shape) * dtype.itemsize >= FEW_BYTES:
        out = reserved((shape[0] * ADDRESS_PARTS, *shape[1:]), dtype, is_dense=True)
        if out is not None:
            return out[: shape[0]]
    return np.empty(shape, dtype)
