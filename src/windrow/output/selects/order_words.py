"""Rows as words of 64 bits that order as the rows do: NULL first, NaN last, texts by bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.operators.ranks import ranks_of_values
from windrow.output.selects import kernels
from windrow.windows.order_bytes import order_bytes
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import is_wide_decimal

__all__ = ["Layout", "joined_layout", "layout_of", "order_of", "row_order", "words_of"]

Words = NDArray[np.int64]
Vector = NDArray[np.int64]
# Texts of up to this many words of eight bytes are compared as words.
MOST_TEXT_WORDS = 4

# Per column: whether it has NULLs, and the words of its longest text (0 for other types).
Layout = tuple[tuple[bool, int], ...]


def layout_of(table: pa.Table) -> Layout | None:
    """The words that the rows of a table need; None when a text is too long."""
    parts = []
    for column in _sortable(table):
        width = 0
        if is_coded(column.type):
            longest = pc.max(pc.binary_length(column)).as_py() or 0
            width = max(1, -(-longest // 8))
            if width > MOST_TEXT_WORDS:
                return None
        parts.append((column.null_count > 0, width))
    return tuple(parts)


def joined_layout(left: Layout, right: Layout) -> Layout:
    """The layout that both fit into."""
    pairs = zip(left, right, strict=True)
    return tuple((one[0] or other[0], max(one[1], other[1])) for one, other in pairs)


def words_of(table: pa.Table, layout: Layout) -> Words:
    """The rows of a table as rows of words."""
    width = sum(nullable + (text + 1 if text else 1) for nullable, text in layout)
    words = np.empty((table.num_rows, width), np.int64)
    place = 0
    for whole, (nullable, text) in zip(_sortable(table), layout, strict=True):
        if nullable:
            words[:, place] = whole.is_valid().to_numpy(zero_copy_only=False)
            place += 1
        if text:
            _write_texts(whole, words, place, text)
            place += text + 1
        else:
            words[:, place] = ranks_of_values(whole, is_max=True)[0]
            place += 1
    return words


def order_of(words: Words) -> Vector:
    """The order of rows of words."""
    if words.shape[1] == 0:
        return np.arange(words.shape[0])
    # The first word sorts fast by itself; what ties in it is in runs that the cache holds.
    order = np.argsort(words[:, 0])
    if words.shape[1] == 1:
        return order
    first = words[order, 0]
    starts = np.flatnonzero(np.concatenate([[True], first[1:] != first[:-1], [True]]))
    if starts.size <= words.shape[0]:
        kernels.sort_runs(words, starts, order, np.empty_like(order))
    return order


def row_order(table: pa.Table, starts: Vector) -> Vector:
    """The order of rows within runs, which begin at `starts`; the last entry is the end."""
    layout = layout_of(table)
    if layout is None:
        return _arrow_order(table, starts)
    if starts.size == 2:
        return order_of(words_of(table, layout))
    order = np.arange(table.num_rows)
    kernels.sort_runs(words_of(table, layout), starts, order, np.empty_like(order))
    return order


def _arrow_order(table: pa.Table, starts: Vector) -> Vector:
    """The same by Arrow, for texts of any length."""
    runs = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    columns: list[pa.ChunkedArray | pa.Array] = [pa.array(runs)]
    for column in _sortable(table):
        if pa.types.is_floating(column.type):  # Arrow alone would put NaN next to NULL
            columns.append(pc.is_nan(column))
        columns.append(column)
    names = [str(number) for number in range(len(columns))]
    keys = [(name, "ascending", "at_start") for name in names]
    numbered = pa.Table.from_arrays(columns, names=names)
    return np.asarray(pc.sort_indices(numbered, sort_keys=keys)).astype(np.int64)


def _write_texts(texts: pa.Array, words: Words, place: int, width: int) -> None:
    if texts.null_count:
        texts = texts.fill_null("" if pa.types.is_string(texts.type) else b"")
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    kernels.text_words(ends, letters, words, place, width)


def _sortable(table: pa.Table) -> list[pa.Array]:
    """The columns, those that neither words nor texts order as bytes that do."""
    return [_as_bytes(_whole(column)) for column in table.columns]


def _as_bytes(column: pa.Array) -> pa.Array:
    kind = column.type
    is_long = is_wide_decimal(kind) or (is_coded(kind) and not pa.types.is_string(kind))
    return order_bytes(column) if is_long else column


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
