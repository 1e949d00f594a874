"""The rows of one window by slot: a place that a row keeps until it leaves, whatever moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.lanes import Vector
from windrow.operators.pairs.index_kernels import gather_words
from windrow.rows.prepared_rows import PreparedColumns
from windrow.windows.codes import Codes, KeyCoder, needs_codes
from windrow.windows.column_words import array_of_words, words_of_array
from windrow.windows.growing import enlarged, enlarging_bytes, next_size
from windrow.windows.kernels import EMPTY

__all__ = ["SMALLEST", "RowCodes", "SlotRows", "SlotWords", "summed_words"]

SMALLEST = 64
# Types whose values are words in Arrow too.
_OF_WORDS = (
    *(pa.int64(), pa.float64()),
    *(pa.timestamp("us", "UTC"), pa.timestamp("us"), pa.duration("us")),
)
Flags = NDArray[np.uint8]


class SlotWords(NamedTuple):
    """Words of a column: by slot, or, where there are numbers, at that of the slot less base."""

    words: NDArray[Any]
    number: NDArray[np.uint32]
    base: int


NO_NUMBERS = np.empty(0, np.uint32)


class SlotRows:
    """The columns of prepared rows but times and partitions: words, or codes of wider values.

    elsewhere: the names of those that are kept by others.
    """

    def __init__(self, columns: PreparedColumns, elsewhere: Sequence[str] = ()) -> None:
        listed = list(columns.schema)
        kept = (columns.keys, columns.groups, columns.negated_keys, columns.values)
        fields = [field for part in kept for field in listed[part]]
        self._types = {field.name: field.type for field in fields}
        self._fields = [field for field in fields if field.name not in elsewhere]
        self._place = {field.name: i for i, field in enumerate(self._fields)}
        self._coded = {
            field.name: KeyCoder([field.type]) for field in self._fields if needs_codes(field.type)
        }
        self._words: list[Vector] = [np.zeros(SMALLEST, np.int64) for _ in self._fields]
        # Flags of a column have entries once it had a NULL.
        self._valid: list[Flags] = [np.empty(0, np.uint8) for _ in self._fields]
        self._free: Codes = np.arange(SMALLEST, dtype=np.int32)[::-1].copy()
        self._free_count = SMALLEST

    @property
    def names(self) -> list[str]:
        """The columns that can be read."""
        return list(self._types)

    def append(self, rows: pa.RecordBatch) -> Vector:
        """Keep rows; returns their slots."""
        slots = self._take(rows.num_rows)
        for place, field in enumerate(self._fields):
            column = rows.column(field.name)
            if field.name in self._coded:
                self._words[place][slots] = self._coded[field.name].acquire([column])
            else:
                self._words[place][slots] = raw_words(column)
            if column.null_count:
                self._valid[place] = enlarged(self._valid[place], self.capacity, 1)
            if self._valid[place].size:
                self._valid[place][slots] = column.is_valid().to_numpy(zero_copy_only=False)
        return slots

    def release(self, slots: Vector) -> None:
        """Rows have left."""
        for name, coder in self._coded.items():
            coder.release(self._words[self._place[name]][slots].astype(np.int32))
        self._free[self._free_count : self._free_count + slots.size] = slots
        self._free_count += slots.size

    def words(self, name: str, slots: NDArray[np.int32]) -> Vector:
        """The words of a column of numbers."""
        out = np.empty(slots.size, np.int64)
        gather_words(self._words[self._place[name]], slots, out)
        return out

    def valid(self, name: str, slots: NDArray[np.int32]) -> Flags | None:
        """Where the column of numbers is not NULL; None where it never was."""
        place = self._place[name]
        if not self._valid[place].size:
            return None
        out = np.empty(slots.size, np.uint8)
        gather_words(self._valid[place], slots, out)
        return out

    def all_words(self, name: str) -> SlotWords | None:
        """The words of a column of numbers; None where some row had NULL."""
        place = self._place[name]
        return None if self._valid[place].size else SlotWords(self._words[place], NO_NUMBERS, 0)

    def column(self, name: str, slots: NDArray[np.int32]) -> pa.Array:
        """The column of rows, a row as often as its slot is named."""
        words = self.words(name, slots)
        if name in self._coded:
            codes, places = np.unique(words, return_inverse=True)
            return self._coded[name].columns(codes.astype(np.int32))[0].take(pa.array(places))
        valid = self.valid(name, slots)
        kind = self._types[name]
        if valid is None and kind in _OF_WORDS:
            return pa.Array.from_buffers(kind, words.size, [None, pa.py_buffer(words)])
        missing = np.zeros(0, np.bool_) if valid is None else valid == 0
        return array_of_words(words, missing, kind)

    @property
    def capacity(self) -> int:
        """Every slot is below this."""
        return self._free.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        texts = sum(coder.nbytes for coder in self._coded.values())
        return texts + sum(each.nbytes for each in self._arrays())

    def capacity_after(self, rows: int) -> int:
        """What every slot is below once so many rows came."""
        if rows <= self._free_count:
            return self.capacity
        return next_size(self.capacity, self.capacity + rows - self._free_count)

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many rows come."""
        texts = sum(coder.growth_bytes(rows) for coder in self._coded.values())
        return texts + enlarging_bytes(self._arrays(), self.capacity_after(rows))

    def _arrays(self) -> list[NDArray[Any]]:
        """All that has an entry for each slot."""
        return [*self._words, *(each for each in self._valid if each.size), self._free]

    def _take(self, count: int) -> Vector:
        if count > self._free_count:
            self._lengthen(self.capacity_after(count))
        self._free_count -= count
        taken = self._free[self._free_count : self._free_count + count][::-1]
        return taken.astype(np.int64)

    def _lengthen(self, capacity: int) -> None:
        """Have slots below this; those that were free before are taken first."""
        before, count = self.capacity, self._free_count
        more = capacity - before
        self._words = [enlarged(each, capacity) for each in self._words]
        self._valid = [enlarged(each, capacity, 1) if each.size else each for each in self._valid]
        free = enlarged(self._free, capacity)
        free[more : more + count] = free[:count].copy()
        free[:more] = np.arange(before, capacity)[::-1]
        self._free, self._free_count = free, count + more


class RowCodes:
    """One code for several columns of each row, kept by slot."""

    def __init__(self, types: Sequence[pa.DataType], *, skips_null: bool) -> None:
        self._coder = KeyCoder(types)
        self._skips_null = skips_null
        self._codes: Codes = np.full(SMALLEST, EMPTY, np.int32)

    def append(self, slots: Vector, columns: Sequence[pa.Array], capacity: int) -> None:
        """Rows have come; slots are below the capacity."""
        self._codes = enlarged(self._codes, capacity, EMPTY)
        if self._skips_null and columns[0].null_count:
            self._codes[slots] = EMPTY
            present = columns[0].is_valid()
            slots = slots[present.to_numpy(zero_copy_only=False)]
            columns = [column.filter(present) for column in columns]
        self._codes[slots] = self._coder.acquire(columns)

    def release(self, slots: Vector) -> None:
        """Rows have left."""
        self._coder.release(self._codes[slots])
        self._codes[slots] = EMPTY

    def of(self, slots: NDArray[np.int32]) -> Codes:
        """The codes of rows."""
        out = np.empty(slots.size, np.int32)
        gather_words(self._codes, slots, out)
        return out

    @property
    def coder(self) -> KeyCoder:
        """The table of codes, which rows count in."""
        return self._coder

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._coder.nbytes + self._codes.nbytes


def raw_words(column: pa.Array) -> Vector:
    """The values as words; doubles with all their bits, which a key would not need."""
    if column.type == pa.int64() and not column.null_count:
        words: Vector = column.to_numpy()
        return words
    if not pa.types.is_floating(column.type):
        return words_of_array(column)[0]
    if column.null_count:
        column = column.fill_null(0.0)
    values: NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values.view(np.int64)


def summed_words(column: pa.Array) -> tuple[Vector, Flags | None]:
    """What a sum takes of a column, and where it is not NULL (None: nowhere is)."""
    valid = None
    if column.null_count:
        valid = column.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)
    kind = column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not is_number:  # only COUNT takes others
        return np.zeros(len(column), np.int64), valid
    return raw_words(column), valid
