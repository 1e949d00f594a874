"""Values, and keys of several, to dense codes, recycled when their last user leaves.

Purpose: arrays indexed by code replace hash tables keyed by values in every later loop.
Time: one probe a row for words of 64 bits; one dictionary look-up per different text of a batch.
Space: 12 bytes a slot at load <= 1/2, 16 a code.

Each column of a key becomes a word of 64 bits or a text code; two or more are folded pairwise: the
codes of the first two make a word, whose code is folded with that of the third, and so on. Only the
last table counts rows; an inner table counts the outer codes that stand on it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.windows import kernels
from windrow.windows.column_words import NO_FLAGS, Flags, array_of_words
from windrow.windows.growing import enlarged, enlarging_bytes, next_size
from windrow.windows.known_texts import KnownTexts
from windrow.windows.value_bytes import bytes_of_values, is_coded, values_of_bytes
from windrow.windows.wide_decimals import is_wide_decimal, wide_of_words, words_of_wide
from windrow.windows.word_codes import (
    NO_CODE,
    SMALLEST_TABLE,
    Codes,
    WordCodes,
    WordTables,
    release,
    retain,
)

__all__ = [
    "NO_CODE",
    "NO_FLAGS",
    "Codes",
    "Flags",
    "KeyCoder",
    "TextCodes",
    "WordCodes",
    "WordTables",
    "needs_codes",
]

# A text that was not known: itself, if it is not long, and its entries.
NEW_TEXT_BYTES = 256
_HIGH = 32
_LOW_MASK = (1 << _HIGH) - 1
_TEXT = pa.string()


def needs_codes(kind: pa.DataType) -> bool:
    """Whether a value of the type is no word of 64 bits, so that it is known by a code.

    >>> needs_codes(pa.string()), needs_codes(pa.decimal128(38, 2)), needs_codes(pa.int64())
    (True, True, False)
    """
    return is_coded(kind) or is_wide_decimal(kind)


class TextCodes:
    """Codes of texts; Arrow finds the different texts of a batch, so Python sees only those.

    Values of another type (bytes, lists, structs, maps) are coded by their bytes.

    >>> codes = TextCodes(pa.list_(pa.int64()))
    >>> codes.encode(pa.array([[1, 2], None, [1, 2]])).tolist()
    [0, 1, 0]
    >>> codes.texts(np.array([1, 0], np.int32)).to_pylist()
    [None, [1, 2]]
    """

    def __init__(self, kind: pa.DataType = _TEXT) -> None:
        self._kind = kind
        self._is_text = kind == _TEXT
        self._code_of_text: dict[str | bytes | None, int] = {}
        self._texts: list[str | bytes | None] = []
        self._free: list[int] = []
        self._forgotten: list[int] = []  # codes that can still be read, until the next encode()
        self._references = np.zeros(SMALLEST_TABLE, np.int32)
        self._seen, self._stamp = np.zeros(SMALLEST_TABLE, np.int64), 1  # for texts()
        self._text_bytes = 0
        self._often = KnownTexts()

    def encode(self, texts: pa.Array) -> Codes:
        """The code of each text; NULL is a text of its own."""
        self._reuse_forgotten()
        if not self._is_text:
            return self._looked_up(bytes_of_values(texts))
        codes = self._often.codes(texts)
        if codes is None:
            return self._looked_up(texts)
        places = np.flatnonzero(codes == NO_CODE)
        if places.size:
            codes[places] = self._looked_up(texts.take(pa.array(places)))
        return codes

    def _looked_up(self, texts: pa.Array) -> Codes:
        encoded = pc.dictionary_encode(texts, null_encoding="encode")
        table = np.fromiter(
            (self._code(text) for text in encoded.dictionary.to_pylist()),
            np.int32,
            len(encoded.dictionary),
        )
        if not len(texts):
            return np.empty(0, np.int32)
        if self._is_text:
            self._often.learn(encoded.dictionary, table, texts)
        codes: Codes = table[encoded.indices.to_numpy(zero_copy_only=False)]
        return codes

    def encode_column(self, column: pa.Array) -> Codes:
        """The code of each text of a column."""
        return self.encode(column)

    def acquire(self, column: pa.Array) -> Codes:
        """The code of each text of a column, with one more user."""
        codes = self.encode(column)
        retain(codes, self._references)
        return codes

    def retain(self, codes: Codes) -> Codes:
        """Count one more user of each code; returns the codes that had none, each once."""
        return retain(codes, self._references)

    def release(self, codes: Codes) -> Codes:
        """Count one user less of each code; returns the codes that have none left.

        They keep their meaning until `forget` makes them free for reuse.
        """
        return release(codes, self._references)

    def forget(self, codes: Codes) -> None:
        """Free codes that have no user; until the next encode() they can still be read."""
        self._often.forget(codes)
        for code in codes.tolist():
            del self._code_of_text[self._texts[code]]
        self._forgotten += codes.tolist()

    def recount(self, codes: Codes) -> None:
        """These codes have as many users as they are named here; those without one are freed."""
        used = np.fromiter(self._code_of_text.values(), np.int32, len(self._code_of_text))
        counted = np.bincount(codes, minlength=self._references.size)
        self._references = counted.astype(np.int32)
        self.forget(used[self._references[used] == 0])

    def _reuse_forgotten(self) -> None:
        while self._forgotten:
            code = self._forgotten.pop()
            self._text_bytes -= _size(self._texts[code])
            self._texts[code] = None
            self._free.append(code)

    def texts(self, codes: Codes) -> pa.Array:
        """The texts of codes."""
        self._seen = enlarged(self._seen, self._references.size)
        places, different = np.empty(codes.size, np.int32), np.empty(codes.size, np.int32)
        # Moved on first: a stamp that was used must not be used again, whatever happens.
        stamp, self._stamp = self._stamp, self._stamp + codes.size
        count = int(kernels.renumber(codes, self._seen, stamp, places, different))
        # Python sees each text once, however often it is there.
        listed = [self._texts[code] for code in different[:count].tolist()]
        if self._is_text:
            return pa.array(listed, _TEXT).take(pa.array(places))
        return values_of_bytes(pa.array(listed, pa.binary()), self._kind).take(pa.array(places))

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._references.size

    @property
    def most_users(self) -> int:
        """No code has more users."""
        return int(self._references.max())

    @property
    def size(self) -> int:
        """Codes in use."""
        return len(self._code_of_text)

    @property
    def nbytes(self) -> int:
        """Bytes held; a string costs some 56 bytes on top of its text, its two entries 100 more."""
        arrays = self._references.nbytes + self._seen.nbytes
        arrays += self._often.nbytes
        return arrays + self._text_bytes + 156 * (len(self._code_of_text) + len(self._forgotten))

    def capacity_after(self, rows: int) -> int:
        """What every code is below once so many texts came, at most."""
        needed = len(self._texts) + max(0, rows - len(self._free) - len(self._forgotten))
        return self.capacity if needed <= self.capacity else next_size(self.capacity, needed)

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many texts come, at most: none is known."""
        arrays = (self._references, self._seen)
        more = enlarging_bytes(arrays, self.capacity_after(rows)) + rows * NEW_TEXT_BYTES
        return more + self._often.growth_bytes(rows)

    def _code(self, text: str | bytes | None) -> int:
        code = self._code_of_text.get(text)
        if code is None:
            code = self._free.pop() if self._free else len(self._texts)
            if code == len(self._texts):
                self._texts.append(text)
            if code >= self._references.size:
                size = next_size(self._references.size, code + 1)
                self._references = enlarged(self._references, size)
            self._texts[code] = text
            self._code_of_text[text] = code
            self._text_bytes += _size(text)
        return code


def _size(text: str | bytes | None) -> int:
    return len(text.encode() if isinstance(text, str) else text or b"")


class KeyCoder:
    """Codes of keys with columns of these Arrow types; NULL is a value like any other.

    >>> coder = KeyCoder([pa.int64(), pa.string()])
    >>> coder.acquire([pa.array([1, 1, None]), pa.array(["a", "b", "a"])]).tolist()
    [0, 1, 2]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._given = list(types)
        # Of each column that is given, the columns of one word that stand for it.
        self._types = [part for kind in types for part in _word_types(kind)]
        self._is_wide = len(self._types) > len(self._given)
        self._columns: list[WordCodes | TextCodes] = [
            TextCodes(kind) if is_coded(kind) else WordCodes() for kind in self._types
        ]
        self._pairs = [WordCodes() for _ in self._types[1:]]
        self._last = self._pairs[-1] if self._pairs else self._columns[0]

    def acquire(self, columns: Sequence[pa.Array]) -> Codes:
        """The code of each row's key, counted once for the row."""
        if self._is_wide:
            columns = [part for column in columns for part in _word_columns(column)]
        if not self._pairs:
            return self._columns[0].acquire(columns[0])
        code = self._column_codes(0, columns[0])
        for level, pairs in enumerate(self._pairs, 1):
            right = self._column_codes(level, columns[level])
            code = pairs.encode((code.astype(np.int64) << _HIGH) | right, NO_FLAGS)
        self._retain(len(self._pairs), code)
        return code

    def retain(self, codes: Codes) -> None:
        """Count one row more of each code."""
        self._retain(len(self._pairs), codes)

    def release(self, codes: Codes) -> Codes:
        """Count one row less of each code; returns the codes without rows, free for other keys."""
        return self._release(len(self._pairs), codes)

    def recount(self, codes: Codes) -> None:
        """Count these codes once each, whatever was counted before, and release all others."""
        for level in range(len(self._pairs), 0, -1):
            self._pairs[level - 1].recount(codes)
            # An inner table counts the outer codes that stand on it, each of them once.
            left, right = self._parts(level, np.unique(codes))
            self._columns[level].recount(right)
            codes = left
        self._columns[0].recount(codes)

    def columns(self, codes: Codes, wanted: Container[int] | None = None) -> list[pa.Array]:
        """The key columns of codes; wanted: only those with these numbers."""
        if not self._is_wide:
            return self._word_columns(codes, wanted)
        parts: set[int] = set()
        chosen: list[pa.DataType] = []
        first = 0
        for number, kind in enumerate(self._given):
            end = first + len(_word_types(kind))
            if wanted is None or number in wanted:
                chosen.append(kind)
                parts.update(range(first, end))
            first = end
        words = iter(self._word_columns(codes, parts))
        return [
            wide_of_words(next(words), next(words), kind) if is_wide_decimal(kind) else next(words)
            for kind in chosen
        ]

    def _word_columns(self, codes: Codes, wanted: Container[int] | None) -> list[pa.Array]:
        out: list[pa.Array] = []
        for level in range(len(self._pairs), 0, -1):
            codes, right = self._parts(level, codes)
            if wanted is None or level in wanted:
                out.append(self._column_values(level, right))
        if wanted is None or 0 in wanted:
            out.append(self._column_values(0, codes))
        return out[::-1]

    @property
    def whole_numbers(self) -> WordCodes | None:
        """The codes of keys that are one whole number; None where keys are anything else."""
        is_one = len(self._types) == 1 and pa.types.is_signed_integer(self._types[0])
        found = self._columns[0] if is_one else None
        return found if isinstance(found, WordCodes) else None

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._last.capacity

    @property
    def most_users(self) -> int:
        """No key is that of more rows."""
        return self._last.most_users

    @property
    def size(self) -> int:
        """Keys in use."""
        return self._last.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(codes.nbytes for codes in (*self._columns, *self._pairs))

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        return sum(table.growth_bytes(rows) for table in (*self._columns, *self._pairs))

    def capacity_after(self, rows: int) -> int:
        """What every code is below once so many rows came, at most."""
        return self._last.capacity_after(rows)

    def _retain(self, level: int, codes: Codes) -> None:
        if level == 0:
            self._columns[0].retain(codes)
            return
        left, right = self._parts(level, self._pairs[level - 1].retain(codes))
        self._columns[level].retain(right)
        self._retain(level - 1, left)

    def _release(self, level: int, codes: Codes) -> Codes:
        table = self._pairs[level - 1] if level else self._columns[0]
        idle = table.release(codes)
        if level:
            left, right = self._parts(level, idle)
            column = self._columns[level]
            column.forget(column.release(right))
            self._release(level - 1, left)
        table.forget(idle)
        return idle

    def _parts(self, level: int, codes: Codes) -> tuple[Codes, Codes]:
        words, _ = self._pairs[level - 1].words(codes)
        return (words >> _HIGH).astype(np.int32), (words & _LOW_MASK).astype(np.int32)

    def _column_codes(self, level: int, column: pa.Array) -> Codes:
        return self._columns[level].encode_column(column)

    def _column_values(self, level: int, codes: Codes) -> pa.Array:
        table = self._columns[level]
        if isinstance(table, TextCodes):
            return table.texts(codes)
        return array_of_words(*table.words(codes), self._types[level])


def _word_types(kind: pa.DataType) -> list[pa.DataType]:
    return [pa.int64(), pa.int64()] if is_wide_decimal(kind) else [kind]


def _word_columns(column: pa.Array) -> list[pa.Array]:
    """The column as columns of one word or text; of two words, the high one has the NULLs."""
    if not is_wide_decimal(column.type):
        return [column]
    words = words_of_wide(column)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return [pa.array(words[:, 0], mask=missing), pa.array(words[:, 1])]
