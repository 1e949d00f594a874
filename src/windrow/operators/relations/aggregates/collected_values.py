"""All values of groups, in order: COLLECT_LIST, COLLECT_SET and LISTAGG over rows that come and go.

Purpose: the values of a group as one array or text, whatever comes and goes.
Order: by the keys of the call, else by the times of the rows; then by the values themselves.
Time: O(log n) a change, and O(values of the group) for each instant at which it changes.
Space: the different values with their keys, and an entry for each in its group; bounded by
    MAX_COLLECTED_BYTES a group.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.errors import DataError
from windrow.operators.relations.aggregates.places import Places
from windrow.operators.relations.row_codes import RowCodes
from windrow.rows.nested_columns import list_of, struct_of
from windrow.windows.codes import Codes
from windrow.windows.order_bytes import order_bytes

__all__ = ["MAX_COLLECTED_BYTES", "CollectedValues"]

Vector = NDArray[np.int64]
# What the values of one group may take, with their keys.
MAX_COLLECTED_BYTES = 16 << 20
_ENTRY_BYTES = 120
_TURNED = bytes(255 - byte for byte in range(256))


@dataclass
class _Group:
    """The entries of a group by key, how often each is there, and their bytes."""

    entries: list[tuple[bytes, int]] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    nbytes: int = 0


class CollectedValues:
    """The values of each group.

    types: of the value, then of the keys; directions: a letter for each key. is_set: equal values
    count once. kind: the Arrow type of what is given: a list, or text with `separator` between.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        directions: str,
        kind: pa.DataType,
        separator: str,
        *,
        is_set: bool,
    ) -> None:
        self._codes = RowCodes(types)
        self._kind, self._separator, self._is_set = kind, separator, is_set
        self._directions = directions
        self._keys: dict[int, bytes] = {}
        self._users = np.zeros(0, np.int64)
        self._groups: dict[int, _Group] = {}

    def advance(
        self, groups: Codes, weight: Vector, columns: Sequence[pa.Array], places: Places
    ) -> pa.Array:
        """What each group has before the changes, then at each place."""
        codes = self._coded(columns)
        states = [self._shown(int(group)) for group in places.groups.tolist()]
        found: list[list[int]] = [[] for _ in range(places.size)]
        last, place_of = places.last_change.tolist(), places.place.tolist()
        rows = zip(groups.tolist(), weight.tolist(), codes.tolist(), strict=True)
        for change, (group, added, code) in enumerate(rows):
            if code >= 0:
                self._add(group, code, added)
            place = place_of[change]
            if last[place] == change:
                found[place] = self._shown(group)
        values = self._values([*states, *found])
        used = np.unique(codes[codes >= 0]).astype(np.int32)
        for freed in self._codes.release(used, self._users[used] != 0).tolist():
            self._keys.pop(freed, None)
        return values

    def _coded(self, columns: Sequence[pa.Array]) -> Vector:
        """The code of each value, -1 for NULL, which is left out."""
        present = columns[0].is_valid().to_numpy(zero_copy_only=False)
        codes = np.full(present.size, -1, np.int64)
        rows = np.flatnonzero(present)
        taken = [column.take(pa.array(rows)) for column in columns]
        own, fresh = self._codes.acquire(taken, rows.size)
        codes[rows] = own
        if self._codes.capacity > self._users.size:
            self._users = np.pad(self._users, (0, self._codes.capacity - self._users.size))
        if fresh.size:
            index = pa.array(fresh)
            keys = self._sort_keys([column.take(index) for column in taken])
            self._keys.update(zip(own[fresh].tolist(), keys, strict=True))
        return codes

    def _sort_keys(self, columns: Sequence[pa.Array]) -> list[bytes]:
        parts = [
            [_directed(data, letter) for data in _parts(column)]
            for column, letter in zip(columns[1:], self._directions, strict=True)
        ]
        parts.append(_parts(columns[0]))
        return [b"".join(row) for row in zip(*parts, strict=True)]

    def _add(self, group: int, code: int, weight: int) -> None:
        state = self._groups.setdefault(group, _Group())
        before = state.counts.get(code, 0)
        after = before + weight
        key = self._keys[code]
        entry = (key, code)
        if before == 0:
            state.entries.insert(bisect_left(state.entries, entry), entry)
            self._users[code] += 1
        state.nbytes += weight * (len(key) + _ENTRY_BYTES)
        if after == 0:
            del state.entries[bisect_left(state.entries, entry)]
            state.counts.pop(code, None)
            self._users[code] -= 1
        else:
            state.counts[code] = after
        if not state.counts:
            del self._groups[group]
        elif state.nbytes > MAX_COLLECTED_BYTES:
            raise DataError(
                "WD720",
                f"the values that are collected for a group take more than {MAX_COLLECTED_BYTES} "
                "bytes",
                hint="collect fewer: a shorter window, more groups, or a condition in FILTER",
            )

    def _shown(self, group: int) -> list[int]:
        """The codes of the values that a group has now, in order."""
        state = self._groups.get(group)
        if state is None:
            return []
        if self._is_set:
            return [code for _, code in state.entries if state.counts[code] > 0]
        counts = state.counts
        return [code for _, code in state.entries for _ in range(counts[code])]

    def _values(self, states: list[list[int]]) -> pa.Array:
        lengths = np.fromiter(map(len, states), np.int64, len(states))
        flat = np.fromiter((code for state in states for code in state), np.int32, lengths.sum())
        values = self._codes.columns(flat)[0]
        if pa.types.is_list(self._kind):
            return list_of(self._kind, lengths, [values], None)
        texts, place = values.to_pylist(), 0
        joined: list[str | None] = []
        for length in lengths.tolist():
            joined.append(self._separator.join(texts[place : place + length]) if length else None)
            place += length
        return pa.array(joined, self._kind)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        entries = sum(state.nbytes for state in self._groups.values())
        keys = sum(map(len, self._keys.values())) + _ENTRY_BYTES * len(self._keys)
        return self._codes.nbytes + self._users.nbytes + entries + keys

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        return self._codes.growth_bytes(changes) + 4 * _ENTRY_BYTES * changes


def _parts(column: pa.Array) -> list[bytes]:
    """Bytes of each value that order as it does, NULL first, and that end by themselves."""
    one = struct_of(pa.struct([("", column.type)]), [column], None, len(column))
    found: list[bytes] = order_bytes(one).to_pylist()
    return found


def _directed(data: bytes, letter: str) -> bytes:
    """The bytes for a key that is ascending or descending, with NULL first or last."""
    is_null = data[0] == 0
    if is_null:
        return b"\x00" if letter in "ac" else b"\x02"
    return b"\x01" + (data[1:].translate(_TURNED) if letter in "cd" else data[1:])
