"""Combining: rows of one task that no answer can distinguish cross the shuffle as one weighted row.

Where answers show at ticks only, rows with equal key and groups that enter before the same tick and
leave before the same tick make one row that stands for all of them, or two (engine.weighted_rows).
It is done where it leaves a third of the rows or fewer; finding that out costs little compared
with what the rows would cost otherwise.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.exact.kernels import INTEGER
from windrow.operators.registry import first_algorithm
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import lifetime_of
from windrow.rows.shape import shape_of
from windrow.rows.weighted_rows import WEIGHT
from windrow.spark.shuffle.panes_of_rows import LEAST_RATIO, Words, dense, identity, panes_of

__all__ = ["PaneCombiner", "can_combine"]

# Sums of values below this, over the rows of a task, are exact as doubles too.
EXACT_SUM = 1 << 53


def can_combine(plan: QueryPlan, grid_us: int) -> bool:
    """Whether rows of the query may stand for several: answers at ticks, sums of whole numbers.

    A query with DURATION judges every row by its time, and one with ERROR changes its windows.
    """
    if grid_us <= 1 or plan.kind != "aggregate" or plan.duration is not None:
        return False
    if plan.error_percent is not None or first_algorithm(plan) != "factorised":
        return False
    shape = shape_of(plan)
    have_width = all(entry.window.traits.has_width for entry in plan.inputs)
    is_whole = all(kind == INTEGER for kinds in shape.kinds for kind in kinds)
    return have_width and is_whole and shape.mode is not None


class PaneCombiner:
    """Combines prepared rows of one input of a plan."""

    def __init__(self, plan: QueryPlan, input_index: int, grid_us: int) -> None:
        self._lifetime = lifetime_of(plan.inputs[input_index].window)
        self._grid_us = grid_us

    def combined(self, rows: pa.RecordBatch) -> pa.RecordBatch | None:
        """The rows that stand for these, or None where they would not be much fewer."""
        if rows.num_rows < LEAST_RATIO:
            return None
        summed = [name for name in rows.schema.names if _is_summed(rows, name)]
        panes = panes_of(rows.column("ts"), self._lifetime, self._grid_us)
        code = dense([*panes, *identity(rows, left_out=summed), *_is_absent(rows, summed)])
        if code is None:
            return None
        counts = np.bincount(code)
        groups = np.flatnonzero(counts)
        if LEAST_RATIO * groups.size > rows.num_rows:
            return None
        member = np.zeros(counts.size, np.int64)
        member[code] = np.arange(code.size)  # any of them will do
        totals = {name: _sums(rows.column(name), code, counts.size) for name in summed}
        found = _weighted(
            rows.take(pa.array(member[groups])),
            counts[groups],
            {name: total[groups] for name, total in totals.items()},
        )
        return found if LEAST_RATIO * found.num_rows <= rows.num_rows else None


def _is_summed(rows: pa.RecordBatch, name: str) -> bool:
    """Whether values of the column are added up; those of other columns must be equal."""
    column = rows.column(name)
    if name[0] != "v" or column.type != pa.int64() or not len(column):
        return False
    limits = pc.min_max(column).as_py()
    largest: int = max(abs(limits["min"] or 0), abs(limits["max"] or 0))
    return largest * len(column) < EXACT_SUM


def _is_absent(rows: pa.RecordBatch, summed: list[str]) -> list[Words]:
    """Which values are NULL: such rows are not counted with the others."""
    columns = [rows.column(name) for name in summed]
    return [
        column.is_valid().cast(pa.int64()).to_numpy(zero_copy_only=False)
        for column in columns
        if column.null_count
    ]


def _sums(column: pa.Array, code: Words, places: int) -> Words:
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    return np.bincount(code, weights=values, minlength=places).astype(np.int64)


def _weighted(rows: pa.RecordBatch, counts: Words, totals: dict[str, Words]) -> pa.RecordBatch:
    """One row for each group that divides, else one for all but one of its rows and one for it."""
    rest = np.zeros(counts.size, np.bool_)
    for total in totals.values():
        rest |= total % counts != 0
    places = np.concatenate([np.arange(counts.size), np.flatnonzero(rest)])
    last = np.arange(places.size) >= counts.size
    weights = np.where(last, 1, counts[places] - rest[places])
    columns = []
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if name not in totals:
            columns.append(column.take(pa.array(places)))
            continue
        total, each = totals[name][places], (totals[name] // counts)[places]
        values = np.where(last, total - (counts[places] - 1) * each, each)
        absent = column.is_null().take(pa.array(places)).to_numpy(zero_copy_only=False)
        columns.append(pa.array(values, mask=absent))
    schema = rows.schema.append(pa.field(WEIGHT, pa.int64()))
    return pa.RecordBatch.from_arrays([*columns, pa.array(weights)], schema=schema)
