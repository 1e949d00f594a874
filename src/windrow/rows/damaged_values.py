"""Values in Arrow's buffers that no column can hold: bytes that are not UTF-8, too many digits.

Arrow hands on what another program, a file or a network wrote without looking at it. A text that
cannot be decoded would be found only where it is used, after other state has changed, and an offset
or an index that points elsewhere reads memory of somebody else. So rows are checked as they arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["DamagedValue", "check_buffers", "damaged_rows", "is_sound"]

NOT_UTF8 = "its text is not UTF-8"
DAMAGED_INSIDE = "a value inside of it is damaged: text that is not UTF-8, or too many digits"
TOO_MANY_DIGITS = "its decimal has more digits than the column's type"

_BYTES_OF_TEXT = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}

DamagedValue = tuple[int, str, str]  # row, column, why


def check_buffers(column: pa.Array | pa.ChunkedArray) -> bool:
    r"""Whether all values are sound; an error of Arrow's where even their places are wrong.

    >>> check_buffers(pa.array(["a", None])), check_buffers(damaged_text(b"\xff"))
    (True, False)
    """
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return all([_check_chunk(chunk) for chunk in chunks])


def is_sound(batch: pa.RecordBatch) -> bool:
    """Whether no row holds a damaged value; places within the buffers are trusted."""
    return all(_is_sound(column) for column in batch.columns if _can_be_damaged(column.type))


def damaged_rows(batch: pa.RecordBatch) -> dict[int, DamagedValue]:
    r"""By row, the first value of it that is damaged; the buffers themselves are sound.

    >>> damaged_rows(pa.record_batch({"k": damaged_text(b"\xff")}))
    {0: (0, 'k', 'its text is not UTF-8')}
    """
    found: dict[int, DamagedValue] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if _can_be_damaged(column.type) and not _is_sound(column):
            rows, why = _damage_of(column.type)
            for row in rows(column):
                found.setdefault(row, (row, name, why))
    return found


def damaged_text(data: bytes) -> pa.Array:
    """A column of one text with these bytes, whatever they are."""
    return pa.array([data], pa.binary()).view(pa.string())


def _check_chunk(chunk: pa.Array) -> bool:
    try:
        chunk.validate(full=True)
    except pa.ArrowInvalid:
        _check_places(chunk)
        return False
    return True


def _check_places(chunk: pa.Array) -> None:
    """Raises unless only values are at fault: those of rows, which can be set aside."""
    kind = chunk.type
    chunk.validate()
    if pa.types.is_dictionary(kind):
        # The same indices into a dictionary whose values cannot be wrong.
        blank = pa.nulls(len(chunk.dictionary))
        pa.DictionaryArray.from_arrays(chunk.indices, blank, safe=False).validate(full=True)
        check_buffers(chunk.dictionary)
    elif pa.types.is_run_end_encoded(kind):
        chunk.run_ends.validate(full=True)
        check_buffers(chunk.values)
    elif kind in _BYTES_OF_TEXT:
        chunk.view(_BYTES_OF_TEXT[kind]).validate(full=True)
    elif pa.types.is_nested(kind):
        _check_nested(chunk)
    elif not pa.types.is_decimal(kind):
        chunk.validate(full=True)


def _check_nested(chunk: pa.Array) -> None:
    """The places of lists by themselves, then what they hold."""
    if pa.types.is_struct(chunk.type):
        for number in range(chunk.type.num_fields):
            check_buffers(chunk.field(number))
        return
    if not pa.types.is_list(chunk.type):
        chunk.validate(full=True)  # maps and lists of other layouts are sound, or refused
    validity, offsets = chunk.buffers()[:2]
    blank = pa.nulls(len(chunk.values))
    buffers = [validity, offsets]
    places = pa.Array.from_buffers(
        pa.list_(pa.null()), len(chunk), buffers, offset=chunk.offset, children=[blank]
    )
    places.validate(full=True)
    check_buffers(chunk.values)


def _can_be_damaged(kind: pa.DataType) -> bool:
    is_plain = pa.types.is_string(kind) or pa.types.is_decimal128(kind)
    return bool(is_plain or pa.types.is_nested(kind))


def _is_sound(column: pa.Array) -> bool:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _not_utf8(column: pa.Array) -> Iterator[int]:
    for row, data in enumerate(column.view(pa.binary()).to_pylist()):
        try:
            if data is not None:
                data.decode()
        except UnicodeDecodeError:
            yield row


def _too_long(column: pa.Array) -> Iterator[int]:
    """Rows whose number has more digits than the type; of its two words, the low one is first."""
    words = np.frombuffer(column.buffers()[1], np.int64)
    pairs = words[2 * column.offset : 2 * (column.offset + len(column))].reshape(-1, 2)
    low, high = pairs[:, 0], pairs[:, 1]
    most = 10**column.type.precision - 1
    if most >= 2**63:  # both words count
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(valid).tolist():
            if abs((int(high[row]) << 64) + (int(low[row]) & (2**64 - 1))) > most:
                yield row
        return
    is_good: NDArray[np.bool_] = high == (low >> 63)
    is_good &= (low >= -most) & (low <= most)
    is_good |= column.is_null().to_numpy(zero_copy_only=False)
    yield from np.flatnonzero(~is_good).tolist()


def _unsound(column: pa.Array) -> Iterator[int]:
    """Rows that hold a damaged value somewhere inside; each is looked at by itself."""
    for row in range(len(column)):
        if not _is_sound(column.take(pa.array([row]))):
            yield row


def _damage_of(kind: pa.DataType) -> tuple[Callable[[pa.Array], Iterator[int]], str]:
    if pa.types.is_nested(kind):
        return _unsound, DAMAGED_INSIDE
    return (_not_utf8, NOT_UTF8) if pa.types.is_string(kind) else (_too_long, TOO_MANY_DIGITS)
