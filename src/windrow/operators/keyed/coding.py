"""Prepared rows as codes and words: which key, cell and group a row is of, and back to values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.keyed.cells import Cells
from windrow.operators.keyed.factorised import FactorisedAggregate
from windrow.rows.grouping import BY_BOTH, BY_KEY, BY_LEFT, BY_RIGHT, SINGLE
from windrow.rows.prepared_rows import PreparedColumns, PreparedRows
from windrow.rows.shape import QueryShape
from windrow.windows.codes import NO_CODE, Codes, KeyCoder, WordCodes

__all__ = ["Coding", "GroupParts"]

GroupParts = list[tuple[KeyCoder, Codes]]

_HIGH = 32
_LOW_MASK = (1 << _HIGH) - 1


class Coding:
    """The tables of codes of one shard."""

    def __init__(self, shape: QueryShape) -> None:
        self._shape = shape
        first = shape.inputs[0]
        self._keys = KeyCoder([key.type.arrow for key in first.keys]) if first.keys else None
        self._groups = [
            KeyCoder([part.type.arrow for part in input_shape.groups])
            if input_shape.groups
            else None
            for input_shape in shape.inputs
        ]
        self._has_cells = shape.mode in (BY_LEFT, BY_RIGHT, BY_BOTH)
        self._cells = [Cells() for _ in shape.inputs]
        self._partitions = [
            KeyCoder([part.type.arrow for part in input_shape.partitions])
            if input_shape.partitions
            else None
            for input_shape in shape.inputs
        ]

    def acquire(
        self, input_index: int, rows: PreparedRows, aggregate: FactorisedAggregate
    ) -> Codes:
        """The cell of each row, counted; rows that take no part get NO_CODE."""
        chosen = rows.takes_part
        if chosen is None:
            if self._keys is None or self._has_cells:
                return self._acquire(input_index, rows, aggregate)
            codes = self._keys.acquire(rows.keys)
            self._reserve_keys(aggregate)
            return codes
        out = np.full(rows.size, NO_CODE, np.int32)
        out[chosen] = self._acquire(input_index, rows.taking_part(), aggregate)
        return out

    @property
    def whole_keys(self) -> WordCodes | None:
        """The codes of cells that are keys, these being one whole number; None elsewhere."""
        return None if self._keys is None or self._has_cells else self._keys.whole_numbers

    def acquire_groups(
        self, columns: Sequence[pa.Array], size: int, aggregate: FactorisedAggregate
    ) -> Codes:
        """The codes of the groups of so many rows of one window, each counted once."""
        coder = self._groups[0]
        if coder is None:
            return np.zeros(size, np.int32)
        codes = coder.acquire(columns)
        aggregate.reserve(0, coder.capacity)
        return codes

    def acquire_partitions(self, input_index: int, rows: PreparedRows) -> Codes | None:
        """The partition of each row, counted; None where the window has none."""
        coder = self._partitions[input_index]
        return None if coder is None else coder.acquire(rows.partitions)

    def release(self, input_index: int, cells: Codes) -> None:
        """Rows of these cells have left; those that took no part have none."""
        if self._has_cells:
            idle = self._cells[input_index].release(cells)
            keys, groups = self._cells[input_index].parts(idle)
            self._cells[input_index].forget(idle)
            _release(self._groups[input_index], groups)
            _release(self._keys, keys)
        elif self._shape.mode == SINGLE:
            _release(self._groups[0], cells)
        else:
            _release(self._keys, cells)

    def release_partitions(self, input_index: int, partitions: Codes) -> Codes:
        """Rows of these partitions have left; returns the partitions without rows."""
        coder = self._partitions[input_index]
        return np.empty(0, np.int32) if coder is None else coder.release(partitions)

    def group_columns(self, groups: Codes, pairs: FactorisedAggregate) -> list[pa.Array]:
        """The values of the group columns (constants left out) of output groups."""
        inputs = self._input_columns(groups, pairs)
        return [
            inputs[place.input_index][place.index]
            if place.kind == "input"
            else inputs[0][place.index]
            for place in self._shape.group_places
            if place.kind != "constant"
        ]

    def retain_groups(self, groups: Codes, aggregate: FactorisedAggregate) -> GroupParts:
        """Count output groups once more, so that their codes stay theirs."""
        parts = self._parts_of_groups(groups, aggregate) if groups.size else []
        for coder, codes in parts:
            coder.retain(codes)
        return parts

    def release_groups(self, parts: GroupParts) -> None:
        """Count groups once less, as retain_groups() gave them."""
        for coder, codes in parts:
            coder.release(codes)

    def row_columns(
        self, input_index: int, cells: Codes, columns: PreparedColumns
    ) -> list[pa.Array]:
        """The key and group columns of rows, by their cells; NULL for rows that take no part."""
        schema = columns.schema
        types = [*schema.types[columns.keys], *schema.types[columns.groups]]
        live = cells != NO_CODE
        chosen = cells[live]
        keys, groups = chosen, chosen
        if self._has_cells:
            keys, groups = self._cells[input_index].parts(chosen)
        values = _values(self._keys, keys) + _values(self._groups[input_index], groups)
        if live.all():
            return values
        places = np.where(live, np.cumsum(live) - 1, 0)
        index = pa.array(places, mask=~live)
        if not values or chosen.size == 0:
            return [pa.nulls(cells.size, kind) for kind in types]
        return [column.take(index) for column in values]

    def partition_columns(self, input_index: int, partitions: Codes) -> list[pa.Array]:
        """The partition columns of rows."""
        return _values(self._partitions[input_index], partitions)

    def _input_columns(
        self, groups: Codes, aggregate: FactorisedAggregate
    ) -> Sequence[Sequence[pa.Array]]:
        mode = self._shape.mode
        if mode == BY_KEY and self._keys is not None:
            return [self._keys.columns(groups), []]
        if mode == BY_BOTH:
            parts = _pair_parts(groups, aggregate)
            return [_values(coder, part) for coder, part in zip(self._groups, parts, strict=True)]
        return [_values(coder, groups) for coder in self._groups]

    def _parts_of_groups(self, groups: Codes, aggregate: FactorisedAggregate) -> GroupParts:
        """Which codes of which tables name the groups."""
        mode = self._shape.mode
        if mode == BY_KEY:
            found = [(self._keys, groups)]
        elif mode == BY_BOTH:
            found = list(zip(self._groups, _pair_parts(groups, aggregate), strict=True))
        else:
            found = [(coder, groups) for coder in self._groups]
        return [(coder, codes) for coder, codes in found if coder is not None]

    def _acquire(
        self, input_index: int, rows: PreparedRows, aggregate: FactorisedAggregate
    ) -> Codes:
        """The cells of rows that all take part."""
        if self._shape.mode == SINGLE:
            return self.acquire_groups(rows.groups, rows.size, aggregate)
        coder = self._keys
        keys = np.zeros(rows.size, np.int32) if coder is None else coder.acquire(rows.keys)
        if not self._has_cells:
            self._reserve_keys(aggregate)
            return keys
        grouping = self._groups[input_index]
        none = np.zeros(rows.size, np.int32)
        groups = none if grouping is None else grouping.acquire(rows.groups)
        return self._acquire_cells(input_index, keys, groups, aggregate)

    def _reserve_keys(self, aggregate: FactorisedAggregate) -> None:
        """Have room for a cell of each key."""
        capacity = 1 if self._keys is None else self._keys.capacity
        if 2 * capacity > aggregate.state.counts.size:
            aggregate.reserve(capacity, capacity if self._shape.mode == BY_KEY else 1)

    def _acquire_cells(
        self, input_index: int, keys: Codes, groups: Codes, aggregate: FactorisedAggregate
    ) -> Codes:
        cells, fresh = self._cells[input_index].acquire(keys, groups)
        capacity = max(each.capacity for each in self._cells)
        named = self._groups[0 if self._shape.mode == BY_LEFT else 1]
        both = self._shape.mode == BY_BOTH
        group_count = aggregate.pairs.capacity if both else self._capacity(named)
        aggregate.reserve(capacity, group_count)
        aggregate.lists.reserve(capacity, self._capacity(self._keys))
        fresh_keys, fresh_groups = self._cells[input_index].parts(fresh)
        aggregate.lists.place(input_index, fresh, fresh_keys, fresh_groups)
        # Keys and groups were counted for every row; they count once for each cell.
        self._count_once(self._keys, keys, fresh_keys)
        self._count_once(self._groups[input_index], groups, fresh_groups)
        return cells

    def _count_once(self, coder: KeyCoder | None, by_row: Codes, by_cell: Codes) -> None:
        if coder is not None:
            coder.retain(by_cell)
            coder.release(by_row)

    @staticmethod
    def _capacity(coder: KeyCoder | None) -> int:
        return 1 if coder is None else coder.capacity

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        coders = [self._keys, *self._groups, *self._partitions]
        grown = sum(coder.growth_bytes(rows) for coder in coders if coder is not None)
        cells = self._cells if self._has_cells else ()
        return grown + sum(each.growth_bytes(rows) for each in cells)

    def capacities_after(self, rows: int) -> tuple[int, int, int]:
        """What codes of keys, of cells and of groups are below once so many rows came, at most."""
        keys = 1 if self._keys is None else self._keys.capacity_after(rows)
        groups = [each.capacity_after(rows) for each in self._groups if each is not None]
        if not self._has_cells:
            return keys, keys, max([keys if self._shape.mode == BY_KEY else 1, *groups])
        return keys, max(each.capacity_after(rows) for each in self._cells), max([1, *groups])

    @property
    def nbytes(self) -> int:
        """Bytes of all tables."""
        coders = [self._keys, *self._groups, *self._partitions]
        return sum(coder.nbytes for coder in coders if coder is not None) + sum(
            cells.nbytes for cells in self._cells
        )


def _pair_parts(groups: Codes, aggregate: FactorisedAggregate) -> tuple[Codes, Codes]:
    """The left and the right group of each pair of groups."""
    words, _ = aggregate.pairs.words(groups)
    return (words >> _HIGH).astype(np.int32), (words & _LOW_MASK).astype(np.int32)


def _release(coder: KeyCoder | None, codes: Codes) -> None:
    if coder is not None:
        coder.release(codes)


def _values(coder: KeyCoder | None, codes: Codes) -> list[pa.Array]:
    return [] if coder is None else coder.columns(codes)
