"""The operator of one window, or of two that join by keys: a state per key, input and group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.operators.group_updates import GroupUpdates
from windrow.operators.keyed.coding import Coding, GroupParts
from windrow.operators.keyed.factorised import FactorisedAggregate
from windrow.operators.lanes import LaneLayout
from windrow.operators.opened_windows import opened_windows
from windrow.operators.operator import NeedsSingleRowsError, Operator, WorkDone
from windrow.operators.partial import Partial
from windrow.operators.updated_groups import UpdatedGroups
from windrow.plan.model import QueryPlan
from windrow.rows.grouping import BY_BOTH, SINGLE, WHOLE
from windrow.rows.prepare import prepared_columns
from windrow.rows.prepared_names import TAKES_PART, WEIGHT
from windrow.rows.prepared_rows import PreparedColumns, PreparedRows
from windrow.rows.shape import QueryShape
from windrow.rows.shared_rows import RowReader
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.column_words import value_columns
from windrow.windows.marks import Copies, Mark, set_back
from windrow.windows.window import OperatorMark, Window

__all__ = ["FactorisedOperator"]


class SumsMark(OperatorMark):
    """The same where rows never leave: sums of groups that waiting rows will change are copied."""

    def __init__(self, windows: Sequence[Window], parts: Sequence[object], copies: Copies) -> None:
        super().__init__(windows)
        self._parts, self._copies = Mark(*parts), copies

    def rewind(self) -> None:
        """Let windows and sums be what they were."""
        super().rewind()
        self._parts.rewind()
        set_back(self._copies)


class FactorisedOperator(Operator):
    """COUNT, SUM and AVG in O(1) a row; grid_us > 1 puts out only states at its multiples.

    readers: one for each input where the rows are shared with other queries.
    """

    def __init__(
        self,
        plan: QueryPlan,
        shape: QueryShape,
        grid_us: int,
        readers: Sequence[RowReader] = (),
    ) -> None:
        assert shape.mode is not None
        self._grid_us = grid_us
        self._shape = shape
        self._readers = tuple(readers)
        columns = [prepared_columns(plan, input_index) for input_index in range(len(plan.inputs))]
        counts = [len(each.values) for each in shape.inputs]
        super().__init__(opened_windows(plan, counts, [0] * len(counts), self._readers), columns)
        self._coding = Coding(shape)
        self._aggregate = FactorisedAggregate(self._windows, shape.kinds, shape.mode)
        if shape.mode in (WHOLE, SINGLE):
            self._aggregate.reserve(0, 1)
        self._groups = UpdatedGroups(is_grouped=bool(shape.group_places))
        self._waiting: GroupParts = []
        self._entered = [0] * len(self._windows)
        self._is_weighted = False  # whether any row has stood for several
        self._bounds = [_whole_bounds(each) for each in columns]

    takes_weights = True

    def append(self, input_index: int, rows: PreparedRows) -> None:
        """Take prepared rows in order of arrival, all later than the clock."""
        if rows.size:
            self._append(input_index, rows)

    def step(
        self, at: int, input_index: int, weight: int, plain: Sequence[object],
        values: Sequence[object], until: int,
    ) -> Partial:  # fmt: skip
        """Take one row, as scalars, and run to `until`: in one compiled call where that can be.

        That is a join without groups by one whole number, of whole numbers that are not NULL; any
        other row, and one for which something has to grow, goes the way of batches.
        """
        keys, updates = self._coding.whole_keys, None
        if keys is not None and weight == 1 and len(plain) == 1:
            row = self._whole_row(at, input_index, (*plain, *values))
            if row is not None:
                updates = self._aggregate.step(row, input_index, keys, until, self._grid_us)
        if updates is None:
            return super().step(at, input_index, weight, plain, values, until)
        self._entered[input_index] += 1
        return self._groups.partial(updates, self._columns_of)

    def _whole_row(
        self, at: int, input_index: int, given: tuple[object, ...]
    ) -> tuple[int, ...] | None:
        """The time, key and values of a row, if all are whole numbers that their columns hold."""
        row = [at]
        for value, bound in zip(given, self._bounds[input_index], strict=True):
            if type(value) is not int or not -bound <= value < bound:
                return None
            row.append(value)
        return tuple(row)

    def run(self, until: int) -> Partial:
        """Run the windows up to and including `until`."""
        updates = self._with_extras(self._aggregate.advance(until, self._grid_us), until)
        partial = self._groups.partial(updates, self._columns_of)
        if self._grid_us > 1:
            self._hold_waiting()
        self._reclaim(updates)
        return partial

    def _hold_waiting(self) -> None:
        """A group whose update waits for the grid keeps its code until then."""
        waiting = self._coding.retain_groups(self._aggregate.waiting_groups(), self._aggregate)
        self._coding.release_groups(self._waiting)
        self._waiting = waiting

    def put_out_all(self, at: int) -> None:
        """Put out every live group at this later instant: for output on a grid after a rebuild."""
        self._aggregate.put_out_all(at)

    def rows(self, input_index: int) -> pa.RecordBatch:
        """The rows held and waiting, as prepared rows in their order."""
        window, schema = self._windows[input_index], self._columns[input_index].schema
        places = np.concatenate([window.held(), window.waiting()])
        columns = window.columns
        if self._readers:  # rows of the others that take no part here
            places = places[columns.codes[places] != NO_CODE]
        arrays = [pa.array(columns.times[places])]
        arrays += self._coding.row_columns(
            input_index, columns.codes[places], self._columns[input_index]
        )
        if columns.partitions.size:
            arrays += self._coding.partition_columns(input_index, columns.partitions[places])
        types = schema.types[self._columns[input_index].values]
        arrays += value_columns(*columns.words_at(places), types)
        if TAKES_PART in schema.names:
            arrays.append(pa.array(columns.codes[places] >= 0))
        if window.is_weighted:
            arrays.append(pa.array(columns.weights[places]))
            schema = schema.append(pa.field(WEIGHT, pa.int64()))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    @property
    def is_endless(self) -> bool:
        """Whether rows never leave: then sums() holds what they left behind."""
        return self._windows[0].is_endless

    def sums(self) -> tuple[dict[str, Any], pa.Table]:
        """The groups of a window whose rows never leave: their columns, counts and lanes."""
        codes, count, lanes, layout = self._aggregate.states()
        named = {f"g{i}": column for i, column in enumerate(self._columns_of(codes))}
        named |= {f"lane{i}": pa.array(lanes[:, i].copy()) for i in range(lanes.shape[1])}
        return layout.to_json(), pa.table({"count": pa.array(count), **named})

    def load_sums(self, table: pa.Table, layout: LaneLayout) -> Codes:
        """Back from sums(), into a new operator; returns the codes of the groups."""
        count = table.column("count").to_numpy()
        lanes = np.zeros((count.size, layout.lane_count), np.int64)
        for lane in range(layout.lane_count):
            lanes[:, lane] = table.column(f"lane{lane}").to_numpy()
        named = [place for place in self._shape.group_places if place.kind != "constant"]
        groups = [column.combine_chunks() for column in table.columns[1 : 1 + len(named)]]
        codes = self._coding.acquire_groups(groups, count.size, self._aggregate)
        self._aggregate.load_states(codes, count, lanes, layout)
        return codes

    def close(self) -> None:
        """Another operator has taken over: shared rows are no longer read here."""
        for reader in self._readers:
            reader.close()

    def mark(self) -> OperatorMark:
        """How its rows are now, for a step that may fail; of endless ones, the sums too."""
        if self._windows[0].is_endless:
            return SumsMark(self._windows, [self, self._aggregate], self._copied_sums())
        return OperatorMark(self._windows)

    def _copied_sums(self) -> Copies:
        """The sums of the groups that waiting rows will change."""
        columns = self._windows[0].columns
        groups = np.unique(columns.codes[columns.tail : columns.end])
        return self._aggregate.copies(groups[groups != NO_CODE])

    @property
    def nbytes(self) -> int:
        """Bytes of windows, codes and sums."""
        return sum(self.window_bytes()) + self._coding.nbytes + self._aggregate.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""
        sizes = self._coding.capacities_after(rows)
        return self._coding.growth_bytes(rows) + self._aggregate.growth_bytes(rows, *sizes)

    def joined_rows(self) -> int:
        """Joined rows that are live."""
        return self._aggregate.joined_rows

    def work_done(self) -> WorkDone:
        """Rows that entered; nothing is probed."""
        return WorkDone(tuple(self._entered))

    def _append(self, input_index: int, rows: PreparedRows) -> Codes:
        """Put rows into their window; returns their cells."""
        values, valid = rows.words
        weights = rows.weights
        count = rows.size if weights is None else int(weights.sum())
        self._aggregate.admit(input_index, values, valid, count)
        if (weights is not None or self._is_weighted) and self._aggregate.is_wide:
            raise NeedsSingleRowsError
        self._is_weighted = self._is_weighted or weights is not None
        cells = self._coding.acquire(input_index, rows, self._aggregate)
        partitions = None
        if self._shape.inputs[input_index].partitions:
            partitions = self._coding.acquire_partitions(input_index, rows)
        self._windows[input_index].columns.append(
            rows.times, cells, values, valid, partitions, weights
        )
        self._entered[input_index] += count
        return cells

    def _with_extras(self, updates: GroupUpdates, _until: int) -> GroupUpdates:
        """Updates with what an operator has in addition to sums; this one has nothing."""
        return updates

    def _columns_of(self, groups: Codes) -> list[pa.Array]:
        return self._coding.group_columns(groups, self._aggregate)

    def _reclaim(self, updates: GroupUpdates) -> None:
        """Free what rows that have left had."""
        for input_index, window in enumerate(self._windows):
            gone = window.close()
            if window.is_endless:  # only one window alone can be: its sums are all that is needed
                self._aggregate.forget_rows(window.drop_held())
            if gone is None:
                continue
            columns = window.columns
            if columns.partitions.size:
                empty = self._coding.release_partitions(input_index, columns.partitions[gone])
                window.forget_partitions(empty)
            self._coding.release(input_index, columns.codes[gone])
            window.reclaim(gone)
        if self._shape.mode == BY_BOTH:
            # One that is to be put out once more has its code until then.
            waiting = self._aggregate.waiting_groups()
            self._aggregate.release_groups(np.setdiff1d(updates.group, waiting))


def _whole_bounds(columns: PreparedColumns) -> list[int]:
    """Behind the largest number of each column but the time; 0 where it has no whole numbers."""
    kinds = columns.schema.types[columns.keys.start : columns.values.stop]
    return [1 << each.bit_width - 1 if pa.types.is_signed_integer(each) else 0 for each in kinds]
