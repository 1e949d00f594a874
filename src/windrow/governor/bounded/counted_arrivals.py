"""Rows of a query with ERROR counted in the shard that has them, for an arrival watch elsewhere.

Shards number groups each in its own way, so groups travel by their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.governor.bounded.inner_plan import measures_of
from windrow.governor.error_bounds.arrival_cells import ArrivalCells, cells_of, first_pane_us
from windrow.output.known_groups import KnownGroups
from windrow.plan.expressions import Expr, inputs_of
from windrow.plan.model import QueryPlan
from windrow.rows.evaluate import evaluate
from windrow.rows.frames import Parts, Section, table_bytes, table_of
from windrow.rows.prepare import lifetime_of
from windrow.rows.shape import shape_of
from windrow.schema import DOUBLE

__all__ = ["ArrivalCounter", "CountedArrivals", "cells_table", "doubles_of", "table_cells"]


@dataclass(frozen=True)
class CountedArrivals:
    """Cells, whose groups are numbers of rows of the table `groups`."""

    cells: ArrivalCells
    groups: pa.Table

    def to_parts(self) -> Parts:
        """A header and two sections of Arrow IPC, for a frame that crosses a process border."""
        header = {"pane_us": self.cells.pane_us, "earliest_us": self.cells.earliest_us}
        return Parts(header, [table_bytes(cells_table(self.cells)), table_bytes(self.groups)])

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], sections: Sequence[Section]) -> CountedArrivals:
        """Back from to_parts()."""
        table, groups = map(table_of, sections)
        return cls(table_cells(table, header["pane_us"], header["earliest_us"]), groups)


class ArrivalCounter:
    """Counts prepared rows of the one input that a query with ERROR has."""

    def __init__(self, plan: QueryPlan) -> None:
        self._lifetime = lifetime_of(plan.inputs[0].window)
        self._pane_us = first_pane_us(max(1, self._lifetime.hold_us - 1))
        side = shape_of(plan).sides[0]
        self._types = [part.type.arrow for part in plan.group_by]
        self._groups = [_place(part, side.groups, "g") for part in plan.group_by]
        self._measures = [_place(part, side.values, "v") for part in measures_of(plan)]

    def count(self, rows: pa.RecordBatch) -> CountedArrivals:
        """Rows in order of arrival, by the instants at which they enter."""
        size = rows.num_rows
        columns = [_column(each, rows) for each in self._groups]
        known = KnownGroups(self._types)
        codes = known.codes_of(columns, size)
        values = np.empty((len(self._measures), size))
        valid = np.ones(values.shape, np.uint8)
        for number, each in enumerate(self._measures):
            column = _column(each, rows)
            values[number] = doubles_of(column)
            if column.null_count:
                valid[number] = column.is_valid().to_numpy(zero_copy_only=False)
        entered = self._lifetime.enter(rows.column("ts").to_numpy(zero_copy_only=False))
        cells = cells_of(entered, codes, values, valid, self._pane_us)
        distinct, places = known.distinct(cells.groups)
        names = [f"g{number}" for number in range(len(columns))]
        groups = pa.Table.from_arrays(known.columns(distinct), names=names)
        return CountedArrivals(replace(cells, groups=places), groups)


def doubles_of(column: pa.Array) -> NDArray[np.float64]:
    """Values as doubles, 0 for NULL; of what is no number only whether it is NULL counts."""
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        return np.zeros(len(column))
    # The nearest double will do: bounds allow for it.
    filled = column.cast(DOUBLE.arrow, safe=False).fill_null(0.0)
    values: NDArray[np.float64] = filled.to_numpy(zero_copy_only=False)
    return values


def cells_table(cells: ArrivalCells) -> pa.Table:
    """Cells as columns: pane, group, and one for each lane."""
    lanes = {f"lane{i}": np.ascontiguousarray(lane) for i, lane in enumerate(cells.lanes.T)}
    return pa.table({"pane": cells.panes, "group": cells.groups, **lanes})


def table_cells(table: pa.Table, pane_us: int, earliest_us: int) -> ArrivalCells:
    """Back from cells_table()."""
    pane, group, *lanes = (column.to_numpy() for column in table.columns)
    stacked = np.empty((table.num_rows, len(lanes)))
    for number, lane in enumerate(lanes):
        stacked[:, number] = lane
    return ArrivalCells(pane_us, earliest_us, pane, group, stacked)


def _place(part: Expr, prepared: tuple[Expr, ...], letter: str) -> str | Expr:
    """The prepared column that has the value of an expression; the expression if it is constant."""
    return f"{letter}{prepared.index(part)}" if inputs_of(part) else part


def _column(place: str | Expr, rows: pa.RecordBatch) -> pa.Array:
    if isinstance(place, str):
        return rows.column(place)
    return evaluate(place, _no_leaf, rows.num_rows)


def _no_leaf(part: Expr) -> pa.Array:
    raise AssertionError(f"{part} in a constant")
