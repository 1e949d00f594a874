"""Sort keys as rows of words: their lexicographic order as signed integers is the order of SQL.

Purpose: a tree of rows compares plain integers, whatever the types and directions of its keys.
Form: a key has a word that says whether it is NULL, once one was; then its value: one word for
    numbers, times and truth values, two for decimals beyond 18 digits, and for texts as many words
    of eight bytes as the longest has needed, with one for trailing NUL letters once there were any.
Space: what was never needed is not there. Rows that are there already are given the words that
    they lack when a new one asks for more, and keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.ranks import ranks_of_values
from windrow.operators.relations.order_word_kernels import LOWEST_WORD, text_words
from windrow.windows.column_words import NO_FLAGS
from windrow.windows.order_bytes import order_bytes
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import is_wide_decimal, words_of_wide

__all__ = ["KeyOrder", "Matrix", "OrderWords"]

Matrix = NDArray[np.int64]
Vector = NDArray[np.int64]
_WORD_BYTES = 8


@dataclass(frozen=True)
class KeyOrder:
    """How one key is ordered."""

    type: pa.DataType
    is_descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class _Form:
    """Which words a key has."""

    has_flag: bool = False
    body_count: int = 1
    has_tail: bool = False

    @property
    def width(self) -> int:
        return self.has_flag + self.body_count + self.has_tail

    def including(self, other: _Form) -> _Form:
        return _Form(
            self.has_flag or other.has_flag,
            max(self.body_count, other.body_count),
            self.has_tail or other.has_tail,
        )


class OrderWords:
    """Turns the columns of keys into rows of words, in a form that only ever gains words.

    >>> words = OrderWords([KeyOrder(pa.int64(), is_descending=True)])
    >>> words.encode([pa.array([5, 7])]).tolist()
    [[-6], [-8]]
    """

    def __init__(self, keys: Sequence[KeyOrder]) -> None:
        self._keys = tuple(keys)
        self._forms = [_Form(body_count=2 if is_wide_decimal(key.type) else 1) for key in keys]

    @property
    def width(self) -> int:
        """Words of a row."""
        return sum(form.width for form in self._forms)

    def width_of(self, keys: int) -> int:
        """Words of the first keys."""
        return sum(form.width for form in self._forms[:keys])

    def encode(self, columns: Sequence[pa.Array]) -> Matrix:
        """The words of rows; what was encoded before may lack some then: see widened()."""
        parts = [_parts(key, column) for key, column in zip(self._keys, columns, strict=True)]
        self._forms = [
            form.including(part[0]) for form, part in zip(self._forms, parts, strict=True)
        ]
        out = np.empty((len(columns[0]) if columns else 0, self.width), np.int64)
        place = 0
        for key, wanted, (form, words) in zip(self._keys, self._forms, parts, strict=True):
            _place(out[:, place : place + wanted.width], words, form, wanted, key)
            place += wanted.width
        return out

    def forms(self) -> tuple[_Form, ...]:
        """What rows that are encoded now look like, for widened()."""
        return tuple(self._forms)

    def widened(self, words: Matrix, forms: tuple[_Form, ...]) -> Matrix:
        """Rows that were encoded in earlier forms as they would be encoded now."""
        out = np.empty((words.shape[0], self.width), np.int64)
        from_place, to_place = 0, 0
        for key, wanted, form in zip(self._keys, self._forms, forms, strict=True):
            old = words[:, from_place : from_place + form.width]
            _place(out[:, to_place : to_place + wanted.width], old, form, wanted, key)
            from_place += form.width
            to_place += wanted.width
        return out


def _place(out: Matrix, words: Matrix, form: _Form, wanted: _Form, key: KeyOrder) -> None:
    """Write the words of one key in a form that includes the one that they have."""
    if form == wanted:
        out[:] = words
        return
    out[:] = 0
    body_from, body_to = int(form.has_flag), int(wanted.has_flag)
    if form.has_flag:
        out[:, 0] = words[:, 0]
    body = out[:, body_to : body_to + wanted.body_count]
    # Only texts gain words of the value: a shorter text is padded with NUL.
    body[:] = ~LOWEST_WORD if key.is_descending else LOWEST_WORD
    body[:, : form.body_count] = words[:, body_from : body_from + form.body_count]
    if form.has_tail:
        out[:, -1] = words[:, -1]
    elif wanted.has_tail and key.is_descending:
        out[:, -1] = ~0


def _parts(key: KeyOrder, column: pa.Array) -> tuple[_Form, Matrix]:
    if is_coded(key.type):
        has_tail, body = _of_texts(order_bytes(column))
        body = ~body if key.is_descending else body
    elif is_wide_decimal(key.type):
        has_tail, body = False, words_of_wide(column)
        body[:, 1] ^= LOWEST_WORD
        body = ~body if key.is_descending else body
    else:
        ranks, present = ranks_of_values(column, is_max=not key.is_descending)
        if not present.size:
            return _Form(), ranks.reshape(-1, 1)
        has_tail, body = False, ranks.reshape(-1, 1)
    form = _Form(column.null_count > 0, body.shape[1] - has_tail, has_tail)
    if not form.has_flag:
        return form, body
    missing = column.is_null().to_numpy(zero_copy_only=False)
    flag = np.where(missing, -1 if key.nulls_first else 1, 0)
    return form, np.column_stack([flag, body])


def _of_texts(column: pa.Array) -> tuple[bool, Matrix]:
    """Whether there is a last column, of how many NUL letters a text ends with; and the words."""
    size = len(column)
    _, offset_buffer, data_buffer = column.buffers()
    if size == 0 or offset_buffer is None:
        return False, np.full((size, 1), LOWEST_WORD)
    offsets = np.frombuffer(offset_buffer, np.int32)[column.offset : column.offset + size + 1]
    data = np.empty(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    valid = NO_FLAGS
    if column.null_count:
        valid = column.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)
    longest = int(np.max(offsets[1:] - offsets[:-1]))
    count = max(1, -(-longest // _WORD_BYTES))
    out = np.empty((size, count + 1), np.int64)
    text_words(offsets, data, valid, out)
    has_tail = bool(out[:, count].any())
    return has_tail, out if has_tail else out[:, :count]
