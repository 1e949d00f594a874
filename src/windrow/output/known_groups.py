"""Groups by their values, as codes; in a select, each different row is a group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.windows.codes import KeyCoder
from windrow.windows.kernels import renumber
from windrow.windows.order_bytes import order_bytes

__all__ = ["IDLE_GROUPS", "KnownGroups"]

# Groups that nothing refers to are forgotten when there may be this many more than those in use.
IDLE_GROUPS = 10_000
# The same in bytes, or this part of those in use if that is more.
IDLE_BYTES = 1 << 18
GROWTH_PARTS = 4

Codes = NDArray[np.int32]


class KnownGroups:
    """Codes of groups with columns of these types; without columns there is one, code 0."""

    def __init__(self, types: list[pa.DataType]) -> None:
        self._coder = KeyCoder(types) if types else None
        self._known = np.zeros(0, np.bool_)
        self._seen, self._stamp = np.zeros(0, np.int64), 1  # for distinct()
        self._in_use = 0  # how many were in use at the last scan
        self._bytes_in_use = 0

    def codes_of(self, columns: list[pa.Array], count: int) -> Codes:
        """The codes of `count` groups; a code is a group's for as long as it is known."""
        if self._coder is None or not count:
            return np.zeros(count, np.int32)
        codes = self._coder.acquire(columns)
        if self._coder.capacity > self._known.size:
            more = np.zeros(self._coder.capacity - self._known.size, np.bool_)
            self._known = np.concatenate([self._known, more])
        # A group is counted once for as long as anything refers to it.
        self._coder.release(codes[self._known[codes]])
        self._known[codes] = True
        return codes

    def columns(self, codes: Codes) -> list[pa.Array]:
        """The values of groups."""
        return [] if self._coder is None else self._coder.columns(codes)

    def repeated_columns(self, codes: Codes) -> list[pa.Array]:
        """The same of codes of which many are equal."""
        if self._coder is None or self._coder.whole_numbers is not None:
            return self.columns(codes)
        distinct, places = self.distinct(codes)
        index = pa.array(places)
        return [column.take(index) for column in self.columns(distinct)]

    def know(self, used: NDArray[np.bool_]) -> None:
        """These are known, although a step that failed may have forgotten them: they can be read.

        All but reading needs a new table: see Publisher.rewind.
        """
        known = np.zeros(max(self._known.size, used.size), np.bool_)
        known[: self._known.size] = self._known
        known[: used.size] |= used
        self._known = known

    def known(self) -> Codes:
        """The codes of all groups that are known."""
        if self._coder is None:
            return np.zeros(1, np.int32)
        return np.flatnonzero(self._known).astype(np.int32)

    def distinct(self, codes: Codes) -> tuple[Codes, Codes]:
        """The different groups in order of appearance, and which of them each one is."""
        highest = int(codes.max(initial=-1)) + 1
        if highest > self._seen.size:
            self._seen = np.zeros(2 * highest, np.int64)
        places, distinct = np.empty(codes.size, np.int32), np.empty(codes.size, np.int32)
        # Moved on first: a stamp that was used must not be used again, whatever happens.
        stamp, self._stamp = self._stamp, self._stamp + codes.size
        count = int(renumber(codes, self._seen, stamp, places, distinct))
        return distinct[:count], places

    def rank(self, codes: Codes) -> NDArray[np.int32]:
        """Numbers from 0 on that order groups by their values, NULL first."""
        if self._coder is None:
            return np.zeros(codes.size, np.int32)
        distinct, places = self.distinct(codes)
        order = _sorted(self._coder.columns(distinct))
        rank = np.empty(distinct.size, np.int32)
        rank[order] = np.arange(distinct.size)
        return rank[places]

    @property
    def are_many(self) -> bool:
        """Whether there are enough of them that it may pay to drop some.

        Looking through all of them at every step would cost more than the step: they are when they
        may have doubled.
        """
        if self._coder is None:
            return False
        are_many = self._coder.size > 2 * (self._in_use + IDLE_GROUPS)
        return are_many or self._are_large

    @property
    def _are_large(self) -> bool:
        """Whether they take enough bytes that it may pay to drop some."""
        growth = 0 if self._coder is None else self._coder.nbytes - self._bytes_in_use
        return growth > max(IDLE_BYTES, self._bytes_in_use // GROWTH_PARTS)

    @property
    def size(self) -> int:
        """How many are known."""
        return 1 if self._coder is None else self._coder.size

    @property
    def nbytes(self) -> int:
        """Bytes of their values and codes."""
        coded = 0 if self._coder is None else self._coder.nbytes
        return int(coded + self._known.nbytes + self._seen.nbytes)

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes that this many new ones may need."""
        if self._coder is None:
            return 0
        known = 0 if self._coder.size + rows <= self._known.size else 2 * self._known.nbytes
        return self._coder.growth_bytes(rows) + known

    def forget_others(self, used: NDArray[np.bool_]) -> None:
        """Forget groups that are not used, when they are most of them."""
        if self._coder is None:
            return
        known = self.known()
        in_use = np.zeros(self._known.size, np.bool_)
        in_use[: used.size] = used[: in_use.size]
        idle = known[~in_use[known]]
        self._in_use = known.size - idle.size
        if idle.size > known.size // 2 or self._are_large:
            self._coder.release(idle)
            self._known[idle] = False
        self._bytes_in_use = self._coder.nbytes


def _sorted(values: list[pa.Array]) -> NDArray[np.int64]:
    """The order by these columns: NULL first, NaN last (Arrow alone would put it next to NULL)."""
    columns: list[pa.Array] = []
    for column in values:
        if pa.types.is_floating(column.type):
            columns.append(pc.is_nan(column))
        columns.append(order_bytes(column) if pa.types.is_nested(column.type) else column)
    names = [str(number) for number in range(len(columns))]
    keys = [(name, "ascending", "at_start") for name in names]
    numbered = pa.Table.from_arrays(columns, names=names)
    return np.asarray(pc.sort_indices(numbered, sort_keys=keys))
