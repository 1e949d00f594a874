"""Picking: rows of one task that can decide no MIN or MAX do not cross the shuffle.

Where answers show at ticks only, rows with equal key and groups that enter before the same tick and
leave before the same tick are there together or not at all. A query that asks for nothing but
extremes then needs, of each column, the one row with the largest or smallest value; of an input
whose values it does not ask for, any one row. How many there were does not show in an answer.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import ColumnRef, walk
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import lifetime_of
from windrow.rows.shape import QueryShape, shape_of
from windrow.spark.shuffle.panes_of_rows import LEAST_RATIO, Words, dense, identity, panes_of
from windrow.windows.column_words import words_of_array

__all__ = ["PanePicker", "can_pick"]

Numbers = NDArray[np.int64] | NDArray[np.float64]


def can_pick(plan: QueryPlan, grid_us: int) -> bool:
    """Whether rows of the query may be left out: answers at ticks, and nothing but extremes.

    A query with DURATION judges every row by its time, one with ERROR counts them, and a negation
    looks for rows that are not there.
    """
    if grid_us <= 1 or plan.kind != "aggregate" or plan.duration is not None:
        return False
    if plan.error_percent is not None or plan.negations:
        return False
    have_width = all(entry.window.traits.has_width for entry in plan.inputs)
    counts_once = [aggregate.traits.laws.is_idempotent for aggregate in plan.aggregates]
    return have_width and bool(counts_once) and all(counts_once)


class PanePicker:
    """Picks among prepared rows of one input of a plan."""

    def __init__(self, plan: QueryPlan, input_index: int, grid_us: int) -> None:
        self._lifetime = lifetime_of(plan.inputs[input_index].window)
        self._grid_us = grid_us
        self._asked = _asked(shape_of(plan), input_index)

    def combined(self, rows: pa.RecordBatch) -> pa.RecordBatch | None:
        """The rows that decide for all of these, or None where they would not be much fewer."""
        if rows.num_rows < LEAST_RATIO:
            return None
        numbers = {name: _numbers(rows.column(name)) for name in self._asked}
        asked = {name: found for name, found in numbers.items() if found is not None}
        panes = panes_of(rows.column("ts"), self._lifetime, self._grid_us)
        code = dense([*panes, *identity(rows, left_out=asked)])
        if code is None or LEAST_RATIO * _kinds(code) > rows.num_rows:
            return None
        chosen = self._chosen(rows, code, asked)
        if LEAST_RATIO * chosen.size > rows.num_rows:
            return None
        return rows.take(pa.array(chosen))

    def _chosen(self, rows: pa.RecordBatch, code: Words, asked: dict[str, Numbers]) -> Words:
        """The places of the rows that are needed, in order of arrival."""
        places = int(code.max()) + 1
        needed = [np.empty(0, np.int64)]
        for name, values in asked.items():
            known = np.flatnonzero(rows.column(name).is_valid().to_numpy(zero_copy_only=False))
            for is_max in self._asked[name]:
                signed = values[known] if is_max else _reversed(values[known])
                needed.append(known[_largest(code[known], signed, places)])
        found = np.unique(np.concatenate(needed))
        # A group in which no value is known is there all the same.
        left = np.ones(places, np.bool_)
        left[code[found]] = False
        others = np.flatnonzero(left[code])
        member = np.full(places, -1)
        member[code[others]] = others  # any of them will do
        return np.sort(np.concatenate([found, member[member >= 0]]))


def _kinds(code: Words) -> int:
    """How many different numbers there are, all of them small."""
    occurs = np.zeros(int(code.max()) + 1, np.bool_)
    occurs[code] = True
    return int(np.count_nonzero(occurs))


def _asked(shape: QueryShape, input_index: int) -> dict[str, set[bool]]:
    """The columns of which nothing but extremes is asked, with whether the largest is, or both."""
    plain: dict[str, set[bool]] = {}
    parts = list(shape.group_columns)
    if shape.residual is not None:
        parts.append(shape.residual)
    for extreme in shape.extremes:
        argument = extreme.argument
        if not isinstance(argument, ColumnRef):
            parts.append(argument)
        elif argument.source == input_index:
            plain.setdefault(argument.column, set()).add(extreme.is_max)
    leaves = [leaf for part in parts for leaf in walk(part) if isinstance(leaf, ColumnRef)]
    taken = {leaf.column for leaf in leaves if leaf.source == input_index}
    return {name: asked for name, asked in plain.items() if name not in taken}


def _numbers(column: pa.Array) -> Numbers | None:
    """Values that are ordered as the column is; None where only equal ones are easy to see."""
    kind = column.type
    if pa.types.is_floating(kind):
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        return None if np.isnan(values).any() else values
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return words_of_array(column)[0]
    return None


def _reversed(values: Numbers) -> Numbers:
    """Values in the opposite order; of integers the complement, as the smallest has no negative."""
    return -values if values.dtype == np.float64 else np.invert(values.view(np.int64))


def _largest(code: Words, values: Numbers, places: int) -> Words:
    """For each number that occurs in `code`, the place of a largest value."""
    most = np.empty(places, values.dtype)
    most[code] = values
    np.maximum.at(most, code, values)
    winners = np.flatnonzero(values == most[code])
    place = np.full(places, -1)
    place[code[winners]] = winners
    return place[place >= 0]
