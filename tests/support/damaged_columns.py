"""Arrow columns whose buffers say what no column may: made by hand, as a damaged file would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def texts(values: Sequence[bytes | None]) -> pa.Array:
    """A column of texts with these bytes, whether they are UTF-8 or not."""
    return pa.array(values, pa.binary()).view(pa.string())


def offsets_out_of_order() -> pa.Array:
    """Two texts of which the second ends before it begins."""
    offsets = pa.py_buffer(np.array([0, 5, 3], np.int32))
    return pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abcdef")])


def offsets_beyond_the_data() -> pa.Array:
    """Two texts of which the first ends far outside of its buffer."""
    offsets = pa.py_buffer(np.array([0, 1 << 28, 6], np.int32))
    return pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abcdef")])


def indices_beyond_the_dictionary() -> pa.Array:
    """Two texts by their numbers, of which one is nobody's."""
    return pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int8()), pa.array(["a"]), safe=False)


def too_many_digits(numbers: Sequence[int], precision: int) -> pa.Array:
    """Decimals of this precision that hold these numbers nevertheless."""
    words = np.array([(number, number >> 63) for number in numbers], np.int64)
    kind = pa.decimal128(precision, 0)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(words)])
