"""The cells of all inputs of a join, and what its answer at an instant lies in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS
from windrow.governor.coarse.cell_form import ROWS, Codes
from windrow.governor.coarse.cell_input import CellInput, measures_of_join
from windrow.governor.coarse.relation import joined_cells
from windrow.governor.coarse.truths import Truth, truth_of
from windrow.governor.error_bounds.bounds import completed_bounds
from windrow.governor.error_bounds.intervals import Flags
from windrow.output.known_groups import KnownGroups
from windrow.plan.model import SEVERAL, QueryPlan

__all__ = ["BYTES_LIMIT", "JoinCells", "JoinedTruths"]

# More than this the cells of one query do not take: panes are merged.
BYTES_LIMIT = 8 << 20
# A forecast may use up this much of the tolerated error, as in error_bounds.tolerance.
FORECAST_SHARE = 0.8
# Tolerances hold for this part of the range: until they are found again.
HORIZON_PARTS = 16
# A window keeps at least this part of its range as rows.
ROWS_KEPT_PARTS = 32


@dataclass(frozen=True)
class JoinedTruths:
    """Of each group: its values, whether it surely has rows, and the truth of each aggregate."""

    groups: dict[int, Codes]
    is_sure: Flags
    truths: tuple[Truth, ...]

    @property
    def size(self) -> int:
        """Groups that may have rows."""
        return int(self.is_sure.size)


class JoinCells:
    """Takes the rows of all inputs; answers from cells, whatever windows hold."""

    def __init__(self, plan: QueryPlan) -> None:
        self._plan = plan
        self._measures = measures_of_join(plan)
        self._variables = {
            variable: KnownGroups([key.type.arrow])
            for entry in plan.inputs
            for variable, key in zip(entry.variables, entry.keys, strict=True)
        }
        self._groups = {
            number: KnownGroups([part.type.arrow])
            for number, part in enumerate(plan.group_by)
            if plan.group_sources[number] is not None
        }
        self.inputs = [self._input(number) for number in range(len(plan.inputs))]
        self.bytes_limit = BYTES_LIMIT
        self._begun_us: int | None = None  # when the first row was there

    def _input(self, input_index: int) -> CellInput:
        own = {
            number: coder
            for number, coder in self._groups.items()
            if self._plan.group_sources[number] == input_index
        }
        return CellInput(self._plan, input_index, self._variables, own)

    def take(self, input_index: int, batch: pa.RecordBatch) -> None:
        """Rows of the stream of an input, all later than the clock."""
        self.inputs[input_index].take(batch)

    def advance(self, until: int) -> None:
        """The clock has come so far: rows up to it are counted."""
        for each in self.inputs:
            each.advance(until)
        self._forget_idle()
        with np.errstate(all="ignore"):
            while self.nbytes > self.bytes_limit and self._coarsen():
                pass

    def _coarsen(self) -> bool:
        """Wider panes for the input whose cells take most."""
        ranked = sorted(self.inputs, key=lambda each: -each.panes.nbytes)
        return any(each.panes.coarsen() for each in ranked)

    def next_stop(self, until: int) -> int:
        """How far the clock may go at once."""
        for each in self.inputs:
            until = each.next_stop(until)
        return until

    def truths(self, at_us: int) -> JoinedTruths:
        """What the answer at an instant lies in; the clock was brought there, and no further."""
        names = [f"g{number}" for number in self._groups]
        with np.errstate(all="ignore"):
            found = joined_cells([each.relation(at_us) for each in self.inputs], names)
        lanes = found.lanes
        if not self._plan.group_by and not found.size:
            lanes = found.form.empty(1)[:, :, None].repeat(2, axis=2)
        some = lanes[:, ROWS, 1] > 0
        if not self._plan.group_by:
            some[:] = True
        lanes = lanes[some]
        groups = (
            {number: found.columns[f"g{number}"][some] for number in self._groups}
            if (found.size or self._plan.group_by)
            else {}
        )
        truths = []
        for each in self._plan.aggregates:
            measure, anchor, is_whole = None, 0.0, False
            if each.measured is not None:
                measure = self._measures.index((each.source or 0, each.measured))
                anchor = self.inputs[each.source or 0].anchors[measure]
                is_whole = each.measured.type.is_integer
            traits = AGGREGATE_FUNCTIONS[each.function]
            truths.append(
                truth_of(traits, measure, found.form, lanes, found.steps, anchor, is_whole=is_whole)
            )
        is_sure = (lanes[:, ROWS, 0] > 0) | (not self._plan.group_by)
        return JoinedTruths(groups, is_sure, tuple(truths))

    def group_values(self, found: JoinedTruths) -> dict[int, pa.Array]:
        """The values of the parts of GROUP BY, by their numbers."""
        return {
            number: self._groups[number].repeated_columns(codes.astype(np.int32))[0]
            for number, codes in found.groups.items()
        }

    def tolerated_span_us(self, input_index: int, percent: float, clock_us: int) -> int:
        """How much narrower a window may be: all but a part, if cells answer within the error.

        Rows that a window holds make an answer from cells no better. So it is all or nothing: as
        things are, and as they will be when the edges cut the fullest of the panes that they reach
        until this is asked again, with no more rows.
        """
        own = self.inputs[input_index]
        if not self._is_range_seen(clock_us):
            return 0
        for at_us in self._instants_ahead(clock_us):
            if self._worst_bound(at_us) > FORECAST_SHARE * percent / 100:
                return 0
        return own.range_us - own.range_us // ROWS_KEPT_PARTS

    def _is_range_seen(self, clock_us: int) -> bool:
        """Whether there is anything to tell by: of the first rows little is known."""
        earliest = min(each.panes.earliest_us for each in self.inputs)
        shortest = min(each.range_us for each in self.inputs)
        return earliest <= clock_us - shortest // HORIZON_PARTS

    def _instants_ahead(self, clock_us: int) -> list[int]:
        found = {clock_us}
        for each in self.inputs:
            ahead_us = each.edge_us(clock_us) + each.range_us // HORIZON_PARTS
            cut_us = each.panes.crowded_us(ahead_us)
            if cut_us is not None:
                found.add(max(clock_us, cut_us - each.edge_us(0)))
        return sorted(found)

    def _worst_bound(self, at_us: int) -> float:
        found = self.truths(at_us)
        worst = 0.0 if found.is_sure.all() else np.inf
        for truth in found.truths:
            worst = max(worst, float(completed_bounds(truth.interval)[1].max(initial=0.0)))
        return worst

    def _forget_idle(self) -> None:
        for each in self.inputs:
            each.forget_idle()
        coders = {f"v{number}": coder for number, coder in self._variables.items()}
        coders |= {f"g{number}": coder for number, coder in self._groups.items()}
        if not any(coder.are_many for coder in coders.values()):
            return
        used = [each.used_columns() for each in self.inputs]
        for name, coder in coders.items():
            codes = np.concatenate([each[name] for each in used if name in each])
            flags = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
            flags[codes] = True
            coder.forget_others(flags)

    @property
    def nbytes(self) -> int:
        """Bytes of cells, of their keys, and of rows that wait."""
        coders = (*self._variables.values(), *self._groups.values())
        return sum(each.nbytes for each in self.inputs) + sum(each.nbytes for each in coders)


def is_constant(plan: QueryPlan, number: int) -> bool:
    """Whether a part of GROUP BY is a constant."""
    return plan.group_sources[number] in (None, SEVERAL)
