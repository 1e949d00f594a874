"""The columns of an input that a select shows, as words in its window; codes of wider values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.rows.prepared_names import GROUP, NEGATED_KEY, column_name
from windrow.rows.prepared_rows import PreparedColumns, PreparedRows
from windrow.rows.shape import InputShape
from windrow.windows.codes import KeyCoder, needs_codes
from windrow.windows.column_words import array_of_words, words_of_array
from windrow.windows.order_bytes import order_bytes
from windrow.windows.row_store import NO_MATRIX

__all__ = ["KeptColumns"]

Words = NDArray[np.int64]
Flags = NDArray[np.uint8]
_WORD = pa.int64()


class KeptColumns:
    """Words of what an input groups by, and of what negated rows are compared with; each once.

    A code stands for a text, or for another value that is no word, and NULL has one there, too.
    """

    def __init__(self, shape: InputShape, columns: PreparedColumns) -> None:
        named = [(part, column_name(GROUP, i)) for i, part in enumerate(shape.groups)]
        named += [(part, column_name(NEGATED_KEY, i)) for i, part in enumerate(shape.negated_keys)]
        place_of = {part: i for i, part in enumerate(dict.fromkeys(part for part, _ in named))}
        self._place = {name: place_of[part] for part, name in named}
        first = {place_of[part]: name for part, name in reversed(named)}
        self._names = [first[place] for place in range(len(place_of))]
        self._types = [columns.schema.field(name).type for name in self._names]
        self._coders = {
            place: KeyCoder([kind]) for place, kind in enumerate(self._types) if needs_codes(kind)
        }

    @property
    def count(self) -> int:
        """Words of a row."""
        return len(self._names)

    def place(self, name: str) -> int:
        """The number of the word that a column of prepared rows is kept as."""
        return self._place[name]

    def is_float(self, place: int) -> bool:
        """Whether the word has the bits of a double."""
        return bool(pa.types.is_floating(self._types[place]))

    def is_coded(self, place: int) -> bool:
        """Whether the word is a code."""
        return place in self._coders

    def write(self, rows: PreparedRows, words: Words) -> Flags:
        """Write the words of rows that come; returns flags of validity for all rows of `words`."""
        flags: Flags = NO_MATRIX
        for place, name in enumerate(self._names):
            column = rows.batch.column(name)
            if place in self._coders:
                words[place] = self._coders[place].acquire([column])
            elif column.type == _WORD and not column.null_count:
                words[place] = column.to_numpy()
            else:
                words[place], valid = words_of_array(column)
                if valid.size:
                    flags = flags if flags.size else np.ones(words.shape, np.uint8)
                    flags[place] = valid
        return flags

    def release(self, words: Words) -> None:
        """Rows with these words have left."""
        for place, coder in self._coders.items():
            coder.release(words[place].astype(np.int32))

    def array(self, place: int, words: Words, valid: Flags) -> pa.Array:
        """The values that words stand for; no flags: none is NULL."""
        kind = self._types[place]
        if place in self._coders:
            codes, places = np.unique(words, return_inverse=True)
            values = self._coders[place].columns(codes.astype(np.int32))[0]
            return values.take(pa.array(places))
        missing = valid == 0 if valid.size else np.zeros(0, np.bool_)
        return array_of_words(words, missing, kind)

    def ranks(self, place: int, words: Words) -> tuple[Words, Flags]:
        """Numbers in the order of the values that codes stand for, and where these are not NULL."""
        codes, places = np.unique(words, return_inverse=True)
        values = self._coders[place].columns(codes.astype(np.int32))[0]
        present = values.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8)
        if not pa.types.is_string(values.type):
            values = order_bytes(values)
        order = pc.sort_indices(values).to_numpy()
        rank = np.empty(codes.size, np.int64)
        rank[order] = np.arange(codes.size)
        return rank[places], present[places]

    @property
    def nbytes(self) -> int:
        """Bytes of what codes stand for."""
        return sum(coder.nbytes for coder in self._coders.values())

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many rows come."""
        return sum(coder.growth_bytes(rows) for coder in self._coders.values())
