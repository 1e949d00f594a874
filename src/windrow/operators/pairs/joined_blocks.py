"""Blocks of joined rows: conditions, groups and arguments evaluated on all rows at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.exact.kernels import DOUBLE, INTEGER
from windrow.operators.lanes import Matrix
from windrow.operators.pairs.block import JoinedRows
from windrow.operators.pairs.conditions import ResidualFilter
from windrow.operators.pairs.groups import DistinctCodes, GroupCodes
from windrow.operators.pairs.rows import SlotRows, summed_words
from windrow.operators.pairs.sums.shares import Shares
from windrow.operators.ranks import ranks_of_values
from windrow.plan.expressions import ColumnRef, Expr
from windrow.rows.evaluate import evaluate
from windrow.rows.shape import QueryShape

__all__ = ["BlockEvaluator", "Words"]

NO_ROWS: NDArray[np.uint8] = np.empty((0, 0), np.uint8)
NO_FLAGS: NDArray[np.uint8] = np.empty(0, np.uint8)


class Words:
    """The words that the measures sum: value columns, or arguments that do not separate."""

    def __init__(self, shape: QueryShape) -> None:
        self.sources: list[Expr] = []
        self.terms: list[list[tuple[int, ...]]] = []
        self._kinds: list[int] = []
        for measure in shape.measures:
            if measure.terms:
                terms = [tuple(self._factor(each) for each in term) for term in measure.terms]
            else:
                terms = [(self._place(measure.argument, measure.kind),)]
            self.terms.append(terms)
        self.measure_kinds = [measure.kind for measure in shape.measures]

    def shares(self) -> Shares:
        """The lanes that joined rows add."""
        return Shares(self.measure_kinds, self._kinds, self.terms)

    def of_input(self, input_index: int) -> list[tuple[int, str]]:
        """The words that are value columns of this input, by name."""
        return [
            (word, source.column)
            for word, source in enumerate(self.sources)
            if isinstance(source, ColumnRef) and source.source == input_index
        ]

    def valid_of(self, word: int, rows: JoinedRows) -> NDArray[np.uint8]:
        """Where the measure that this word alone makes up is not NULL; no flags: everywhere."""
        return rows.valid[self.terms.index([(word,)])] if rows.valid.size else NO_FLAGS

    def _factor(self, column: ColumnRef) -> int:
        return self._place(column, DOUBLE if column.type.is_float else INTEGER)

    def _place(self, source: Expr, kind: int) -> int:
        for word, known in enumerate(self.sources):
            if known == source and self._kinds[word] == kind:
                return word
        self.sources.append(source)
        self._kinds.append(kind)
        return len(self.sources) - 1


class BlockEvaluator:
    """Makes blocks of slots ready for the algorithms."""

    def __init__(
        self,
        shape: QueryShape,
        rows: Sequence[SlotRows],
        groups: GroupCodes,
        distincts: Sequence[DistinctCodes],
        words: Words,
    ) -> None:
        self._shape = shape
        self._filter = ResidualFilter(shape.residual, rows)
        self._rows = rows
        self._groups = groups
        self._distincts = distincts
        self._words = words
        self._event: NDArray[np.int32] = np.empty(0, np.int32)
        self._slot: NDArray[np.int32] = np.empty((0, 0), np.int32)
        self._known: dict[Expr, pa.Array] = {}

    def joined_rows(self, event: NDArray[np.int32], slot: NDArray[np.int32]) -> JoinedRows:
        """Those of the joined rows that fulfil the residual condition; the block is used up."""
        self._begin(*self._filter.kept(event, slot))
        groups = self._groups.of(self._slot, self._column)
        words, valid = self._measures()
        values = [each.of(self._slot, self._column) for each in self._distincts]
        rank, present = self._ranks()
        listed = np.array(values, np.int32).reshape(len(values), self._event.size)
        return JoinedRows(self._event, self._slot, groups, words, valid, listed, rank, present)

    def _begin(self, event: NDArray[np.int32], slot: NDArray[np.int32]) -> None:
        self._event, self._slot = event, slot
        self._known = {}

    def _leaf(self, part: Expr) -> pa.Array:
        assert isinstance(part, ColumnRef)
        if part not in self._known:
            self._known[part] = self._rows[part.source].column(part.column, self._slot[part.source])
        return self._known[part]

    def _column(self, part: Expr) -> pa.Array:
        return evaluate(part, self._leaf, self._event.size)

    def _measures(self) -> tuple[Matrix, NDArray[np.uint8]]:
        size = self._event.size
        words = np.empty((len(self._words.sources), size), np.int64)
        flags = []
        for word, source in enumerate(self._words.sources):
            if isinstance(source, ColumnRef):
                rows, slots = self._rows[source.source], self._slot[source.source]
                words[word] = rows.words(source.column, slots)
                flags.append(rows.valid(source.column, slots))
            else:
                words[word], valid = summed_words(self._column(source))
                flags.append(valid)
        if all(each is None for each in flags):
            return words, NO_ROWS
        return words, self._validity(flags, size)

    def _validity(self, flags: list[NDArray[np.uint8] | None], size: int) -> NDArray[np.uint8]:
        """A measure is valid where all its words are."""
        out = np.ones((len(self._words.terms), size), np.uint8)
        for measure, terms in enumerate(self._words.terms):
            for word in {each for term in terms for each in term}:
                valid = flags[word]
                if valid is not None:
                    out[measure] &= valid
        return out

    def _ranks(self) -> tuple[Matrix, NDArray[np.uint8]]:
        extremes, size = self._shape.extremes, self._event.size
        rank = np.empty((len(extremes), size), np.int64)
        present = np.ones((len(extremes), size), np.uint8)
        for number, extreme in enumerate(extremes):
            words, flags = ranks_of_values(self._column(extreme.argument), is_max=extreme.is_max)
            rank[number] = words
            if flags.size:
                present[number] = flags
        return rank, present
