"""The largest or smallest values of groups from which values may leave again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.ranks import ranks_of_values, values_of_ranks
from windrow.operators.relations.aggregates.extremes import kernels
from windrow.operators.relations.aggregates.extremes.coded_values import CodedValues
from windrow.operators.relations.aggregates.places import Places
from windrow.windows.codes import NO_CODE, NO_FLAGS, Codes, Flags
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import is_wide_decimal

__all__ = ["ExtremeValues"]

Vector = NDArray[np.int64]
SMALLEST_HEAP = 1 << 6
NODE_BYTES = 52  # with its slots


class HeapNodes(NamedTuple):
    """Values of groups: the table that finds them, and the heaps (see kernels.py).

    word: the value, as a rank or a code. rank: what orders it; the words themselves where these
    do. counters: nodes in use, next fresh one, free ones stacked.
    """

    slots: Codes
    word: Vector
    rank: Vector
    owner: Codes
    times: Vector
    child: Codes
    following: Codes
    before: Codes
    free: Codes
    counters: Vector


class TieBreak(NamedTuple):
    """Letters of coded values, by code, and how many nodes have each; nothing for other values."""

    first: Vector
    size: Vector
    letters: NDArray[np.uint8]
    users: Vector


_NONE = np.zeros(0, np.int64)
_NO_LETTERS = TieBreak(_NONE, _NONE, np.zeros(0, np.uint8), _NONE)


class ExtremeValues:
    """The best value of each group, of one type."""

    def __init__(self, kind: pa.DataType, *, is_max: bool) -> None:
        self._kind, self._is_max = kind, is_max
        needs_codes = is_coded(kind) or is_wide_decimal(kind)
        self._coded = CodedValues(kind) if needs_codes else None
        self._nodes = _no_nodes(is_coded=needs_codes)
        self._roots = np.zeros(0, np.int32)

    def advance(self, groups: Codes, weight: Vector, column: pa.Array, places: Places) -> pa.Array:
        """Count values that come and go; the best value of each state.

        States are those of the different groups before the changes, then those of places.
        """
        known = places.groups.size
        words = np.zeros(known + places.size, np.int64)
        present = np.empty(words.size, np.bool_)
        roots = self._roots[places.groups]
        present[:known] = roots != NO_CODE
        words[:known][present[:known]] = self._nodes.word[roots[present[:known]]]
        given, ranks, valid = self._ranked(column)
        changes = (groups, weight, places.place, places.last_change, given, ranks, valid)
        self._run(changes, (words[known:], present[known:]))
        if self._coded is None:
            return values_of_ranks(words, present, self._kind, is_max=self._is_max)
        values = self._coded.values(words.astype(np.int32), present)
        codes = given if not valid.size else given[valid != 0]
        self._coded.release_unused(codes.astype(np.int32))
        return values

    def reserve(self, groups: int) -> None:
        """Make room for codes of groups below this."""
        more = groups - self._roots.size
        if more > 0:
            fresh = np.full(more, NO_CODE, np.int32)
            self._roots = np.concatenate([self._roots, fresh])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        coded = 0 if self._coded is None else self._coded.nbytes
        nodes = {id(each): each.nbytes for each in self._nodes}
        return sum(nodes.values()) + self._roots.nbytes + coded

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        coded = 0 if self._coded is None else self._coded.growth_bytes(changes)
        if self._nodes.word.size - int(self._nodes.counters[0]) >= changes:
            return coded
        return coded + 2 * NODE_BYTES * (self._nodes.word.size + changes)

    def _ranked(self, column: pa.Array) -> tuple[Vector, Vector, Flags]:
        """Words and ranks of values, and flags of those that are there."""
        if self._coded is None:
            ranks, valid = ranks_of_values(column, is_max=self._is_max)
            return ranks, ranks, valid
        valid = NO_FLAGS
        if column.null_count:
            valid = column.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)
        codes, found = self._coded.encode(column.drop_null())
        found = found if self._is_max else ~found
        if not valid.size:
            return codes.astype(np.int64), found, valid
        words, ranks = np.zeros((2, valid.size), np.int64)
        words[valid != 0], ranks[valid != 0] = codes, found
        return words, ranks, valid

    def _run(
        self, changes: tuple[NDArray[np.generic], ...], out: tuple[Vector, NDArray[np.bool_]]
    ) -> None:
        coded = self._coded
        ties = _NO_LETTERS
        if coded is not None:
            ties = TieBreak(coded.first, coded.size, coded.letters, coded.users)
        sign = 1 if self._is_max else -1
        size, done = changes[0].size, 0
        while True:
            done = kernels.update_extremes(done, changes, self._nodes, self._roots, ties, sign, out)
            if done == size:
                return
            self._nodes = _grown(self._nodes)


def _no_nodes(*, is_coded: bool) -> HeapNodes:
    size = SMALLEST_HEAP
    word = np.zeros(size, np.int64)
    rank = np.zeros(size, np.int64) if is_coded else word
    owner, child, following, before, free = np.zeros((5, size), np.int32).copy()
    slots = np.full(2 * size, NO_CODE, np.int32)
    times, counters = np.zeros(size, np.int64), np.zeros(3, np.int64)
    return HeapNodes(slots, word, rank, owner, times, child, following, before, free, counters)


def _grown(nodes: HeapNodes) -> HeapNodes:
    """The same with room for twice as many."""
    size = nodes.word.size
    wider = {
        name: np.pad(getattr(nodes, name), (0, size))
        for name in ("word", "owner", "times", "child", "following", "before", "free")
    }
    is_coded = nodes.rank is not nodes.word
    rank = np.pad(nodes.rank, (0, size)) if is_coded else wider["word"]
    slots = np.full(2 * nodes.slots.size, NO_CODE, np.int32)
    kernels.fill_slots(slots, nodes.slots, wider["word"], wider["owner"])
    return nodes._replace(slots=slots, rank=rank, **wider)
