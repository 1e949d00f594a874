"""The rows of a relation whose changes have numbers: found without a look-up, equal ones apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.relations.order_words import Matrix
from windrow.operators.relations.row_words import RowWords
from windrow.windows.codes import Codes

__all__ = ["NumberedRows", "places_of"]

_SMALLEST = 64


def places_of(numbers: Codes) -> Codes | slice:
    """Where numbers are in arrays: as a slice where they follow each other, as most do."""
    if not numbers.size or numbers[-1] - numbers[0] != numbers.size - 1:
        return numbers
    if not bool((numbers[1:] > numbers[:-1]).all()):
        return numbers
    return slice(int(numbers[0]), int(numbers[-1]) + 1)


class NumberedRows:
    """words[number]: the values of a row that is there.

    >>> rows = NumberedRows([pa.int64()])
    >>> rows.hold(np.array([3, 1], np.int32), [pa.array([30, 10])])
    >>> rows.columns(np.array([1], np.int32))[0].to_pylist()
    [10]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._form = RowWords(types)
        self._words: Matrix = np.empty((_SMALLEST, self._form.width), np.int64)
        self._end = 0  # every number so far is below it
        self._count = 0

    def hold(self, numbers: Codes, columns: Sequence[pa.Array]) -> None:
        """These rows are there from now on."""
        if not numbers.size:
            return
        rows = self._form.encode(columns, numbers.size)
        self._end = max(self._end, int(numbers.max()) + 1)
        if self._end > self.capacity:
            words = np.empty((1 << (self._end - 1).bit_length(), self._form.width), np.int64)
            words[: self.capacity] = self._words
            self._words = words
        self._words[places_of(numbers)] = rows
        self._count += numbers.size
        self._form.retain(rows)

    def forget(self, numbers: Codes) -> None:
        """These rows are not there any more; until the next hold() they can still be read."""
        self._count -= numbers.size
        if self._form.has_texts:
            self._form.release(self._words[numbers])

    def columns(self, numbers: Codes, places: Iterable[int] | None = None) -> list[pa.Array]:
        """The rows with these numbers; places: only these columns."""
        return self._form.columns(self._words.take(numbers, axis=0), places)

    @property
    def capacity(self) -> int:
        """Every number is below this."""
        return int(self._words.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._words.nbytes + self._form.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        return self._form.growth_bytes(rows) + self.grown_bytes(self.nbytes, rows)

    def grown_bytes(self, nbytes: int, rows: int) -> int:
        """Peak of additional bytes of arrays by number that have so many, while rows are added."""
        # Numbers are used again, so that none is above the rows that were there at once.
        most = max(self._end, self._count + rows)
        if most <= self.capacity:
            return 0
        doublings = (-(-most // self.capacity) - 1).bit_length()
        # The arrays before the last doubling are there together with those after it.
        return (nbytes << doublings) * 3 // 2
