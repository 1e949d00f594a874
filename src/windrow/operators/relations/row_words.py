"""Rows as words of 64 bits: values behind words of flags that tell which of them are NULL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.operators.relations.order_words import Matrix
from windrow.windows.codes import NEW_TEXT_BYTES, TextCodes
from windrow.windows.column_words import array_of_words, words_of_array
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import (
    is_wide_decimal,
    wide_of_words,
    words_of_wide,
)

__all__ = ["RowWords"]

_FLAGS_OF_WORD = 63


class RowWords:
    """The words of rows with columns of these Arrow types; a text is the code of the text.

    >>> words = RowWords([pa.int64(), pa.int64()])
    >>> words.encode([pa.array([4, None]), pa.array([5, 6])], 2).tolist()
    [[0, 4, 5], [1, 0, 6]]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self.types = tuple(types)
        self._texts = {kind: TextCodes(kind) for kind in self.types if is_coded(kind)}
        widths = [2 if is_wide_decimal(kind) else 1 for kind in self.types]
        flag_words = -(-len(widths) // _FLAGS_OF_WORD)
        self._first = [flag_words + sum(widths[:place]) for place in range(len(widths))]
        self._text_places = [
            (first, self._texts[kind])
            for first, kind in zip(self._first, self.types, strict=True)
            if kind in self._texts
        ]
        self.width = flag_words + sum(widths)

    def encode(self, columns: Sequence[pa.Array], size: int) -> Matrix:
        """The words of each row; texts that are new need retain() before the next call."""
        rows = np.zeros((size, self.width), np.int64)
        for place, (kind, column) in enumerate(zip(self.types, columns, strict=True)):
            first = self._first[place]
            if column.null_count:
                flags = pc.is_null(column).to_numpy(zero_copy_only=False).astype(np.int64)
                rows[:, place // _FLAGS_OF_WORD] |= flags << (place % _FLAGS_OF_WORD)
            if kind in self._texts:
                rows[:, first] = self._texts[kind].encode(column)
            elif is_wide_decimal(kind):
                rows[:, first : first + 2] = words_of_wide(column)
            else:
                rows[:, first] = words_of_array(column)[0]
        return rows

    @property
    def has_texts(self) -> bool:
        """Whether words have to be retained and released."""
        return bool(self._text_places)

    def retain(self, rows: Matrix) -> None:
        """These rows are held from now on."""
        for first, texts in self._text_places:
            texts.retain(rows[:, first].astype(np.int32))

    def release(self, rows: Matrix) -> None:
        """These rows are held no longer; until the next encode() they can still be read."""
        for first, texts in self._text_places:
            texts.forget(texts.release(rows[:, first].astype(np.int32)))

    def columns(self, rows: Matrix, places: Iterable[int] | None = None) -> list[pa.Array]:
        """The columns of rows of words; places: only these."""
        places = range(len(self.types)) if places is None else places
        return [self._column(place, rows) for place in places]

    def _column(self, place: int, rows: Matrix) -> pa.Array:
        kind, first = self.types[place], self._first[place]
        word = np.ascontiguousarray(rows[:, first])
        if kind in self._texts:
            return self._texts[kind].texts(word.astype(np.int32))
        flag = 1 << (place % _FLAGS_OF_WORD)
        missing = (rows[:, place // _FLAGS_OF_WORD] & flag) != 0
        if is_wide_decimal(kind):
            low = np.ascontiguousarray(rows[:, first + 1])
            return wide_of_words(pa.array(word, mask=missing), pa.array(low), kind)
        return array_of_words(word, missing, kind)

    @property
    def nbytes(self) -> int:
        """Bytes of the texts."""
        return sum(texts.nbytes for texts in self._texts.values())

    def growth_bytes(self, rows: int) -> int:
        """Bytes of this many rows of words, and of the texts that they may add."""
        return rows * (8 * self.width + len(self._text_places) * NEW_TEXT_BYTES)
