"""The rows of a changing relation in order within partitions, as nodes of trees in arrays.

A row has a code as long as it is there; its code is its node in the tree of its partition. Rows
with equal keys are ordered by their other columns: the order follows from what is there alone.

The rows of a window come with numbers, which are their codes then: what a row is made of is read
once, when it enters, and one that leaves is not looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.operators.relations.changes import Changes, Vector
from windrow.operators.relations.numbered_rows import NumberedRows, places_of
from windrow.operators.relations.order_words import KeyOrder, OrderWords
from windrow.operators.relations.ordered_kernels import EMPTY, FIRST
from windrow.operators.relations.ordered_trees import (
    empty_tree,
    grown_tree,
    longer,
    tree_bytes,
)
from windrow.operators.relations.row_codes import RowCodes
from windrow.plan.expressions import Expr
from windrow.plan.relations.algebra import Field, OrderKey, Relation
from windrow.plan.relations.blocks import Block
from windrow.rows.evaluate import evaluate
from windrow.windows.codes import Codes

__all__ = ["CodedChanges", "OrderedRows", "expression_values", "has_numbers"]

_SMALLEST = 64


@dataclass(frozen=True)
class CodedChanges:
    """Changes as codes of rows and of partitions.

    named: the rows that columns are of, at least all that are new; fresh: which made a new code.
    """

    at: Vector
    weight: Vector
    rows: Codes
    partitions: Codes
    named: Codes
    fresh: Vector
    columns: tuple[pa.Array, ...]


def has_numbers(relation: Relation) -> bool:
    """Whether changes of the relation come with numbers of rows."""
    return isinstance(relation, Block) and relation.is_scan


class OrderedRows:
    """An ordered store of the rows of one relation.

    with_sizes: for rank_of() and row_at(). is_numbered: changes come with numbers of rows.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        partition: Sequence[Expr],
        order: Sequence[OrderKey],
        *,
        with_sizes: bool = False,
        is_numbered: bool = False,
    ) -> None:
        self._fields = tuple(fields)
        self._partition = tuple(partition)
        self.key_count = len(order)
        named = {*self._partition, *(key.expression for key in order)}
        ties = [field.ref for field in fields if field.ref not in named]
        if not order and not ties:
            ties = [fields[0].ref]  # there is always a word, though it may tell nothing
        self._ordered: list[Expr] = [*(key.expression for key in order), *ties]
        keys = [
            *(KeyOrder(k.expression.type.arrow, k.is_descending, k.nulls_first) for k in order),
            *(KeyOrder(tie.type.arrow) for tie in ties),
        ]
        self._words = OrderWords(keys)
        types = [field.type.arrow for field in fields]
        self._rows: RowCodes | NumberedRows = (
            NumberedRows(types) if is_numbered else RowCodes(types)
        )
        # By number.
        self._partition_of: Codes = np.zeros(_SMALLEST if is_numbered else 0, np.int32)
        self._partitions = RowCodes([part.type.arrow for part in self._partition])
        self.tree = empty_tree(self._words.width, with_sizes=with_sizes)

    @property
    def key_width(self) -> int:
        """How many words of a row are of its keys: rows in which these are equal are peers."""
        return self._words.width_of(self.key_count)

    def load(self, changes: Changes) -> CodedChanges:
        """Codes of changes, with room for all of them in the tree; release() must follow."""
        if isinstance(self._rows, NumberedRows):
            return self._load_numbered(changes, self._rows)
        columns = tuple(map(_one_zero, changes.columns))
        rows, fresh = self._rows.acquire(columns, changes.size)
        partitions = self._acquire_partitions(columns, changes.size)
        self._load_words(rows, columns)
        return CodedChanges(changes.at, changes.weight, rows, partitions, rows, fresh, columns)

    def _load_numbered(self, changes: Changes, held: NumberedRows) -> CodedChanges:
        assert changes.numbers is not None, "rows of a window come without numbers"
        rows = changes.numbers
        entering = np.flatnonzero(changes.weight > 0)
        index, named = pa.array(entering), rows[entering]
        found = changes.entering
        if found is None:
            found = tuple(column.take(index) for column in changes.columns)
        columns = tuple(map(_one_zero, found))
        held.hold(named, columns)
        own = self._acquire_partitions(columns, named.size)
        self._load_words(named, columns)  # makes room, too
        self._partition_of[places_of(named)] = own
        partitions = self._partition_of[rows]
        fresh = np.arange(named.size)
        return CodedChanges(changes.at, changes.weight, rows, partitions, named, fresh, columns)

    def _acquire_partitions(self, columns: Sequence[pa.Array], size: int) -> Codes:
        parts = expression_values(self._partition, self._fields, columns, size)
        return self._partitions.acquire(parts, size)[0]

    def _load_words(self, rows: Codes, columns: Sequence[pa.Array]) -> None:
        """Know the order of these rows."""
        forms = self._words.forms()
        words = self._words.encode(
            expression_values(self._ordered, self._fields, columns, rows.size)
        )
        if forms != self._words.forms():
            widened = self._words.widened(self.tree.words, forms)
            self.tree = self.tree._replace(words=widened)
            self.tree.first[:] = widened[:, 0]
        self._reserve()
        places = places_of(rows)
        self.tree.words[places] = words
        self.tree.first[places] = words[:, 0]

    def release(self, coded: CodedChanges) -> Codes:
        """Forget the rows and partitions that are not there any more after the changes.

        Returns these rows.
        """
        is_used = self.tree.heads[coded.partitions, FIRST] != EMPTY
        self._partitions.release(coded.partitions, is_used)
        self._words.forget_ends(lambda: self.tree.words[self.tree.counts > 0])
        if isinstance(self._rows, NumberedRows):
            # A row with a number enters once and leaves once.
            gone = coded.rows[coded.weight < 0]
            self._rows.forget(gone)
            return gone
        is_there: NDArray[np.bool_] = self.tree.counts[coded.rows] > 0
        return self._rows.release(coded.rows, is_there)

    def columns(self, codes: Codes, places: Iterable[int] | None = None) -> list[pa.Array]:
        """The rows of codes: of those that are there, or were before the last release().

        places: only these columns.
        """
        return self._rows.columns(codes, places)

    @property
    def capacity(self) -> int:
        """Every code of a row is below this."""
        return self.tree.counts.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        own = tree_bytes(self.tree) + self._partition_of.nbytes + self._words.nbytes
        return own + self._rows.nbytes + self._partitions.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        coders = self._rows.growth_bytes(changes) + self._partitions.growth_bytes(changes)
        batch = changes * (8 * self._words.width + 64)
        heads = self._partitions.grown_bytes(self.tree.heads.nbytes, changes)
        own = tree_bytes(self.tree) + self._partition_of.nbytes
        return coders + batch + heads + self.grown_bytes(own, changes)

    def grown_bytes(self, nbytes: int, changes: int) -> int:
        """Peak of additional bytes of arrays by row that have so many, with more changes."""
        return self._rows.grown_bytes(nbytes, changes)

    def _reserve(self) -> None:
        rows = self._rows.capacity
        if isinstance(self._rows, NumberedRows) and rows > self._partition_of.size:
            self._partition_of = longer(self._partition_of, rows)
        self.tree = grown_tree(self.tree, rows, self._partitions.capacity)


def expression_values(
    expressions: Sequence[Expr], fields: Sequence[Field], columns: Sequence[pa.Array], size: int
) -> list[pa.Array]:
    """The values of expressions over rows that have these fields."""
    by_ref: dict[Expr, pa.Array] = {
        field.ref: column for field, column in zip(fields, columns, strict=True)
    }
    return [
        by_ref[each] if each in by_ref else evaluate(each, by_ref.__getitem__, size)
        for each in expressions
    ]


def _one_zero(column: pa.Array) -> pa.Array:
    """0.0 for -0.0: these are equal, so nothing computed of a row may tell them apart."""
    if pa.types.is_floating(column.type):
        return pc.add(column, pa.scalar(0.0, column.type))
    return column
