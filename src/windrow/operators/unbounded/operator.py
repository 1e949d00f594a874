"""The operator of a window that rows never leave, with extremes or different values among the sums.

Nothing is kept of a row once the clock has reached it but what it changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.operators.group_updates import GroupUpdates
from windrow.operators.keyed.operator import FactorisedOperator, SumsMark
from windrow.operators.lanes import LaneLayout
from windrow.operators.operator import OperatorMark
from windrow.operators.ranks import ranks_of_values
from windrow.operators.tree.coding import argument_column
from windrow.operators.unbounded.best_values import EndlessExtras
from windrow.plan.model import QueryPlan
from windrow.rows.grouping import SINGLE
from windrow.rows.prepared_names import TIME
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import QueryShape
from windrow.rows.value_words import value_words
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.key_coder import KeyCoder

__all__ = ["UnboundedOperator"]


class UnboundedOperator(FactorisedOperator):
    """Sums as in the factorised operator, plus the extremes so far per group."""

    takes_weights = False

    def __init__(self, plan: QueryPlan, shape: QueryShape, grid_us: int) -> None:
        columns = [measure.terms[0][0] for measure in shape.measures]
        types = tuple(column.type.arrow for column in columns)
        side = replace(shape.sides[0], values=tuple(columns), value_types=types)
        sums = replace(shape, sides=(side,), mode=SINGLE, extremes=(), distincts=())
        super().__init__(plan, sums, grid_us)
        self._summed = columns
        self._extremes, self._distincts = shape.extremes, shape.distincts
        self._extras = EndlessExtras(len(shape.distincts), len(shape.extremes))
        self._values = [KeyCoder([each.argument.type.arrow]) for each in shape.distincts]
        self._schema = self._columns[0].schema
        self._waiting_rows = pa.Table.from_batches([], self._schema)

    def append(self, side: int, rows: PreparedRows) -> None:
        """Take prepared rows in order of arrival, all later than the clock."""
        if rows.size == 0:
            return
        came = pa.Table.from_batches([rows.batch])
        self._waiting_rows = pa.concat_tables([self._waiting_rows, came])
        summed = value_words([rows.column(each) for each in self._summed], rows.size)
        sums = PreparedRows(rows.batch, rows.columns, words=summed)
        self._take_beside(rows, self._take(side, sums))

    def rows(self, side: int) -> pa.RecordBatch:
        """The rows that wait: those that came before are in the sums."""
        del side  # there is one
        batches = self._waiting_rows.combine_chunks().to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], self._schema)

    def sums(self) -> tuple[dict[str, Any], pa.Table]:
        """Sums, plus the extras of each group and the values that it has."""
        layout, table = super().sums()
        codes, *_ = self._aggregate.states()
        for index, extra in enumerate(self._extras.states[codes].T):
            table = table.append_column(f"extra{index}", pa.array(np.ascontiguousarray(extra)))
        for index in range(len(self._values)):
            table = table.append_column(f"values{index}", self._lists(index, codes))
        return layout, table

    def load_sums(self, table: pa.Table, layout: LaneLayout) -> Codes:
        """Back from sums(), into a new operator; returns the codes of the groups."""
        codes = super().load_sums(table, layout)
        extras = [name for name in table.schema.names if name.startswith("extra")]
        states = [table.column(name).to_numpy() for name in extras]
        self._extras.load(codes, np.array(states, np.int64).reshape(len(states), codes.size).T)
        for index, coder in enumerate(self._values):
            lists = table.column(f"values{index}").combine_chunks()
            groups = codes[pc.list_parent_indices(lists).to_numpy()]
            values = coder.acquire([lists.flatten()])
            self._extras.load_values(index, groups, values)
        return codes

    def mark(self) -> OperatorMark:
        """How its rows, sums and extras are now, for a step that may fail."""
        copies = self._copied_sums() + self._extras.copies()
        return SumsMark(
            (*self._windows, self._extras.window), [self, self._aggregate, self._extras], copies
        )

    @property
    def nbytes(self) -> int:
        """Bytes of windows, codes and sums."""
        values = sum(coder.nbytes for coder in self._values)
        return super().nbytes + self._extras.nbytes + values + int(self._waiting_rows.nbytes)

    def _take_beside(self, rows: PreparedRows, groups: Codes) -> None:
        ranks = np.zeros((len(self._extremes), rows.size), np.int64)
        present = np.ones(ranks.shape, np.uint8)
        for index, extreme in enumerate(self._extremes):
            column = argument_column(extreme.argument, rows)
            ranks[index], flags = ranks_of_values(column, is_max=extreme.is_max)
            present[index] = flags if flags.size else 1
        values = [
            _codes(coder, argument_column(distinct.argument, rows))
            for coder, distinct in zip(self._values, self._distincts, strict=True)
        ]
        self._extras.append(rows.times, groups, values, ranks, present)

    def _with_extras(self, updates: GroupUpdates, until: int) -> GroupUpdates:
        times = self._waiting_rows.column(TIME)
        self._waiting_rows = self._waiting_rows.filter(pc.greater(times, until))
        return replace(updates, extras=self._extras.advance(updates, until))

    def _lists(self, index: int, groups: Codes) -> pa.Array:
        """The values of each group, of one distinct."""
        owners, values = self._extras.values_of(index)
        place = np.zeros(int(groups.max(initial=-1)) + 1, np.int64)
        place[groups] = np.arange(groups.size)
        order = np.argsort(place[owners], kind="stable")
        offsets = np.searchsorted(place[owners][order], np.arange(groups.size + 1))
        (column,) = self._values[index].columns(values[order])
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), column)


def _codes(coder: KeyCoder, column: pa.Array) -> Codes:
    """Codes of values; NO_CODE for NULL."""
    out = np.full(len(column), NO_CODE, np.int32)
    known = column.is_valid().to_numpy(zero_copy_only=False)
    out[known] = coder.acquire([column.drop_null()])
    return out
