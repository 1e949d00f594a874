"""Prepared rows as sections of packets: plain columns as they lie, others as Arrow writes them.

With many tasks and buckets a packet holds a few rows. An Arrow message for each then costs more,
in time and in bytes, than the rows in it: so columns without gaps are cut from the memory they are
in, and those of all packets are put together as bytes.

Where a packet holds many rows, its bytes are copied a dozen times on their way through the JVM.
Times and integers then travel as differences from the least of them, in as few bytes as all need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.rows.frames import Section
from windrow.rows.weighted_rows import WEIGHT, with_weights

__all__ = [
    "NARROWED_FROM_ROWS",
    "BucketRows",
    "PackedRows",
    "joined_rows",
    "pack_rows",
    "packed_by_bucket",
]

# Packets of fewer rows have nothing to gain by differences.
NARROWED_FROM_ROWS = 1_000
# The least value comes first, then the differences.
_BASE = np.dtype(np.int64)
_NARROW: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, ("u1", "u2", "u4")))


class PackedRows(NamedTuple):
    """Rows of one input; sections: one for each column, or a single one that Arrow has written."""

    input_index: int
    row_count: int
    is_plain: bool
    is_weighted: bool
    sections: Sequence[Section]


class BucketRows(Sequence[pa.RecordBatch]):
    """The rows of each bucket: one batch, and where in it the rows of which bucket begin."""

    def __init__(self, rows: pa.RecordBatch, edges: NDArray[np.int64]) -> None:
        self.rows, self.edges = rows, edges

    @classmethod
    def all_in_first(cls, rows: pa.RecordBatch, buckets: int) -> BucketRows:
        """All rows are for the first bucket."""
        return cls(rows, np.array([0, *[rows.num_rows] * buckets]))

    def __len__(self) -> int:
        return int(self.edges.size) - 1

    def __getitem__(self, bucket: Any) -> Any:
        if not 0 <= bucket < len(self):
            raise IndexError(bucket)
        first, end = self.edges[bucket : bucket + 2].tolist()
        return self.rows.slice(first, end - first)


def pack_rows(input_index: int, rows: pa.RecordBatch) -> PackedRows:
    """All rows of a batch."""
    edges = np.array([0, rows.num_rows])
    return next(part for _, part in _packed(input_index, BucketRows(rows, edges), [0]))


def packed_by_bucket(input_index: int, rows: BucketRows) -> Iterator[tuple[int, PackedRows]]:
    """The rows of each bucket that has some."""
    return _packed(input_index, rows, np.flatnonzero(np.diff(rows.edges)).tolist())


def _packed(
    input_index: int, rows: BucketRows, buckets: Sequence[int]
) -> Iterator[tuple[int, PackedRows]]:
    columns, edges = rows.rows.columns, rows.edges.tolist()
    is_plain = all(map(_is_plain, columns))
    is_weighted = WEIGHT in rows.rows.schema.names
    views = [_bytes_of(column) for column in columns] if is_plain else []
    for bucket in buckets:
        first, end = edges[bucket], edges[bucket + 1]
        sections: list[Section]
        if is_plain:
            sections = [view[first * width : end * width] for view, width in views]
            if end - first >= NARROWED_FROM_ROWS:
                pairs = zip(columns, sections, strict=True)
                sections = [_narrowed(each) if _is_whole(col) else each for col, each in pairs]
        else:
            sections = [memoryview(rows.rows.slice(first, end - first).serialize())]
        yield bucket, PackedRows(input_index, end - first, is_plain, is_weighted, sections)


def _is_plain(column: pa.Array) -> bool:
    """Whether the bytes of the values are all there is to a column."""
    kind = column.type
    return bool(pa.types.is_primitive(kind) and kind.bit_width >= 8 and not column.null_count)


def _bytes_of(column: pa.Array) -> tuple[memoryview, int]:
    """The bytes of a plain column, and how many a value has."""
    width = column.type.bit_width // 8
    start = column.offset * width
    return memoryview(column.buffers()[1])[start : start + len(column) * width], width


def _is_whole(column: pa.Array) -> bool:
    """Whether the values are integers of eight bytes, as times are too."""
    return column.type.bit_width == _BASE.itemsize * 8 and not pa.types.is_floating(column.type)


def _narrowed(values: Section) -> Section:
    """Values as differences from the least one, where that takes fewer bytes."""
    numbers = np.frombuffer(values, _BASE)
    low, high = int(numbers.min()), int(numbers.max())
    for kind in _NARROW:
        if high - low < 1 << 8 * kind.itemsize:
            return _BASE.type(low).tobytes() + (numbers - low).astype(kind).tobytes()
    return values


def _widened(section: Section, row_count: int, into: NDArray[np.int64]) -> None:
    """Writes the values of a section where they belong."""
    if len(section) == row_count * _BASE.itemsize:
        into[:] = np.frombuffer(section, _BASE)
        return
    width = (len(section) - _BASE.itemsize) // row_count
    kind = next(kind for kind in _NARROW if kind.itemsize == width)
    into[:] = np.frombuffer(section, kind, offset=_BASE.itemsize)
    into += np.frombuffer(section, _BASE, count=1)


def joined_rows(schema: pa.Schema, parts: Sequence[PackedRows]) -> pa.RecordBatch:
    """The rows of all parts, one after the other; schema: that of rows without weights."""
    is_weighted = any(part.is_weighted for part in parts)
    if all(part.is_plain and part.is_weighted == is_weighted for part in parts):
        return _joined_columns(_weighted(schema, is_weighted), parts)
    batches = [_batch(schema, part) for part in parts]
    return pa.concat_batches([with_weights(each) for each in batches] if is_weighted else batches)


def _weighted(schema: pa.Schema, is_weighted: bool) -> pa.Schema:
    return schema.append(pa.field(WEIGHT, pa.int64())) if is_weighted else schema


def _batch(schema: pa.Schema, part: PackedRows) -> pa.RecordBatch:
    own = _weighted(schema, part.is_weighted)
    if part.is_plain:
        return _joined_columns(own, [part])
    return pa.ipc.read_record_batch(pa.py_buffer(part.sections[0]), own)


def _joined_columns(schema: pa.Schema, parts: Sequence[PackedRows]) -> pa.RecordBatch:
    """Columns whose bytes are put together; those of a single part stay where they lie."""
    counts = [part.row_count for part in parts]
    sections = zip(*(part.sections for part in parts), strict=True)
    columns = [
        pa.Array.from_buffers(kind, sum(counts), [None, _values(kind, counts, each)])
        for kind, each in zip(schema.types, sections, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _values(kind: pa.DataType, counts: Sequence[int], sections: Sequence[Section]) -> pa.Buffer:
    """The bytes of a column, of all parts."""
    size = sum(counts) * kind.bit_width // 8
    if sum(map(len, sections)) == size:
        return pa.py_buffer(sections[0] if len(sections) == 1 else b"".join(sections))
    values = np.empty(sum(counts), _BASE)
    edges = np.cumsum([0, *counts]).tolist()
    for section, count, first in zip(sections, counts, edges, strict=False):
        _widened(section, count, values[first : first + count])
    return pa.py_buffer(values)
