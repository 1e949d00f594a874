"""Prepared rows as the codes and words that view trees take, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.tree.sources import TreeSources
from windrow.operators.tree.structure import NOTHING, CodesOf
from windrow.plan.expressions import ColumnRef, Expr
from windrow.rows.evaluate import evaluate
from windrow.rows.prepared_names import GROUP, KEY, PARTITION, VALUE, column_name, part_of
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import QueryShape
from windrow.windows.codes import NO_CODE, NO_FLAGS, Codes, KeyCoder, WordCodes, needs_codes
from windrow.windows.column_words import array_of_words, words_of_array

__all__ = ["TreeCoding", "argument_column"]

_HIGH = 32
_LOW_MASK = (1 << _HIGH) - 1

Matrix = NDArray[np.int64]
Flags = NDArray[np.uint8]


class TreeCoding:
    """The tables of codes of a query, counted by rows."""

    def __init__(self, shape: QueryShape, sources: TreeSources) -> None:
        self._shape, self._sources = shape, sources
        self._coders = [KeyCoder(self._edge_types(edge)) for edge in sources.edges]
        if sources.has_group_coder:
            self._coders.append(KeyCoder([each.type.arrow for each in shape.group_columns]))
        self._values = [KeyCoder([each.argument.type.arrow]) for each in shape.distincts]
        self._pairs = [WordCodes() for _ in shape.distincts]
        self._partitions = [
            KeyCoder([part.type.arrow for part in input_shape.partitions])
            if input_shape.partitions
            else None
            for input_shape in shape.inputs
        ]
        self._texts = [
            {
                i: KeyCoder([kind])
                for i, kind in enumerate(input_shape.value_types)
                if needs_codes(kind)
            }
            for input_shape in shape.inputs
        ]

    def acquire(self, input_index: int, rows: PreparedRows) -> dict[int, Codes]:
        """The codes of rows by source, each counted once a row; NULL values have a code too."""
        sources, codes = self._sources, dict[int, Codes]()
        for source in sources.input_edges(input_index):
            columns = [self._key(input_index, rows, variable) for variable in sources.edges[source]]
            codes[source] = self._coders[source].acquire(columns)
        if sources.has_group_coder and input_index in sources.roots:
            codes[sources.group] = self._coders[sources.group].acquire(
                self._groups(input_index, rows)
            )
        for distinct in sources.distincts(input_index):
            values = self._values[distinct].acquire([self.distinct_column(distinct, rows)])
            codes[sources.pair(distinct)] = self._pair(distinct, values, codes)
        return codes

    def release(self, codes: CodesOf) -> None:
        """Rows that brought these codes have left."""
        for source, gone in codes.items():
            distinct = source - len(self._sources.edges) - 1
            if distinct < 0:
                self._coders[source].release(gone)
                continue
            values = gone
            if self._sources.group != NOTHING:
                words, _ = self._pairs[distinct].words(gone)
                values = (words & _LOW_MASK).astype(np.int32)
                self._pairs[distinct].forget(self._pairs[distinct].release(gone))
            self._values[distinct].release(values)

    def distinct_column(self, distinct: int, rows: PreparedRows) -> pa.Array:
        """The values that a COUNT(DISTINCT) tells apart."""
        return argument_column(self._shape.distincts[distinct].argument, rows)

    def capacities(self) -> Mapping[int, int]:
        """For each source a number that all its codes are below."""
        found = {source: coder.capacity for source, coder in enumerate(self._coders)}
        for distinct, (values, pairs) in enumerate(zip(self._values, self._pairs, strict=True)):
            is_grouped = self._sources.group != NOTHING
            capacity = pairs.capacity if is_grouped else values.capacity
            found[self._sources.pair(distinct)] = capacity
        return found

    def most_rows(self, source: int) -> tuple[int, int]:
        """The most rows of any code of a join variable, and how many codes there may be."""
        coder = self._coders[source]
        return coder.most_users, coder.capacity

    def capacities_after(self, rows: int) -> Mapping[int, int]:
        """The same once so many rows came, at most."""
        found = {source: coder.capacity_after(rows) for source, coder in enumerate(self._coders)}
        for distinct, (values, pairs) in enumerate(zip(self._values, self._pairs, strict=True)):
            coder: KeyCoder | WordCodes = values if self._sources.group == NOTHING else pairs
            found[self._sources.pair(distinct)] = coder.capacity_after(rows)
        return found

    def groups_after(self, rows: int) -> int:
        """What group codes are below once so many rows came, at most."""
        source = self._sources.group
        return 1 if source == NOTHING else self._coders[source].capacity_after(rows)

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many rows are added."""
        pairs = [] if self._sources.group == NOTHING else self._pairs
        coded = sum(each.growth_bytes(rows) for each in self._all_coders())
        return coded + sum(each.growth_bytes(rows) for each in pairs)

    def _all_coders(self) -> list[KeyCoder]:
        texts = [coder for of_input in self._texts for coder in of_input.values()]
        partitions = [coder for coder in self._partitions if coder is not None]
        return [*self._coders, *self._values, *partitions, *texts]

    def group_room(self) -> tuple[int, int]:
        """All group codes are below the first number; the second is how many are in use."""
        if self._sources.group == NOTHING:
            return 1, 1
        coder = self._coders[self._sources.group]
        return coder.capacity, coder.size

    def group_columns(self, groups: Codes) -> list[pa.Array]:
        """The values of the group columns of groups."""
        source = self._sources.group
        if source == NOTHING:  # all that is grouped by are constants
            return []
        columns = self._coders[source].columns(groups)
        if self._sources.has_group_coder:
            return columns
        variables = self._sources.group_variables or ()
        return [columns[self._sources.edges[source].index(each)] for each in variables]

    def retain_groups(self, groups: Codes) -> None:
        """Keep the meaning of groups although their rows may leave."""
        if self._sources.group != NOTHING:
            self._coders[self._sources.group].retain(groups)

    def release_groups(self, groups: Codes) -> None:
        """Take back retain_groups()."""
        if self._sources.group != NOTHING:
            self._coders[self._sources.group].release(groups)

    def acquire_partitions(self, input_index: int, rows: PreparedRows) -> Codes | None:
        """The partition of each row, counted; None where the window has none."""
        coder = self._partitions[input_index]
        return None if coder is None else coder.acquire(rows.partitions)

    def release_partitions(self, input_index: int, partitions: Codes) -> Codes:
        """Rows of these partitions have left; returns the partitions without rows."""
        coder = self._partitions[input_index]
        return np.empty(0, np.int32) if coder is None else coder.release(partitions)

    def words(self, input_index: int, rows: PreparedRows) -> tuple[Matrix, Flags]:
        """The values as words and flags (no rows when every one is valid); texts are left 0."""
        kinds = self._shape.inputs[input_index].value_types
        words = np.zeros((len(kinds), rows.size), np.int64)
        valid: Flags = np.empty((0, 0), np.uint8)
        for index, kind in enumerate(kinds):
            column = rows.values[index]
            if pa.types.is_floating(kind):
                plain = column.cast(pa.float64()).fill_null(0.0)
                words[index] = plain.to_numpy(zero_copy_only=False).view(np.int64)
            elif not needs_codes(kind):
                words[index] = words_of_array(column)[0]
            if column.null_count:
                if not valid.size:
                    valid = np.ones(words.shape, np.uint8)
                valid[index] = column.is_valid().to_numpy(zero_copy_only=False)
        return words, valid

    def acquire_texts(self, input_index: int, rows: PreparedRows, words: Matrix) -> None:
        """Write the codes of texts, counted."""
        for index, coder in self._texts[input_index].items():
            words[index] = coder.acquire([rows.values[index]])

    def release_texts(self, input_index: int, words: Matrix) -> None:
        """Rows of these words have left."""
        for index, coder in self._texts[input_index].items():
            coder.release(words[index].astype(np.int32))

    def row_columns(
        self, input_index: int, codes: CodesOf, partitions: Codes, words: Matrix, valid: Flags
    ) -> dict[str, pa.Array]:
        """The columns of prepared rows by name; without a code keys and groups are NULL.

        words: none where the value is what a COUNT(DISTINCT) tells apart.
        """
        shape, sources = self._shape.inputs[input_index], self._sources
        out: dict[str, pa.Array] = {}
        for source in sources.input_edges(input_index):
            columns = _columns(self._coders[source], codes[source])
            for variable, column in zip(sources.edges[source], columns, strict=True):
                out[column_name(KEY, shape.variables.index(variable))] = column
        if sources.has_group_coder and input_index in sources.roots:
            columns = _columns(self._coders[sources.group], codes[sources.group])
            for expression, column in zip(self._shape.group_columns, columns, strict=True):
                if isinstance(expression, ColumnRef) and part_of(expression)[0] == GROUP:
                    out[expression.column] = column
        coder = self._partitions[input_index]
        if coder is not None:
            found = coder.columns(partitions)
            out |= {column_name(PARTITION, i): column for i, column in enumerate(found)}
        if not words.shape[0] and shape.value_types:
            (out[column_name(VALUE, 0)],) = _columns(self._values[0], codes[sources.pair(0)])
            return out
        for index, kind in enumerate(shape.value_types):
            missing = valid[index] == 0 if valid.size else np.zeros(words.shape[1], np.bool_)
            if index in self._texts[input_index]:
                value = self._texts[input_index][index].columns(words[index].astype(np.int32))[0]
            else:
                value = array_of_words(words[index], missing, kind)
            out[column_name(VALUE, index)] = value
        return out

    @property
    def nbytes(self) -> int:
        """Bytes of all tables."""
        pairs = sum(each.nbytes for each in self._pairs)
        return pairs + sum(each.nbytes for each in self._all_coders())

    def _pair(self, distinct: int, values: Codes, codes: CodesOf) -> Codes:
        if self._sources.group == NOTHING:
            return values
        groups = codes[self._sources.group].astype(np.int64)
        pairs = self._pairs[distinct].encode((groups << _HIGH) | values, NO_FLAGS)
        self._pairs[distinct].retain(pairs)
        return pairs

    def _edge_types(self, edge: tuple[int, ...]) -> list[pa.DataType]:
        types = {
            variable: key.type.arrow
            for input_shape in self._shape.inputs
            for variable, key in zip(input_shape.variables, input_shape.keys, strict=True)
        }
        return [types[variable] for variable in edge]

    def _key(self, input_index: int, rows: PreparedRows, variable: int) -> pa.Array:
        return rows.keys[self._shape.inputs[input_index].variables.index(variable)]

    def _groups(self, input_index: int, rows: PreparedRows) -> list[pa.Array]:
        """The group columns as a root has them: its own, or by the join variable."""
        out = []
        for column in self._shape.group_columns:
            assert isinstance(column, ColumnRef)
            part, number = part_of(column)
            if part == KEY:
                variables = self._shape.inputs[column.source].variables
                out.append(self._key(input_index, rows, variables[number]))
            else:
                out.append(rows.column(column))
        return out


def _columns(coder: KeyCoder, codes: Codes) -> list[pa.Array]:
    """What codes stand for; NULL where there is none."""
    live = codes != NO_CODE
    columns = coder.columns(codes[live])
    if live.all():
        return columns
    index = pa.array(np.where(live, np.cumsum(live) - 1, 0), mask=~live)
    return [column.take(index) for column in columns]


def argument_column(argument: Expr, rows: PreparedRows) -> pa.Array:
    """The argument of an aggregate in each of the prepared rows."""
    return evaluate(argument, rows.column, rows.size)
