"""What follows the rows of a select, one class for each form: changes from events of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.operators.select import followed_kernels as kernels
from windrow.operators.select.row_changes import FoundChanges
from windrow.rows.prepared_rows import PreparedRows
from windrow.windows.buffer import ColumnWindow
from windrow.windows.codes import Codes, KeyCoder
from windrow.windows.growing import enlarged, enlarging_bytes

__all__ = [
    "DifferentRows",
    "Follower",
    "JoinedPairs",
    "UnmatchedRows",
    "WindowEvents",
    "WindowRows",
]

Vector = NDArray[np.int64]
NOBODY = -1  # before the number of any row
NULL_CODE = 0  # of a key with NULL in it: no row on the right has it
SMALLEST_ROOM = 1024
# There is room for so many times the changes that events had in the step before.
SPARE = 1.25


class WindowEvents(NamedTuple):
    """Rows that enter (1) and leave (-1) a window, in time order, by their places.

    codes, links: of the row at each place. base: the number of the row at place 0.
    """

    at: Vector
    row: Vector
    sign: NDArray[np.int8]
    codes: Codes
    links: Vector
    base: int


class Chains(NamedTuple):
    """newest: by code and side the newest row. heads: by side the first row that has not left."""

    newest: Vector
    heads: Vector


class Follower(Protocol):
    """What an operator asks: left and right are its windows, which may be one."""

    # By input, whether rows of a key are chained by links.
    linked: tuple[bool, ...]

    def codes(self, input_index: int, rows: PreparedRows) -> Codes:
        """A code for each row that comes."""

    def release(self, codes: Codes) -> None:
        """Rows with these codes have left."""

    def follow(self, events: Sequence[WindowEvents]) -> FoundChanges:
        """What comes and goes, in time order."""

    def live(self, windows: Sequence[WindowEvents], columns: Sequence[ColumnWindow]) -> Pairs:
        """The places of the rows that make up the result now, on the left and on the right."""

    def key_columns(self, codes: Codes) -> list[pa.Array]:
        """The keys that codes of rows stand for."""

    @property
    def nbytes(self) -> int:
        """Bytes held, next to the windows."""

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many rows come."""


Pairs = tuple[NDArray[np.int32], NDArray[np.int32]]


class WindowRows:
    """All rows of one window."""

    linked: tuple[bool, ...] = (False,)

    def codes(self, input_index: int, rows: PreparedRows) -> Codes:
        """Nothing has to be known of a row."""
        del input_index
        return np.zeros(rows.size, np.int32)

    def release(self, codes: Codes) -> None:
        """Nothing was held."""

    def follow(self, events: Sequence[WindowEvents]) -> FoundChanges:
        """Events of the window are the changes."""
        (each,) = events
        places = each.row.astype(np.int32)
        return FoundChanges(each.at, each.sign, places, places)

    def live(self, windows: Sequence[WindowEvents], columns: Sequence[ColumnWindow]) -> Pairs:
        """All rows held."""
        del windows
        places = np.arange(columns[0].head, columns[0].tail, dtype=np.int32)
        return places, places

    def key_columns(self, codes: Codes) -> list[pa.Array]:
        """There is no key."""
        del codes
        return []

    nbytes = 0

    def growth_bytes(self, rows: int) -> int:
        """Nothing grows."""
        del rows
        return 0


class DifferentRows:
    """Different rows of one window."""

    linked: tuple[bool, ...] = (False,)

    def __init__(self, names: list[str], types: list[pa.DataType]) -> None:
        self._names = names
        self._coder = KeyCoder(types)
        self._count = np.zeros(0, np.int32)

    def codes(self, input_index: int, rows: PreparedRows) -> Codes:
        """Equal rows have one code."""
        del input_index
        codes = self._coder.acquire([rows.batch.column(name) for name in self._names])
        self._count = enlarged(self._count, self._coder.capacity)
        return codes

    def release(self, codes: Codes) -> None:
        """Rows have left."""
        self._coder.release(codes)

    def follow(self, events: Sequence[WindowEvents]) -> FoundChanges:
        """The first row of its kind comes, the last one goes."""
        (each,) = events
        out, progress = FoundChanges.room(each.at.size), _progress()
        kernels.follow_distinct(each, self._count, out, progress)
        return out.first(int(progress[kernels.USED]))

    def live(self, windows: Sequence[WindowEvents], columns: Sequence[ColumnWindow]) -> Pairs:
        """One row of each kind."""
        del windows
        head, tail = columns[0].head, columns[0].tail
        of_code = np.full(self._count.size, NOBODY, np.int32)
        of_code[columns[0].codes[head:tail]] = np.arange(head, tail, dtype=np.int32)
        places = of_code[of_code != NOBODY]
        return places, places

    def key_columns(self, codes: Codes) -> list[pa.Array]:
        """There is no key."""
        del codes
        return []

    @property
    def nbytes(self) -> int:
        """Bytes of codes and counts."""
        return self._coder.nbytes + self._count.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many rows come."""
        count = enlarging_bytes([self._count], self._coder.capacity_after(rows))
        return self._coder.growth_bytes(rows) + count


class KeyedRows:
    """Keys of two windows as codes, and the rows of each key in a chain."""

    # What is known of a key on the right that has no row there.
    _nothing = NOBODY

    def __init__(self, types: list[pa.DataType]) -> None:
        self._coder = KeyCoder(types) if types else None
        self._chains = Chains(np.empty((0, 2), np.int64), np.zeros(2, np.int64))
        self._changes_an_event = 1.0  # room for so many is made

    def release(self, codes: Codes) -> None:
        """Rows have left."""
        if self._coder is not None:
            self._coder.release(codes)

    def key_columns(self, codes: Codes) -> list[pa.Array]:
        """The keys of rows that have one."""
        return [] if self._coder is None else self._coder.columns(codes)

    @property
    def nbytes(self) -> int:
        """Bytes of codes and chains."""
        coder = 0 if self._coder is None else self._coder.nbytes
        return coder + self._chains.newest.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many rows come."""
        if self._coder is None:
            return 0
        chains = enlarging_bytes([self._chains.newest], self._coder.capacity_after(rows) + 1)
        return self._coder.growth_bytes(rows) + chains

    def _acquired(self, columns: list[pa.Array], size: int) -> Codes:
        if self._coder is None:
            return np.zeros(size, np.int32)
        return self._coder.acquire(columns)

    def _reserve(self, codes: int) -> None:
        newest, heads = self._chains
        before = newest.shape[0]
        newest = enlarged(newest, codes, NOBODY)
        newest[before:, 1] = self._nothing
        self._chains = Chains(newest, heads)

    def _followed(
        self, kernel: Callable[..., bool], events: Sequence[WindowEvents]
    ) -> FoundChanges:
        left, right = events
        count = left.at.size + right.at.size
        out = FoundChanges.room(int(self._changes_an_event * count) + SMALLEST_ROOM)
        progress = _progress()
        while not kernel(left, right, self._chains, out, progress):
            out = out.doubled()
        used = int(progress[kernels.USED])
        if count >= SMALLEST_ROOM:
            self._changes_an_event = SPARE * used / count
        return out.first(used)


class JoinedPairs(KeyedRows):
    """Pairs of rows of two windows with equal keys."""

    linked: tuple[bool, ...] = (True, True)

    def codes(self, input_index: int, rows: PreparedRows) -> Codes:
        """Equal keys have one code; no key is NULL."""
        del input_index
        codes = self._acquired(rows.keys, rows.size)
        self._reserve(1 if self._coder is None else self._coder.capacity)
        return codes

    def follow(self, events: Sequence[WindowEvents]) -> FoundChanges:
        """A row that enters or leaves brings or takes its pairs."""
        return self._followed(kernels.follow_pairs, events)

    def live(self, windows: Sequence[WindowEvents], columns: Sequence[ColumnWindow]) -> Pairs:
        """The pairs of all rows on the left."""
        left, right = windows
        head, tail, size = columns[0].head, columns[0].tail, SMALLEST_ROOM
        while True:
            out = np.empty(size, np.int32), np.empty(size, np.int32)
            used = int(kernels.list_pairs(head, tail, left.codes, right, self._chains, *out))
            if used <= size:
                return out[0][:used], out[1][:used]
            size = used


class UnmatchedRows(KeyedRows):
    """Rows of the left window whose key no row of the right one has."""

    linked: tuple[bool, ...] = (True, False)
    _nothing = 0

    def __init__(self, types: list[pa.DataType], names: tuple[str, ...], negated: int) -> None:
        super().__init__(types)
        self._names, self._negated = names, negated

    def codes(self, input_index: int, rows: PreparedRows) -> Codes:
        """Equal keys have one code, and those with NULL in them one that nobody has."""
        codes = self._codes(input_index, rows) if self._coder is not None else None
        self._reserve(2 if self._coder is None else self._coder.capacity + 1)
        return np.ones(rows.size, np.int32) if codes is None else codes

    def release(self, codes: Codes) -> None:
        """Rows have left."""
        super().release(codes[codes != NULL_CODE] - 1)

    def follow(self, events: Sequence[WindowEvents]) -> FoundChanges:
        """A row comes with the last of its matches that goes, and the other way round."""
        return self._followed(kernels.follow_unmatched, events)

    def live(self, windows: Sequence[WindowEvents], columns: Sequence[ColumnWindow]) -> Pairs:
        """Rows held on the left without a match."""
        del windows
        head, tail = columns[0].head, columns[0].tail
        matches = self._chains.newest[columns[0].codes[head:tail], 1]
        places = (head + np.flatnonzero(matches == 0)).astype(np.int32)
        return places, places

    def key_columns(self, codes: Codes) -> list[pa.Array]:
        """The keys of rows on the right."""
        return super().key_columns(codes - 1)

    def _codes(self, input_index: int, rows: PreparedRows) -> Codes:
        assert self._coder is not None
        if input_index == self._negated:
            return self._coder.acquire(rows.keys[: len(self._names)]) + 1
        columns = [rows.batch.column(name) for name in self._names]
        if not any(column.null_count for column in columns):
            return self._coder.acquire(columns) + 1
        present = np.logical_and.reduce(
            [pc.is_valid(column).to_numpy(zero_copy_only=False) for column in columns]
        )
        codes = np.full(rows.size, NULL_CODE, np.int32)
        mask = pa.array(present)
        codes[present] = self._coder.acquire([column.filter(mask) for column in columns]) + 1
        return codes


def _progress() -> Vector:
    return np.zeros(kernels.PROGRESS_ENTRIES, np.int64)
