"""A scalar sub-query: the error that it has more than one row."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from windrow.errors import DataError
from windrow.event_time import show_instant
from windrow.operators.relations.at_most_one_kernels import first_with_several
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.expressions_of_rows import columns_by_field, evaluated
from windrow.operators.relations.held_rows import HeldRows
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.algebra import AtMostOne
from windrow.plan.show import show_with
from windrow.windows.kernels import EMPTY

__all__ = ["AtMostOneOperator"]


class AtMostOneOperator(RelationOperator):
    """Passes changes through, and counts rows by their key; NULL is a key like any other."""

    def __init__(self, node: AtMostOne) -> None:
        self._node = node
        self._keys = HeldRows([key.type.arrow for key in node.by])
        names = {field.id: field.name for field in node.fields}
        self._shown = [show_with(key, lambda leaf: names[_column(leaf)]) for key in node.by]

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The same changes; after an instant with two rows for a key, a DataError."""
        del until
        (changes,) = inputs
        if changes.size:
            self._count(changes)
        return changes

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and their counts."""
        return self._keys.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes."""
        return self._keys.growth_bytes(changes)

    def _count(self, changes: Changes) -> None:
        leaf = columns_by_field(self._node.fields, changes.columns)
        columns = [evaluated(key, leaf, changes.size) for key in self._node.by]
        codes = self._keys.acquire(columns, changes.size)
        place = int(first_with_several(changes.at, codes, changes.weight, self._keys.counts))
        if place != EMPTY:
            raise self._error(int(changes.at[place]), [column[place] for column in columns])
        self._keys.release(codes)

    def _error(self, at: int, key: Sequence[pa.Scalar]) -> DataError:
        named = zip(self._shown, key, strict=True)
        found = ", ".join(f"{name} = {_value(value)}" for name, value in named)
        where = f" for {found}" if found else ""
        return DataError(
            "WD307",
            f"the scalar sub-query {self._node.text} gave more than one row{where} "
            f"at {show_instant(at)}",
            hint="aggregate it, such as SELECT MAX(x) ..., or add LIMIT 1",
        )


def _column(leaf: Expr) -> str:
    assert isinstance(leaf, ColumnRef)
    return leaf.column


def _value(scalar: pa.Scalar) -> str:
    if not scalar.is_valid:
        return "NULL"
    if pa.types.is_timestamp(scalar.type):
        return show_instant(scalar.value)
    return repr(scalar.as_py()) if pa.types.is_string(scalar.type) else str(scalar.as_py())
