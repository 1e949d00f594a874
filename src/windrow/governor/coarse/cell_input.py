"""One input of a join with ERROR: its rows as they come, and its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.governor.bounded.counted_arrivals import doubles_of
from windrow.governor.coarse.cell_form import CellForm, Codes, Lanes, lanes_for
from windrow.governor.coarse.cell_panes import CellPanes
from windrow.governor.coarse.relation import Relation
from windrow.governor.error_bounds.arrival_cells import first_pane_us
from windrow.output.known_groups import KnownGroups
from windrow.plan.expressions import Expr
from windrow.plan.model import QueryPlan
from windrow.rows.checked_columns import leaf_of
from windrow.rows.evaluate import evaluate, evaluate_filter
from windrow.rows.prepare import lifetime_of

__all__ = ["CellInput", "measures_of_join"]

Instants = NDArray[np.int64]


@dataclass(frozen=True)
class _Waiting:
    """Rows that the clock has not reached, in the order in which they enter."""

    times: Instants
    codes: Codes
    lanes: Lanes

    def later(self, other: _Waiting) -> _Waiting:
        times = np.concatenate([self.times, other.times])
        order = np.argsort(times, kind="stable")
        codes = np.concatenate([self.codes, other.codes])[order]
        return _Waiting(times[order], codes, np.concatenate([self.lanes, other.lanes])[order])

    def part(self, rows: slice) -> _Waiting:
        return _Waiting(self.times[rows], self.codes[rows], self.lanes[rows])


def measures_of_join(plan: QueryPlan) -> tuple[tuple[int, Expr], ...]:
    """What is aggregated, each once, with the input that it reads."""
    found = (
        (each.source or 0, each.measured) for each in plan.aggregates if each.measured is not None
    )
    return tuple(dict.fromkeys((source, part) for source, part in found if part is not None))


class CellInput:
    """Cells by what the input joins on and what it gives to the groups.

    variables: codes of the values of each join variable, shared with the other inputs; groups: of
    each part of GROUP BY that this input gives.
    """

    def __init__(
        self,
        plan: QueryPlan,
        input_index: int,
        variables: dict[int, KnownGroups],
        groups: dict[int, KnownGroups],
    ) -> None:
        self._entry = plan.inputs[input_index]
        self.full = lifetime_of(self._entry.window)
        self.range_us = self.full.hold_us - 1
        self._measures = {
            number: part
            for number, (source, part) in enumerate(measures_of_join(plan))
            if source == input_index
        }
        self._keys = dict(zip(self._entry.variables, self._entry.keys, strict=True))
        self._parts = {number: plan.group_by[number] for number in groups}
        self._variables, self._groups = variables, groups
        self._names = [f"v{number}" for number in self._keys] + [f"g{i}" for i in self._parts]
        # A cell has one code where it has several columns of codes.
        self._cells = KnownGroups([pa.int32()] * len(self._names)) if self._names[1:] else None
        self.form = CellForm.of(self._needed(plan))
        self.anchors = dict.fromkeys(self._measures, 0.0)
        self._is_anchored: set[int] = set()
        self.panes = CellPanes(
            self.form, first_pane_us(max(1, self.range_us), plan.every_us), max(1, self.range_us)
        )
        self._waiting = _Waiting(
            np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, self.form.width))
        )

    def _needed(self, plan: QueryPlan) -> list[tuple[int, str]]:
        found = measures_of_join(plan)
        return [
            (number, lane)
            for each in plan.aggregates
            if each.measured is not None
            for number in self._measures
            if found[number] == (each.source or 0, each.measured)
            for lane in lanes_for(each.traits)
        ]

    def take(self, batch: pa.RecordBatch) -> None:
        """Rows of the stream, in order of arrival, all later than the clock."""
        leaf = leaf_of(batch)
        if self._entry.filter is not None:
            batch = batch.filter(
                pa.array(evaluate_filter(self._entry.filter, leaf, batch.num_rows))
            )
            leaf = leaf_of(batch)
        keys = {name: evaluate(part, leaf, batch.num_rows) for name, part in self._keys.items()}
        if any(key.null_count for key in keys.values()):  # NULL matches nothing
            known = np.logical_and.reduce([_valid(key) for key in keys.values()])
            batch = batch.filter(pa.array(known))
            leaf = leaf_of(batch)
            keys = {name: key.filter(pa.array(known)) for name, key in keys.items()}
        if not batch.num_rows:
            return
        size = batch.num_rows
        times = batch.column(self._entry.stream.time).cast(pa.int64()).to_numpy()
        codes = [self._variables[name].codes_of([key], size) for name, key in keys.items()]
        codes += [
            self._groups[number].codes_of([evaluate(part, leaf, size)], size)
            for number, part in self._parts.items()
        ]
        values, valid = {}, {}
        for number, part in self._measures.items():
            column = evaluate(part, leaf, size)
            values[number], valid[number] = doubles_of(column), _valid(column)
            self._anchor(number, values[number][valid[number]])
        with np.errstate(all="ignore"):  # what is beyond the doubles is not known
            lanes = self.form.of_rows(values, valid, self.anchors, size)
        rows = _Waiting(self.full.enter(times), self._cell_codes(codes, size), lanes)
        self._waiting = self._waiting.later(rows)

    def _anchor(self, measure: int, values: NDArray[np.float64]) -> None:
        """Distances are from the first finite value: sums of squares then cancel little."""
        finite = values[np.isfinite(values)]
        if finite.size and measure not in self._is_anchored:
            self._is_anchored.add(measure)
            self.anchors[measure] = float(finite[0])

    def _cell_codes(self, codes: Sequence[NDArray[np.int32]], size: int) -> Codes:
        if self._cells is None:
            return codes[0].astype(np.int64) if codes else np.zeros(size, np.int64)
        return self._cells.codes_of([pa.array(each) for each in codes], size).astype(np.int64)

    def advance(self, until: int) -> None:
        """The clock has come so far."""
        count = int(np.searchsorted(self._waiting.times, until, side="right"))
        if count:
            rows = self._waiting.part(slice(0, count))
            self._waiting = self._waiting.part(slice(count, None))
            with np.errstate(all="ignore"):
                self.panes.add(rows.times, rows.codes, rows.lanes)
        self.panes.forget_before(self.edge_us(until))

    def edge_us(self, at_us: int) -> int:
        """Rows that entered before are out of the whole range at this instant."""
        return int(self.full.edge(np.array([at_us]))[0])

    def next_stop(self, until: int) -> int:
        """How far the clock may go at once."""
        waiting = self._waiting.times
        return min(until, int(waiting[0]) + self.range_us) if waiting.size else until

    def relation(self, at_us: int) -> Relation:
        """The cells in the window at an instant that is not before the clock, in both worlds."""
        codes, lanes = self.panes.worlds(self.edge_us(at_us))
        steps = self.panes.row_count + self.panes.pane_count
        parts: list[NDArray[np.int32]] = [codes.astype(np.int32)]
        if self._cells is not None:
            parts = [each.to_numpy() for each in self._cells.columns(parts[0])]
        columns = {
            name: part.astype(np.int64) for name, part in zip(self._names, parts, strict=False)
        }
        return Relation(columns, lanes, self.form, steps)

    def forget_idle(self) -> None:
        """Cells without rows: their codes may soon mean others."""
        if self._cells is None or not self._cells.are_many:
            return
        self._cells.forget_others(_flags(self.used_cells))

    @property
    def used_cells(self) -> Codes:
        """Codes of all cells that have rows, or rows that wait."""
        return np.concatenate([self.panes.used_codes, self._waiting.codes])

    def used_columns(self) -> dict[str, Codes]:
        """The codes of variables and groups of these cells."""
        cells = np.unique(self.used_cells).astype(np.int32)
        parts = [cells] if self._cells is None else self._cells.columns(cells)
        return {
            name: np.asarray(part).astype(np.int64)
            for name, part in zip(self._names, parts, strict=False)
        }

    @property
    def nbytes(self) -> int:
        """Bytes of cells and of rows that wait."""
        waiting = self._waiting
        own = 0 if self._cells is None else self._cells.nbytes
        waits = waiting.times.nbytes + waiting.codes.nbytes + waiting.lanes.nbytes
        return own + self.panes.nbytes + waits


def _valid(column: pa.Array) -> NDArray[np.bool_]:
    known: NDArray[np.bool_] = column.is_valid().to_numpy(zero_copy_only=False)
    return known


def _flags(codes: Codes) -> NDArray[np.bool_]:
    used = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
    used[codes] = True
    return used
