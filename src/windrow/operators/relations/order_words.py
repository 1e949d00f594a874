"""Sort keys as rows of words: their lexicographic order as signed integers is the order of SQL.

Purpose: a tree of rows compares plain integers, whatever the types and directions of its keys.
Form: a key has a word that says whether it is NULL, once one was; then its value: one word for
    numbers, times and truth values, two for decimals beyond 18 digits, and for texts as many words
    of eight bytes as the longest has needed, eight at most; then, once a text had more, the number
    of its end (text_tails), and one for trailing NUL letters once there were any.
Space: what was never needed is not there. Rows that are there already are given the words that
    they lack when a new one asks for more, and keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.ranks import ranks_of_values
from windrow.operators.relations.order_word_kernels import LOWEST_WORD, text_words
from windrow.operators.relations.text_tails import TextTails
from windrow.windows.column_words import NO_FLAGS
from windrow.windows.order_bytes import order_bytes
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import is_wide_decimal, words_of_wide

__all__ = ["KeyOrder", "Matrix", "OrderWords"]

Matrix = NDArray[np.int64]
Vector = NDArray[np.int64]
_NONE: Vector = np.empty(0, np.int64)
_WORD_BYTES = 8
# Words of a text; what is behind them has a number.
MOST_WORDS = 8
# Ends that are not used any more are looked for once there are so many bytes more of them.
_FORGOTTEN_AT = 1 << 20


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
    has_end: bool = False
    has_tail: bool = False
    numbering: int = 0

    @property
    def width(self) -> int:
        return self.end_place + self.has_end + self.has_tail

    @property
    def end_place(self) -> int:
        """Where the number of its end is, if it has one."""
        return self.has_flag + self.body_count

    def including(self, other: _Form) -> _Form:
        return _Form(
            self.has_flag or other.has_flag,
            max(self.body_count, other.body_count),
            self.has_end or other.has_end,
            self.has_tail or other.has_tail,
            max(self.numbering, other.numbering),
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
        self._ends = [TextTails() for _ in keys]
        self._kept_bytes = 0  # of ends, when unused ones were forgotten last

    @property
    def width(self) -> int:
        """Words of a row."""
        return sum(form.width for form in self._forms)

    def width_of(self, keys: int) -> int:
        """Words of the first keys."""
        return sum(form.width for form in self._forms[:keys])

    def encode(self, columns: Sequence[pa.Array]) -> Matrix:
        """The words of rows; what was encoded before may lack some then: see widened()."""
        given = zip(self._keys, columns, self._ends, strict=True)
        parts = [_parts(key, column, ends) for key, column, ends in given]
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
        known = zip(self._keys, self._forms, forms, self._ends, strict=True)
        for key, wanted, form, ends in known:
            old = words[:, from_place : from_place + form.width]
            if form.has_end and form.numbering != wanted.numbering:
                old = _renumbered(old, form, ends, is_descending=key.is_descending)
                form = replace(form, numbering=wanted.numbering)
            _place(out[:, to_place : to_place + wanted.width], old, form, wanted, key)
            from_place += form.width
            to_place += wanted.width
        return out

    @property
    def nbytes(self) -> int:
        """Bytes of the ends of long texts."""
        return sum(ends.nbytes for ends in self._ends)

    def forget_ends(self, words: Callable[[], Matrix]) -> None:
        """Forget ends of long texts that no row has; words: those of all rows, where needed."""
        if self.nbytes <= 2 * self._kept_bytes + _FORGOTTEN_AT:
            return
        rows, place = words(), 0
        for key, form, ends in zip(self._keys, self._forms, self._ends, strict=True):
            if form.has_end:
                numbers = np.unique(rows[:, place + form.end_place])
                ends.keep((~numbers if key.is_descending else numbers).tolist())
            place += form.width
        self._kept_bytes = self.nbytes


def _renumbered(words: Matrix, form: _Form, ends: TextTails, *, is_descending: bool) -> Matrix:
    """The words of a key with the numbers that ends have now."""
    words = words.copy()
    numbers = words[:, form.end_place]
    found = ends.renumbered(~numbers if is_descending else numbers)
    words[:, form.end_place] = ~found if is_descending else found
    return words


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
    if wanted.has_end:
        nothing = ~0 if key.is_descending else 0
        out[:, wanted.end_place] = words[:, form.end_place] if form.has_end else nothing
    if form.has_tail:
        out[:, -1] = words[:, -1]
    elif wanted.has_tail and key.is_descending:
        out[:, -1] = ~0


def _parts(key: KeyOrder, column: pa.Array, ends: TextTails) -> tuple[_Form, Matrix]:
    has_end = False
    if is_coded(key.type):
        has_end, has_tail, body = _of_texts(order_bytes(column), ends)
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
    body_count = body.shape[1] - has_end - has_tail
    form = _Form(column.null_count > 0, body_count, has_end, has_tail, ends.numbering)
    if not form.has_flag:
        return form, body
    missing = column.is_null().to_numpy(zero_copy_only=False)
    flag = np.where(missing, -1 if key.nulls_first else 1, 0)
    return form, np.column_stack([flag, body])


def _of_texts(column: pa.Array, ends: TextTails) -> tuple[bool, bool, Matrix]:
    """The words; whether there is a column behind them with the numbers of ends of long texts.

    And whether there is a last one, of how many NUL letters a text ends with.
    """
    size = len(column)
    _, offset_buffer, data_buffer = column.buffers()
    if size == 0 or offset_buffer is None:
        return False, False, np.full((size, 1), LOWEST_WORD)
    offsets = np.frombuffer(offset_buffer, np.int32)[column.offset : column.offset + size + 1]
    data = np.empty(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    valid = NO_FLAGS
    if column.null_count:
        valid = column.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)
    lengths = offsets[1:] - offsets[:-1]
    if valid.size:
        lengths = np.where(valid, lengths, 0)
    count = max(1, -(-int(lengths.max()) // _WORD_BYTES))
    long = np.flatnonzero(lengths > MOST_WORDS * _WORD_BYTES) if count > MOST_WORDS else _NONE
    out = np.empty((size, min(count, MOST_WORDS) + 1), np.int64)
    text_words(offsets, data, valid, out)
    has_tail = bool(out[:, -1].any())
    words = out if has_tail else out[:, :-1]
    if not long.size:
        return False, has_tail, words
    begins = offsets[long] + MOST_WORDS * _WORD_BYTES
    found = zip(begins.tolist(), offsets[long + 1].tolist(), strict=True)
    numbers = np.zeros(size, np.int64)
    numbers[long] = ends.numbers([data[begin:end].tobytes() for begin, end in found])
    return True, has_tail, np.insert(words, MOST_WORDS, numbers, axis=1)
