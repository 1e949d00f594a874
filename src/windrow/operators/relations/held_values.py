"""Values of expressions, held for each row that is there as words in a row of a matrix.

A value is a flag that it is NULL and a word; a text is the code of the text, a decimal of more than
18 digits two words. Equal values have equal words, so kernels can compare them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.relations.changes import Vector
from windrow.operators.relations.numbered_rows import places_of
from windrow.operators.relations.order_words import Matrix
from windrow.windows.codes import NEW_TEXT_BYTES, Codes, TextCodes
from windrow.windows.column_words import array_of_words, words_of_array
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import (
    is_wide_decimal,
    wide_of_words,
    words_of_wide,
)

__all__ = ["HeldValues"]


class HeldValues:
    """The values of several columns of these Arrow types, by row; one type shares its codes."""

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = tuple(types)
        self._texts = {kind: TextCodes(kind) for kind in self._types if is_coded(kind)}
        self.widths = [3 if is_wide_decimal(kind) else 2 for kind in types]
        self.first = [sum(self.widths[:place]) for place in range(len(self.widths))]
        self.words: Matrix = np.zeros((0, sum(self.widths)), np.int64)

    def load(self, rows: Codes, columns: Sequence[pa.Array], fresh: Vector, capacity: int) -> None:
        """Hold the values of changes; fresh: which of them are of rows that are new.

        capacity: every row is below this.
        """
        if capacity > self.words.shape[0]:
            words = np.zeros((capacity, self.words.shape[1]), np.int64)
            words[: self.words.shape[0]] = self.words
            self.words = words
        for first, kind, column in zip(self.first, self._types, columns, strict=True):
            self._load_column(places_of(rows), first, kind, column)
            if kind in self._texts:
                self._texts[kind].retain(self.words[rows[fresh], first + 1].astype(np.int32))

    def _load_column(
        self, rows: Codes | slice, first: int, kind: pa.DataType, column: pa.Array
    ) -> None:
        missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else 0
        self.words[rows, first] = missing
        if kind in self._texts:
            self.words[rows, first + 1] = self._texts[kind].encode(column)
        elif is_wide_decimal(kind):
            self.words[rows, first + 1 : first + 3] = words_of_wide(column)
        else:
            self.words[rows, first + 1] = words_of_array(column)[0]

    def release(self, rows: Codes) -> None:
        """Forget the texts of rows that are not there any more."""
        for first, kind in zip(self.first, self._types, strict=True):
            if kind in self._texts:
                codes = self.words[rows, first + 1].astype(np.int32)
                self._texts[kind].forget(self._texts[kind].release(codes))

    def column(self, place: int, words: Matrix) -> pa.Array:
        """A column of values back from their words, the flag first."""
        kind = self._types[place]
        missing = words[:, 0] != 0
        if kind in self._texts:
            present = ~missing
            texts = self._texts[kind].texts(words[present, 1].astype(np.int32))
            return texts.take(pa.array(np.cumsum(present) - 1, mask=missing))
        parts = [np.ascontiguousarray(words[:, i]) for i in range(1, words.shape[1])]
        if is_wide_decimal(kind):
            high, low = (pa.array(part, mask=missing) for part in parts)
            return wide_of_words(high, low, kind)
        return array_of_words(parts[0], missing, kind)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.words.nbytes + sum(texts.nbytes for texts in self._texts.values())

    def growth_bytes(self, changes: int) -> int:
        """Bytes of the texts that this many changes may add."""
        texts = sum(kind in self._texts for kind in self._types)
        return changes * texts * NEW_TEXT_BYTES
