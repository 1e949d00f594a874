"""Values of any type as bytes, and back: what dictionaries of nested values and of bytes hold.

Purpose: a value that no word of 64 bits holds is coded like a text, by its bytes.
Law: values are equal exactly when their bytes are: -0.0 is 0.0, every NaN is the same one, and what
    Arrow keeps below a NULL is left out. Maps keep the order of their entries.
Form: a value is a small table of its own, column after column: flags of validity, then numbers in
    their width, or the lengths of texts and lists and what these hold. So whole batches are written
    and read by a few passes of NumPy, however deep their types are.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["bytes_of_values", "is_coded", "list_parts", "values_of_bytes"]

Bytes = NDArray[np.uint8]
Lengths = NDArray[np.int64]
_LENGTH_BYTES = 4


def is_coded(kind: pa.DataType) -> bool:
    """Whether values are known by codes: texts, bytes, lists, maps and structs.

    >>> is_coded(pa.string()), is_coded(pa.list_(pa.int8())), is_coded(pa.int8())
    (True, True, False)
    """
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_nested(kind))


def bytes_of_values(column: pa.Array) -> pa.Array:
    """The bytes of each value; NULL for NULL.

    >>> one, other = bytes_of_values(pa.array([[0.0, None], [-0.0, None]]))
    >>> one == other
    True
    """
    if pa.types.is_binary(column.type):
        return column
    parts: list[pa.Array] = []
    _write(column, np.ones(len(column), np.int64), parts)
    joined = parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, b"")
    if not column.null_count:
        return joined
    return pc.if_else(column.is_valid(), joined, pa.scalar(None, pa.binary()))


def values_of_bytes(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values back from their bytes; NULL for NULL."""
    if pa.types.is_binary(kind):
        return column
    if not column.null_count:
        return _Reader(column).read(kind, np.ones(len(column), np.int64))
    present = column.is_valid()
    known = values_of_bytes(column.filter(present), kind)
    flags = present.to_numpy(zero_copy_only=False)
    return known.take(pa.array(np.cumsum(flags) - 1, mask=~flags))


def list_parts(column: pa.Array) -> tuple[Lengths, list[pa.Array]]:
    """How many entries each list or map has, none where it is NULL, and all entries in order.

    The entries are one column of a list, and of a map two: the keys and the values.
    """
    offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    is_map = pa.types.is_map(column.type)
    children = [column.keys, column.items] if is_map else [column.values]
    lengths = np.diff(offsets)
    if column.null_count:
        missing = column.is_null().to_numpy(zero_copy_only=False)
        if lengths[missing].any():
            # Arrow allows entries behind a NULL; nobody may see them.
            kept = np.repeat(~missing, lengths)
            inner = [child.slice(offsets[0], kept.size) for child in children]
            lengths[missing] = 0
            return lengths, [child.filter(pa.array(kept)) for child in inner]
        lengths[missing] = 0
    total = int(offsets[-1] - offsets[0]) if offsets.size else 0
    first = int(offsets[0]) if offsets.size else 0
    return lengths, [child.slice(first, total) for child in children]


def _write(column: pa.Array, counts: Lengths, parts: list[pa.Array]) -> None:
    """Append what the column adds to each row, of which row i has counts[i] values."""
    kind = column.type
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    parts.append(_part(counts, valid.astype(np.uint8)))
    if pa.types.is_struct(kind):
        for child in column.flatten():
            _write(child, counts, parts)
    elif pa.types.is_list(kind) or pa.types.is_map(kind):
        lengths, children = list_parts(column)
        parts.append(_part(counts * _LENGTH_BYTES, _raw(lengths.astype(np.int32))))
        inner = _sums(lengths, counts)
        for child in children:
            _write(child, inner, parts)
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        lengths, data = _texts(column)
        parts.append(_part(counts * _LENGTH_BYTES, _raw(lengths.astype(np.int32))))
        parts.append(_part(_sums(lengths, counts), data))
    else:
        data = _numbers(column)
        parts.append(_part(counts * (data.size // len(column) if len(column) else 0), data))


def _part(lengths: Lengths, data: Bytes) -> pa.Array:
    """A column of bytes: those of `data`, so many a row."""
    offsets = np.zeros(lengths.size + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), lengths.size, buffers)


def _texts(column: pa.Array) -> tuple[Lengths, Bytes]:
    if column.null_count:
        column = column.fill_null(b"" if pa.types.is_binary(column.type) else "")
    _, offset_buffer, data_buffer = column.buffers()
    if offset_buffer is None or not len(column):
        return np.zeros(len(column), np.int64), np.empty(0, np.uint8)
    offsets = np.frombuffer(offset_buffer, np.int32)[column.offset :][: len(column) + 1]
    data = np.empty(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    return np.diff(offsets).astype(np.int64), data[offsets[0] : offsets[-1]]


def _numbers(column: pa.Array) -> Bytes:
    """The values in their width, zeros for NULL."""
    kind = column.type
    if pa.types.is_boolean(kind):
        flags = column.fill_null(False) if column.null_count else column
        bits: Bytes = flags.to_numpy(zero_copy_only=False).astype(np.uint8)
        return bits
    width = kind.bit_width // 8
    buffer = column.buffers()[1]
    if buffer is None or not len(column):
        return np.zeros(width * len(column), np.uint8)
    data = np.frombuffer(buffer, np.uint8)[column.offset * width :][: len(column) * width]
    if pa.types.is_floating(kind):
        numbers = data.view(kind.to_pandas_dtype())
        with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN, not an incident
            data = _raw(np.where(np.isnan(numbers), np.array(np.nan, numbers.dtype), numbers + 0))
    if column.null_count:
        data = data.copy()
        data.reshape(-1, width)[column.is_null().to_numpy(zero_copy_only=False)] = 0
    return data


def _raw(numbers: NDArray[np.generic]) -> Bytes:
    return np.ascontiguousarray(numbers).view(np.uint8)


def _sums(lengths: Lengths, counts: Lengths) -> Lengths:
    """The sums of the lengths, of which row i has counts[i]."""
    sums = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=sums[1:])
    ends = np.cumsum(counts)
    found: Lengths = sums[ends] - sums[ends - counts]
    return found


class _Reader:
    """Reads the same parts of all rows, one after the other."""

    def __init__(self, column: pa.Array) -> None:
        _, offsets, data = column.buffers()
        size = len(column)
        self._data = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        ends = np.zeros(1, np.int32) if not size else np.frombuffer(offsets, np.int32)
        self._place = ends[column.offset : column.offset + size].astype(np.int64)

    def read(self, kind: pa.DataType, counts: Lengths) -> pa.Array:
        """The values of a type, of which row i has counts[i]."""
        size = int(counts.sum())
        flags = self._next(counts)
        valid = None if flags.all() else pa.py_buffer(np.packbits(flags, bitorder="little"))
        if pa.types.is_struct(kind):
            children = [self.read(field.type, counts) for field in kind]
            return pa.Array.from_buffers(kind, size, [valid], children=children)
        if pa.types.is_list(kind) or pa.types.is_map(kind):
            return self._lists(kind, counts, size, valid)
        if pa.types.is_string(kind) or pa.types.is_binary(kind):
            offsets, lengths = self._offsets(counts, size)
            data = pa.py_buffer(self._next(_sums(lengths, counts)))
            return pa.Array.from_buffers(kind, size, [valid, offsets, data])
        if pa.types.is_boolean(kind):
            bits = pa.py_buffer(np.packbits(self._next(counts), bitorder="little"))
            return pa.Array.from_buffers(kind, size, [valid, bits])
        data = pa.py_buffer(self._next(counts * (kind.bit_width // 8)))
        return pa.Array.from_buffers(kind, size, [valid, data])

    def _lists(self, kind: pa.DataType, counts: Lengths, size: int, valid: object) -> pa.Array:
        offsets, lengths = self._offsets(counts, size)
        inner = _sums(lengths, counts)
        if pa.types.is_list(kind):
            child = self.read(kind.value_type, inner)
        else:
            entries = [self.read(each, inner) for each in (kind.key_type, kind.item_type)]
            pairs = pa.struct([kind.key_field, kind.item_field])
            child = pa.Array.from_buffers(pairs, int(inner.sum()), [None], children=entries)
        return pa.Array.from_buffers(kind, size, [valid, offsets], children=[child])

    def _offsets(self, counts: Lengths, size: int) -> tuple[pa.Buffer, Lengths]:
        lengths = self._next(counts * _LENGTH_BYTES).view(np.int32).astype(np.int64)
        offsets = np.zeros(size + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        return pa.py_buffer(offsets), lengths

    def _next(self, lengths: Lengths) -> Bytes:
        """The next bytes of all rows, so many of each."""
        starts = np.cumsum(lengths) - lengths
        places = np.repeat(self._place - starts, lengths) + np.arange(int(lengths.sum()))
        self._place += lengths
        return self._data[places]
