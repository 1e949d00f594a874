"""Values of any type as bytes that order as the values do: for sorting, MIN and MAX.

Within a nested value NULL is before all others, and NaN behind all numbers. Arrays and structs are
compared part by part, an array that is the beginning of another before it; maps in some order.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.windows.column_words import words_of_array
from windrow.windows.value_bytes import list_parts
from windrow.windows.wide_decimals import is_wide_decimal, words_of_wide

__all__ = ["order_bytes"]

Words = NDArray[np.int64]
_SIGN = np.int64(-(1 << 63))
_ALL_BUT_SIGN = np.int64((1 << 63) - 1)
_NULL, _VALUE = b"\x00", b"\x01"
_END, _MORE = _NULL, _VALUE  # behind the last entry of a list, and before each


def order_bytes(column: pa.Array) -> pa.Array:
    """Bytes of each value, in the order of the values; NULL for NULL.

    >>> small, large = order_bytes(pa.array([[1, None], [1, -5]]))
    >>> small.as_py() < large.as_py()
    True
    """
    kind = column.type
    if pa.types.is_binary(kind):
        return column
    if pa.types.is_string(kind):
        return column.view(pa.binary())
    found = _body(column)
    if not column.null_count:
        return found
    return pc.if_else(column.is_valid(), found, pa.scalar(None, pa.binary()))


def _body(column: pa.Array) -> pa.Array:
    """Bytes that none of the others is the beginning of; any where the value is NULL."""
    kind = column.type
    if pa.types.is_struct(kind):
        return _joined([_part(child) for child in column.flatten()])
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        return _of_lists(column)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _of_texts(column)
    if is_wide_decimal(kind):
        words = words_of_wide(column)
        return _of_words(np.column_stack([words[:, 0] ^ _SIGN, words[:, 1]]))
    words, _ = words_of_array(column)
    if pa.types.is_floating(kind):
        words = words ^ ((words >> 63) & _ALL_BUT_SIGN)
    return _of_words((words ^ _SIGN).reshape(-1, 1))


def _part(column: pa.Array) -> pa.Array:
    """A value within another: whether it is NULL comes first."""
    body = _joined([_repeated(_VALUE, len(column)), _body(column)])
    if not column.null_count:
        return body
    return pc.if_else(column.is_valid(), body, pa.scalar(_NULL, pa.binary()))


def _of_lists(column: pa.Array) -> pa.Array:
    lengths, children = list_parts(column)
    size = int(lengths.sum())
    entries = _joined([_repeated(_MORE, size), *(_part(child) for child in children)])
    offsets = np.zeros(lengths.size + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    lists = pa.ListArray.from_arrays(pa.array(offsets), entries)
    return _joined([pc.binary_join(lists, b""), _repeated(_END, len(column))])


def _of_texts(column: pa.Array) -> pa.Array:
    if column.null_count:
        column = column.fill_null(b"" if pa.types.is_binary(column.type) else "")
    data = column.view(pa.binary())
    escaped = pc.replace_substring(data, pattern=b"\x00", replacement=b"\x00\xff")
    return _joined([escaped, pa.repeat(pa.scalar(b"\x00\x00", pa.binary()), len(column))])


def _of_words(words: Words) -> pa.Array:
    """Rows of words as bytes, the highest byte first."""
    size, width = words.shape
    data = np.ascontiguousarray(words.astype(">i8"))
    offsets = np.arange(0, (size + 1) * width * 8, width * 8, dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), size, buffers)


def _joined(parts: list[pa.Array]) -> pa.Array:
    return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, b"")


def _repeated(mark: bytes, size: int) -> pa.Array:
    return pa.repeat(pa.scalar(mark, pa.binary()), size)
