"""The rows of groups in order, of which some are picked after every instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.operators.relations.aggregates.ordered import kernels
from windrow.operators.relations.aggregates.places import Places
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.order_words import KeyOrder, OrderWords
from windrow.operators.relations.ordered_kernels import EMPTY
from windrow.operators.relations.ordered_trees import empty_tree, grown_tree, tree_bytes
from windrow.operators.relations.row_codes import RowCodes
from windrow.windows.codes import NO_CODE, Codes

__all__ = ["OrderedValues", "Pick"]

_RANKED = (kernels.PICK_BETWEEN, kernels.PICK_NEAREST)


@dataclass(frozen=True)
class Pick:
    """What is shown of a group: a column of a row that is picked (see kernels).

    fraction: of the way through the order. column: which one, in the order of the keys.
    """

    kind: int
    column: int
    fraction: float = 0.0


class OrderedValues:
    """Rows of groups in the order of these keys, which are all that they have.

    by_count: a row that is there more often is before others.
    """

    def __init__(self, keys: Sequence[KeyOrder], picks: Sequence[Pick], *, by_count: bool) -> None:
        self._rows = RowCodes([pa.int32(), *(key.type for key in keys)])
        self._words = OrderWords(keys)
        self._by_count = by_count
        self._picks = tuple(picks)
        self._kinds = np.array([pick.kind for pick in picks], np.int64)
        self._fractions = np.array([pick.fraction for pick in picks], np.float64)
        with_sizes = any(pick.kind in _RANKED for pick in picks)
        self._tree = empty_tree(self._words.width + by_count, with_sizes=with_sizes)
        self._net = np.zeros(0, np.int64)

    def advance(
        self,
        changes: Changes,
        groups: Codes,
        columns: Sequence[pa.Array],
        present: NDArray[np.bool_],
        places: Places,
    ) -> list[pa.Array]:
        """Count rows that come and go, those that are present; what each pick shows.

        States are those of the different groups before the changes, then those of places.
        """
        rows = self._load(groups, [_one_zero(column) for column in columns], present)
        known, states = places.groups.size, places.groups.size + places.size
        low, high = np.full((2, len(self._picks), states), EMPTY, np.int32)
        part = np.zeros((len(self._picks), states), np.float64)
        picks = (self._kinds, self._fractions)
        before = (low[:, :known], high[:, :known], part[:, :known])
        kernels.pick_all(places.groups, self._tree, picks, before)
        given = (changes.at, rows, groups, changes.weight, places.place, places.last_change)
        after = (low[:, known:], high[:, known:], part[:, known:])
        is_wrong = kernels.update_ordered(
            given, self._tree, self._net, self._by_count, picks, after
        )
        assert not is_wrong, "a row left that was not there"
        found = [
            self._shown(pick, low[place], high[place], part[place])
            for place, pick in enumerate(self._picks)
        ]
        used = rows[present]
        self._rows.release(used, self._tree.counts[used] > 0)
        skipped = int(self._by_count)
        self._words.forget_ends(lambda: self._tree.words[self._tree.counts > 0, skipped:])
        return found

    def reserve(self, groups: int) -> None:
        """Make room for codes of groups below this."""
        self._tree = grown_tree(self._tree, self._rows.capacity, groups)
        more = self._tree.counts.size - self._net.size
        if more > 0:
            self._net = np.pad(self._net, (0, more))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        own = tree_bytes(self._tree) + self._words.nbytes
        return own + self._rows.nbytes + self._net.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        own = tree_bytes(self._tree) + self._net.nbytes
        batch = changes * (8 * self._words.width + 64 + 40 * len(self._picks))
        coders = self._rows.growth_bytes(changes) + self._rows.grown_bytes(own, changes)
        return coders + batch + 2 * self._tree.heads.nbytes

    def _load(self, groups: Codes, columns: list[pa.Array], present: NDArray[np.bool_]) -> Codes:
        """The code of each row, with its words in the tree; NO_CODE where it is not present."""
        rows = np.full(groups.size, NO_CODE, np.int32)
        if not present.all():
            index = pa.array(np.flatnonzero(present))
            columns = [column.take(index) for column in columns]
        own = groups[present]
        codes, fresh = self._rows.acquire([pa.array(own), *columns], own.size)
        self.reserve(0)
        if fresh.size:
            index = pa.array(fresh)
            self._load_words(codes[fresh], [column.take(index) for column in columns])
        rows[present] = codes
        return rows

    def _load_words(self, rows: Codes, columns: list[pa.Array]) -> None:
        """Know the order of new rows."""
        forms, skipped = self._words.forms(), int(self._by_count)
        words = self._words.encode(columns)
        tree = self._tree
        if forms != self._words.forms():
            widened = self._words.widened(tree.words[:, skipped:], forms)
            whole = np.concatenate([tree.words[:, :skipped], widened], axis=1)
            self._tree = tree = tree._replace(words=np.ascontiguousarray(whole))
            tree.first[:] = tree.words[:, 0]
        tree.words[rows, skipped:] = words
        tree.first[rows] = tree.words[rows, 0]

    def _shown(self, pick: Pick, low: Codes, high: Codes, part: NDArray[np.float64]) -> pa.Array:
        if pick.kind != kernels.PICK_BETWEEN:
            return self._column(pick.column, low)
        below, above = (self._doubles(pick.column, codes) for codes in (low, high))
        with np.errstate(invalid="ignore", over="ignore"):
            # As Spark computes it: so that a value between two is the same to the last digit.
            between = (1.0 - part) * below + part * above
        is_one = (part == 0.0) | (below == above)
        return pa.array(np.where(is_one, below, between), mask=low == EMPTY, from_pandas=False)

    def _doubles(self, column: int, codes: Codes) -> NDArray[np.float64]:
        values = self._column(column, codes).cast(pa.float64(), safe=False).fill_null(0.0)
        doubles: NDArray[np.float64] = values.to_numpy(zero_copy_only=False)
        return doubles

    def _column(self, column: int, codes: Codes) -> pa.Array:
        """The column in rows of these codes; NULL where there is none."""
        present = codes != EMPTY
        (values,) = self._rows.columns(codes[present], [1 + column])
        if present.all():
            return values
        return values.take(pa.array(np.cumsum(present) - 1, mask=~present))


def _one_zero(column: pa.Array) -> pa.Array:
    """0.0 for -0.0: these are equal, so nothing computed of a row may tell them apart."""
    if pa.types.is_floating(column.type):
        return pc.add(column, pa.scalar(0.0, column.type))
    return column
