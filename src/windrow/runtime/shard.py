"""The shard: the windows of one query for one slice of the keys. Rows in, group updates out.

Time is an argument. No clock, no thread, no I/O, no randomness: the same rows in the same order
give the same bytes, however they were cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from windrow.errors import CheckpointError
from windrow.event_time import START_OF_TIME
from windrow.operators.lanes import LaneLayout
from windrow.operators.operator import (
    NeedsCellsError,
    NeedsPairsError,
    NeedsSingleRowsError,
    Operator,
)
from windrow.operators.partial import Partial, one_batch
from windrow.operators.registry import first_algorithm, operator_for
from windrow.operators.relations.operator import NO_LIMIT
from windrow.plan.cost import candidates
from windrow.plan.figures import Figures
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.rows.faults import FaultError
from windrow.rows.frames import pack, unpack
from windrow.rows.prepare import lifetime_of, prepared_columns, prepared_names
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import shape_of
from windrow.rows.shared_rows import RowReader
from windrow.runtime.choosing import Chooser
from windrow.windows.instants import NO_INSTANTS
from windrow.windows.lifetime import Lifetime, lifetimes_from_json, lifetimes_to_json
from windrow.windows.marks import Mark
from windrow.windows.window import OperatorMark, Window

__all__ = ["Shard", "ShardMark"]

# Algorithms that note with a row who leaves first: they cannot continue when lifetimes change.
FORETELLING = frozenset(["charged"])


class ShardMark(NamedTuple):
    """How a shard was before a step."""

    own: Mark
    operator: OperatorMark
    taking: tuple[int, ...]


class Shard:
    """Keeps a plan's windows and aggregates; grid_us > 1 puts out only states at its multiples.

    readers: one for each input where the rows are shared with other queries. is_followed: it is a
    select that tells its changes alone (operators.select.following says which can).
    """

    # More changes than those that it gives go through no part of it.
    step_changes = 0
    # All its rows come from streams.
    entered = NO_INSTANTS
    # Only trees have sessions.
    closed = None
    # Its steps are never too large: it forms joined rows one after the other.
    most_changes = NO_LIMIT

    def __init__(
        self,
        plan: QueryPlan,
        grid_us: int = 1,
        algorithm: str | None = None,
        readers: Sequence[RowReader] = (),
        *,
        is_followed: bool = False,
    ) -> None:
        self.plan = plan
        self._is_followed = is_followed
        self.clock = START_OF_TIME
        self.algorithm = algorithm or first_algorithm(plan)
        self._grid_us = grid_us
        self._shape = shape_of(plan)
        self._columns = [
            prepared_columns(plan, input_index) for input_index in range(len(plan.inputs))
        ]
        self._operator: Operator = self._new_operator(self.algorithm, readers)
        self._lifetimes: dict[int, Lifetime] = {}  # where they are not those of the plan
        self._chooser = Chooser(plan)
        self._is_first_operator = True
        self._is_marked = False
        self._replaced: list[
            Operator
        ] = []  # operators that others have taken over from in this step
        self._expands = False  # whether weighted rows are expanded, whatever the operator takes
        self._complete_at: int | None = None  # where all live groups are put out after a rebuild

    def _new_operator(self, algorithm: str, readers: Sequence[RowReader] = ()) -> Operator:
        given = (self.plan, self._shape, self._grid_us, algorithm, readers)
        return operator_for(*given, is_followed=self._is_followed)

    def live_columns(self) -> tuple[list[pa.Array], int]:
        """Of a select that is followed: the columns of its result now, and its rows."""
        return self._operator.live_columns()

    def mark(self, taking: Iterable[int] = ()) -> ShardMark:
        """How it is now: rewind() goes back to it until keep() is called.

        taking: the inputs whose rows are about to be taken.
        """
        mark = ShardMark(Mark(self, self._chooser), self._operator.mark(), tuple(taking))
        self._is_marked = True
        return mark

    def keep(self, mark: ShardMark) -> None:
        """The step since the mark is whole."""
        mark.operator.keep()
        self._is_marked = False
        while self._replaced:
            self._replaced[-1].close()
            self._replaced.pop()

    def rewind(self, mark: ShardMark) -> None:
        """Roll back to the mark: what a failed step left behind is rebuilt from the rows."""
        mark.own.rewind()
        mark.operator.rewind()
        for input_index in mark.taking:
            self._operator.windows[input_index].columns.refuse_appended()
        self._is_marked = True  # the operator that is replaced has the rows until all is made anew
        if self._operator.is_endless:
            self._begin_with_sums(self._operator)
        elif not self._begin_anew(self.algorithm):
            self._begin_anew("charged")

    def advance(self, changes: Mapping[int, PreparedRows], until: int) -> Partial:
        """Take prepared rows, all later than the clock, and run to `until`, inclusive."""
        if changes:
            self.append(changes)
        self.clock = max(self.clock, until)
        try:
            partial = self._operator.run(self.clock)
        except FaultError as fault:
            raise fault.in_words(prepared_names(self.plan)) from None
        if not self._is_first_operator:  # its codes mean other groups than those of the first one
            partial = replace(partial, codes=None)
        if self._complete_at is not None and self._complete_at <= self.clock:
            partial = replace(partial, complete_at=self._complete_at)
            self._complete_at = None
        if self.plan.kind == "aggregate" and self._chooser.due(self._operator):
            self._reconsider()
        return partial

    def append(self, changes: Mapping[int, PreparedRows]) -> None:
        """Take prepared rows, all later than the clock, and let them wait."""
        for input_index, rows in changes.items():
            try:
                self._operator.append(input_index, self._as_kept(self._operator, rows))
            except NeedsPairsError:
                self.change_algorithm("charged")
                self._operator.append(input_index, self._as_kept(self._operator, rows))
            except NeedsCellsError:
                self._fold()
                self._operator.append(input_index, self._as_kept(self._operator, rows))
            except NeedsSingleRowsError:
                self._expands = True
                self._begin_anew(self.algorithm)
                self._operator.append(input_index, self._as_kept(self._operator, rows))

    def _fold(self) -> bool:
        """Go on with an operator that has cells, from the rows held."""
        self._shape = replace(self._shape, is_folded=True)
        return self._begin_anew(self.algorithm)

    def _as_kept(self, operator: Operator, rows: PreparedRows) -> PreparedRows:
        """Weighted rows are expanded for operators that hold each row by itself."""
        if rows.weights is None or (operator.takes_weights and not self._expands):
            return rows
        return rows.expanded()

    def next_stop(self, until: int, events: int) -> int:
        """How far the clock may go, at most to `until`, for about so many events of a window."""
        for window in self._operator.windows:
            until = window.next_stop(until, events)
        return until

    def event_count(self) -> int:
        """A number that has grown by about one for each event of a window meanwhile."""
        count = 0
        for window in self._operator.windows:
            count += window.event_count
        return count

    def change_algorithm(self, algorithm: str) -> bool:
        """Go on by another algorithm, from the rows held; no answer changes by it.

        False: the rows held are not for that algorithm, and nothing has changed.
        """
        if algorithm == self.algorithm:
            return True
        if self._lifetimes and algorithm in FORETELLING:
            return False
        return self._begin_anew(algorithm)

    def _begin_anew(self, algorithm: str) -> bool:
        """Go on with a new operator, from the rows held; False where it does not take them."""
        operator = self._new_operator(algorithm)
        for input_index, lifetime in self._lifetimes.items():
            operator.change_lifetime(input_index, lifetime)
        try:
            for input_index in range(len(self.plan.inputs)):
                rows = self._columns[input_index].rows(self._operator.rows(input_index))
                operator.append(
                    input_index, self._as_kept(operator, self._still_held(input_index, rows))
                )
        except NeedsPairsError:
            return False
        except NeedsCellsError:
            self._shape = replace(self._shape, is_folded=True)
            return self._begin_anew(algorithm)
        operator.run(self.clock)
        self._replace(operator, algorithm)
        return True

    def _begin_with_sums(self, old: Operator) -> None:
        """The same where rows never leave: sums stand for those that the clock has passed."""
        operator = self._new_operator(self.algorithm)
        layout, sums = old.sums()
        operator.load_sums(sums, LaneLayout.from_json(layout))
        operator.advance({0: self._columns[0].rows(old.rows(0))}, self.clock)
        self._replace(operator, self.algorithm)

    def _replace(self, operator: Operator, algorithm: str) -> None:
        """The old operator is closed once the step is whole: until then it has the rows."""
        old = self._operator
        if self._is_marked:
            self._replaced.append(old)
        self._operator, self.algorithm = operator, algorithm
        if not self._is_marked:
            old.close()
        self._is_first_operator = False
        self._chooser.begin(operator, self.clock)
        self.show_all_on_grid()

    def refill(self, rows: Mapping[int, PreparedRows], clock: int) -> None:
        """Take the rows of its stores, of a shard that has seen none, and stand at the clock."""
        self.clock = clock
        self.advance(rows, clock)
        self.show_all_on_grid()

    def change_lifetimes(self, lifetimes: Mapping[int, Lifetime]) -> None:
        """Windows of these inputs let rows go by other lifetimes, from their floor on."""
        if not lifetimes:
            return  # else an algorithm would change for nothing
        self._lifetimes.update(lifetimes)
        if self.algorithm in FORETELLING:
            ranked = candidates(self.plan, self.figures())
            names = [each.name for each in ranked if each.reason is None]
            self.change_algorithm(next(name for name in names if name not in FORETELLING))
        for input_index, lifetime in lifetimes.items():
            self._operator.change_lifetime(input_index, lifetime)

    @property
    def is_plain(self) -> bool:
        """Whether it holds all rows that the windows of its plan do."""
        return not self._lifetimes and not self._operator.is_endless

    @property
    def fixes_lifetimes(self) -> bool:
        """Whether lifetimes cannot change without another algorithm."""
        return self.algorithm in FORETELLING or self._shape.is_select

    def lifetime(self, input_index: int) -> Lifetime:
        """How long rows of an input stay now."""
        return self._lifetimes.get(input_index) or lifetime_of(self.plan.inputs[input_index].window)

    def close(self) -> None:
        """Nothing is run any more: shared rows are no longer read here."""
        for operator in (*self._replaced, self._operator):
            operator.close()

    def held_inputs(self) -> list[tuple[QueryPlan, int]]:
        """The inputs whose rows are held: the plan that they belong to, and their numbers in it."""
        numbers = () if self._operator.is_endless else range(len(self.plan.inputs))
        return [(self.plan, number) for number in numbers]

    def input_rows(self, plan: QueryPlan, input_index: int) -> pa.RecordBatch:
        """The rows of an input, held and waiting, as prepared rows."""
        assert plan is self.plan
        return self._operator.rows(input_index)

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of all inputs."""
        return self._operator.windows

    def figures(self) -> Figures:
        """What is known of the streams: guessed at first, measured once enough has come in."""
        return self._chooser.figures

    def _reconsider(self) -> None:
        """Measure, and change the algorithm where the choice is ours and another one pays."""
        self._chooser.measure(self._operator, self.clock)
        wanted: str | None = self.plan.algorithm
        if wanted == "auto":
            wanted = self._chooser.better(self.algorithm)
        if wanted is not None:
            self.change_algorithm(wanted)

    def snapshot(self) -> bytes:
        """All rows that are held or wait, as prepared rows; everything else follows from them."""
        header: dict[str, Any] = {"fingerprint": fingerprint(self.plan), "clock": self.clock}
        header["lifetimes"] = lifetimes_to_json(self._lifetimes)
        tables = {
            str(input_index): self._operator.rows(input_index)
            for input_index in range(len(self.plan.inputs))
        }
        if self._operator.is_endless:
            header["layout"], tables["sums"] = self._operator.sums()
        return pack("shard", header, tables)

    @classmethod
    def restore(cls, plan: QueryPlan, data: bytes, grid_us: int = 1) -> Shard:
        """The shard that snapshot() saved."""
        header, tables = unpack("shard", data)
        if header["fingerprint"] != fingerprint(plan):
            raise CheckpointError(
                "WC105",
                "the saved state belongs to another query",
                hint="start the changed query with a new checkpoint",
            )
        sums = tables.pop("sums", None)
        rows = {int(input_index): table for input_index, table in tables.items()}
        if sums is None:
            lifetimes = lifetimes_from_json(header["lifetimes"])
            return cls.rebuild(plan, rows, header["clock"], grid_us, lifetimes)
        shard = cls(plan, grid_us)
        shard._operator.load_sums(sums, LaneLayout.from_json(header["layout"]))
        changes = {
            input_index: shard.prepared(input_index, one_batch(table))
            for input_index, table in rows.items()
        }
        shard.advance(changes, header["clock"])
        shard.show_all_on_grid()
        return shard

    @classmethod
    def rebuild(
        cls,
        plan: QueryPlan,
        rows: Mapping[int, pa.Table],
        clock: int,
        grid_us: int = 1,
        lifetimes: Mapping[int, Lifetime] | None = None,
    ) -> Shard:
        """A shard at `clock` from prepared rows in order of arrival; rows that left do no harm."""
        return cls.rebuilt(plan, rows, clock, grid_us, lifetimes)[0]

    @classmethod
    def rebuilt(
        cls,
        plan: QueryPlan,
        rows: Mapping[int, pa.Table],
        clock: int,
        grid_us: int = 1,
        lifetimes: Mapping[int, Lifetime] | None = None,
    ) -> tuple[Shard, Partial]:
        """The same, and what it gives for these rows alone: of use is what it ends with."""
        shard = cls(plan, grid_us)
        if lifetimes:
            shard.change_lifetimes(lifetimes)
        shard.clock = clock
        changes = {
            input_index: shard._still_held(
                input_index, shard.prepared(input_index, one_batch(table))
            )
            for input_index, table in rows.items()
        }
        partial = shard.advance(changes, clock)
        shard.show_all_on_grid()
        return shard, partial

    def window_statistics(self) -> list[tuple[int, int, int]]:
        """Per input: its position, rows held, bytes (rows, and its part of keys and sums)."""
        sizes = self._operator.window_bytes()
        beside = (self._operator.nbytes - sum(sizes)) // len(sizes)
        counts = self._operator.row_counts()
        return [
            (input_index, rows, size + beside)
            for input_index, (rows, size) in enumerate(zip(counts, sizes, strict=True))
        ]

    @property
    def nbytes(self) -> int:
        """Bytes of windows, codes and sums."""
        return self._operator.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""
        return self._operator.growth_bytes(rows)

    def show_all_on_grid(self) -> None:
        """Which groups changed since the last grid instant is unknown after a rebuild: take all.

        They are put out at the next one; those that have gone are the ones that are missing there.
        """
        if self._grid_us > 1:
            self._complete_at = (self.clock // self._grid_us + 1) * self._grid_us
            self._operator.put_out_all(self._complete_at)

    def prepared(self, input_index: int, batch: pa.RecordBatch) -> PreparedRows:
        """Rows of an input that were saved or shuffled as a batch."""
        return self._columns[input_index].rows(batch)

    def _still_held(self, input_index: int, rows: PreparedRows) -> PreparedRows:
        """Without the rows that left a timed window before the clock: they enter no more."""
        if not self.plan.inputs[input_index].window.traits.leaves_by_time:
            return rows
        return rows.filtered(self.lifetime(input_index).leave(rows.times) > self.clock)
