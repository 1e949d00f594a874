"""Prepared rows: rows of one input of a query, every expression evaluated, in parts with names.

Where they are saved, shuffled or merged they are a plain record batch, its columns named as
prepared_names says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import ColumnRef, Expr
from windrow.rows.prepared_names import (
    GROUP,
    KEY,
    NEGATED_KEY,
    PARTITION,
    TAKES_PART,
    TIME,
    VALUE,
    WEIGHT,
    column_name,
    part_of,
)
from windrow.rows.shape import InputShape
from windrow.rows.weighted_rows import expanded
from windrow.windows.column_words import ValueWords, value_words

__all__ = ["PreparedColumns", "PreparedRows"]

Flags = NDArray[np.bool_]
Instants = NDArray[np.int64]


class PreparedColumns:
    """The columns of an input's prepared rows: which expression is where.

    leaves_by_time: whether rows that take no part are left out; windows that count rows hold them.
    """

    def __init__(self, input_shape: InputShape, leaves_by_time: bool) -> None:
        self._parts: dict[str, tuple[Expr, ...]] = {
            KEY: input_shape.keys,
            GROUP: input_shape.groups,
            PARTITION: input_shape.partitions,
            NEGATED_KEY: input_shape.negated_keys,
        }
        fields = [(TIME, pa.int64())]
        places: dict[str, slice] = {}
        for part, listed in self._parts.items():
            places[part] = slice(len(fields), len(fields) + len(listed))
            fields += [(column_name(part, i), each.type.arrow) for i, each in enumerate(listed)]
        places[VALUE] = slice(len(fields), len(fields) + len(input_shape.values))
        fields += [(column_name(VALUE, i), kind) for i, kind in enumerate(input_shape.value_types)]
        self.keys, self.groups = places[KEY], places[GROUP]
        self.partitions, self.negated_keys = places[PARTITION], places[NEGATED_KEY]
        self.values = places[VALUE]
        self._values = input_shape.values
        if not leaves_by_time:
            fields.append((TAKES_PART, pa.bool_()))
        self.schema = pa.schema(fields)

    @property
    def plain(self) -> tuple[Expr, ...]:
        """The expressions that are kept in their own type: all but the values."""
        return tuple(each for listed in self._parts.values() for each in listed)

    def name_of(self, expression: Expr) -> str | None:
        """The column that has the value of an expression, if one has."""
        for part, listed in self._parts.items():
            if expression in listed:
                return column_name(part, listed.index(expression))
        return None

    def source_of(self, column: ColumnRef) -> Expr:
        """What a column of prepared rows was made from."""
        part, number = part_of(column)
        return self._values[number] if part == VALUE else self._parts[part][number]

    def one_row(
        self, at: int, plain: Sequence[object], values: Sequence[object], weight: int = 1
    ) -> PreparedRows:
        """One row that takes part, from its time and values."""
        given: list[object] = [at, *plain, *values]
        if len(given) < len(self.schema):
            given.append(True)
        arrays = [
            pa.array([each], kind) for each, kind in zip(given, self.schema.types, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        weights = None if weight == 1 else np.array([weight], np.int64)
        if weights is not None:
            batch = batch.append_column(WEIGHT, pa.array(weights))
        takes_part = np.ones(1, np.bool_) if self.schema.names[-1] == TAKES_PART else None
        return PreparedRows(batch, self, takes_part, weights)

    def rows(self, batch: pa.RecordBatch) -> PreparedRows:
        """Rows that were saved or shuffled as a batch."""
        names = batch.schema.names
        takes_part = None
        if TAKES_PART in names:
            takes_part = batch.column(TAKES_PART).to_numpy(zero_copy_only=False)
        weights = batch.column(WEIGHT).to_numpy() if WEIGHT in names else None
        return PreparedRows(batch, self, takes_part, weights)


class PreparedRows:
    """Prepared rows in order of arrival.

    takes_part: which of them are in answers; windows that count rows hold others too. None: all.
    weights: for how many equal rows each stands; None: for itself. words: its values as words,
    where they are known already.
    """

    def __init__(
        self,
        batch: pa.RecordBatch,
        columns: PreparedColumns,
        takes_part: Flags | None = None,
        weights: Instants | None = None,
        words: ValueWords | None = None,
    ) -> None:
        self.batch, self.columns = batch, columns
        self.size: int = batch.num_rows
        self.times: Instants = batch.column(0).to_numpy()
        self.takes_part, self.weights = takes_part, weights
        self._arrays: list[pa.Array] = batch.columns
        if words is not None:
            self.words = words

    @property
    def keys(self) -> list[pa.Array]:
        """The join key."""
        return self._arrays[self.columns.keys]

    @property
    def groups(self) -> list[pa.Array]:
        """What the input groups by."""
        return self._arrays[self.columns.groups]

    @property
    def partitions(self) -> list[pa.Array]:
        """What PARTITION BY of the window names."""
        return self._arrays[self.columns.partitions]

    @property
    def values(self) -> list[pa.Array]:
        """What aggregates read."""
        return self._arrays[self.columns.values]

    @cached_property
    def words(self) -> ValueWords:
        """The values as words of 64 bits, with flags of validity."""
        return value_words(self.values, self.size)

    def column(self, reference: Expr) -> pa.Array:
        """The column that an expression over prepared rows names."""
        assert isinstance(reference, ColumnRef)
        return self.batch.column(reference.column)

    def taking_part(self) -> PreparedRows:
        """The rows that take part."""
        if self.takes_part is None:
            return self
        return self.filtered(self.takes_part)

    def filtered(self, kept: Flags) -> PreparedRows:
        """The flagged rows."""
        if kept.all():
            return self
        takes_part = None if self.takes_part is None else self.takes_part[kept]
        weights = None if self.weights is None else self.weights[kept]
        return PreparedRows(self.batch.filter(pa.array(kept)), self.columns, takes_part, weights)

    def expanded(self) -> PreparedRows:
        """As many rows as they stand for."""
        return self if self.weights is None else self.columns.rows(expanded(self.batch))
