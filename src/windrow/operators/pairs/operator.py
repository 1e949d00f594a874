"""The operator of the pair algorithms: windows joined row by row, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from windrow.event_time import END_OF_TIME
from windrow.operators.lanes import LaneLayout, Vector
from windrow.operators.opened_windows import opened_windows
from windrow.operators.operator import Operator, WorkDone, growth_by_rows
from windrow.operators.pairs.block import JoinedRows, MergedEvents
from windrow.operators.pairs.charged import Charged
from windrow.operators.pairs.groups import DistinctCodes, GroupCodes
from windrow.operators.pairs.index import JoinIndex, join_variables
from windrow.operators.pairs.joined_blocks import BlockEvaluator, Words
from windrow.operators.pairs.negations import Negations
from windrow.operators.pairs.pipelined import Pipelined
from windrow.operators.pairs.probing import BLOCK, EventMerger, Prober
from windrow.operators.pairs.rows import SlotRows, summed_words
from windrow.operators.pairs.shared_rows import SharedSlotRows
from windrow.operators.pairs.sums.incremental import Incremental
from windrow.operators.pairs.sums.states import GroupStates
from windrow.operators.partial import Partial
from windrow.operators.select.joined_rows import LiveResults
from windrow.operators.updated_groups import UpdatedGroups
from windrow.plan.expressions import ColumnRef
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import lifetime_of, prepared_columns
from windrow.rows.prepared_names import TAKES_PART, TIME
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import QueryShape
from windrow.rows.shared_rows import RowReader
from windrow.windows.codes import NO_CODE, NO_FLAGS, Codes, KeyCoder
from windrow.windows.lifetime import Lifetime

__all__ = ["PairOperator"]


class PairOperator(Operator):
    """algorithm: 'pipelined', 'incremental', 'charged', or 'results' for the rows of a select.

    block: joined rows worked on at once. readers: one for each input where the rows are shared with
    other queries.
    """

    def __init__(
        self,
        plan: QueryPlan,
        shape: QueryShape,
        grid_us: int,
        algorithm: str,
        block: int = BLOCK,
        readers: Sequence[RowReader] = (),
    ) -> None:
        inputs = len(plan.joined)
        self._plan = plan
        self._grid_us = grid_us
        self._readers = tuple(readers)
        none = [0] * len(plan.inputs)
        super().__init__(
            opened_windows(plan, none, none, self._readers),
            (prepared_columns(plan, input_index) for input_index in range(len(plan.inputs))),
        )
        self._rows = [self._new_rows(input_index) for input_index in range(len(plan.inputs))]
        self._partitions = [
            KeyCoder([part.type.arrow for part in input_shape.partitions])
            if input_shape.partitions
            else None
            for input_shape in shape.inputs
        ]
        self._variables = join_variables(
            [input_shape.variables for input_shape in shape.inputs[:inputs]]
        )
        self._index = JoinIndex(inputs, self._variables)
        self._coders = [
            KeyCoder([shape.inputs[min(each)].keys[key].type.arrow for key in each[min(each)]])
            if each[min(each)]
            else None
            for each in self._variables
        ]
        self._groups = GroupCodes(shape)
        self._distincts = [DistinctCodes(distinct.argument) for distinct in shape.distincts]
        self._words = Words(shape)
        self._shares = self._words.shares()
        self._states = GroupStates(
            LaneLayout.smallest(shape.kinds), len(shape.distincts), len(shape.extremes)
        )
        self._states.reserve_groups(1)
        self._evaluator = BlockEvaluator(
            shape, self._rows, self._groups, self._distincts, self._words
        )
        self._negations = Negations(shape, self._rows, block) if shape.negations else None
        self._algorithm = self._made(algorithm, shape)
        self._merger = EventMerger(self._windows)
        self._prober = Prober(self._index, inputs, block)
        # Only charges with extremes over windows that count rows are ever probed again.
        is_ranked_again = bool(self._algorithm.pauses_leave.any())
        self._again = Prober(self._index, inputs, block if is_ranked_again else 0)
        self._updated = UpdatedGroups(is_grouped=bool(shape.group_places))
        self._entered = [0] * len(plan.inputs)
        self._kept = 0

    def _new_rows(self, input_index: int) -> SlotRows:
        columns = self._columns[input_index]
        if not self._readers:
            return SlotRows(columns)
        window = self._windows[input_index].columns
        return SharedSlotRows(columns, self._readers[input_index], window)

    def _made(
        self, algorithm: str, shape: QueryShape
    ) -> Incremental | Charged | Pipelined | LiveResults:
        inputs = len(self._plan.joined)
        if algorithm == "results":
            return LiveResults(self._plan, shape, self._states, self._grid_us)
        if algorithm == "incremental":
            return Incremental(self._states, self._shares, inputs)
        if algorithm == "pipelined":
            return Pipelined(self._states, self._shares, inputs)
        assert algorithm == "charged", algorithm
        leaves_by_time = [entry.window.traits.leaves_by_time for entry in self._plan.inputs]
        is_grouped = bool(shape.group_columns)
        return Charged(self._states, self._shares, leaves_by_time, is_grouped=is_grouped)

    def append(self, input_index: int, rows: PreparedRows) -> None:
        """Take prepared rows in order of arrival, all later than the clock."""
        if rows.size == 0:
            return
        live = rows.taking_part()
        if self._readers:  # rows of the others that take no part here
            slots = live_slots = self._rows[input_index].append(live.batch)
            marks, times = np.full(rows.size, NO_CODE, np.int64), live.times
            marks[slice(None) if rows.takes_part is None else rows.takes_part] = slots
        else:
            slots = marks = live_slots = self._rows[input_index].append(rows.batch)
            times = rows.times
            if rows.takes_part is not None:
                # A row that only counts has its slot's complement.
                marks = np.where(rows.takes_part, slots, ~slots)
                live_slots = slots[rows.takes_part]
        self._code(input_index, live_slots, live)
        self._expect(input_index, slots, times)
        coder = self._partitions[input_index]
        partitions = None if coder is None else coder.acquire(rows.partitions)
        codes, none = marks.astype(np.int32), np.empty((0, rows.size), np.int64)
        window = self._windows[input_index]
        window.append(rows.times, codes, none, partitions=partitions)
        self._place(input_index, window.columns.store.appended)
        self._entered[input_index] += rows.size
        self._admit(input_index, live)

    def _place(self, input_index: int, appended: Vector | slice) -> None:
        """Note where shared rows are: those that came, and those that they came in between of."""
        rows = self._rows[input_index]
        if isinstance(rows, SharedSlotRows):
            rows.place(appended.start if isinstance(appended, slice) else int(appended.min()))

    def _code(self, input_index: int, slots: Vector, rows: PreparedRows) -> None:
        """Join variables, groups and distinct values of rows that take part."""
        capacity = max(each.capacity for each in self._rows)
        if self._negations is not None:
            self._negations.append(input_index, slots, rows, capacity)
        for number, variable in enumerate(self._variables):
            coder = self._coders[number]
            if input_index in variable:
                codes = np.zeros(slots.size, np.int32)
                if coder is not None:
                    codes = coder.acquire([rows.keys[key] for key in variable[input_index]])
                self._index.reserve(capacity, 1 if coder is None else coder.capacity)
                self._index.place(input_index, number, slots, codes)
        self._groups.append(input_index, slots, rows, capacity)
        for each in self._distincts:
            each.append(input_index, slots, rows, capacity)

    def _expect(self, input_index: int, slots: Vector, times: Vector) -> None:
        if isinstance(self._algorithm, Incremental) or input_index >= len(self._plan.joined):
            return
        self._algorithm.reserve_slots(max(each.capacity for each in self._rows))
        if isinstance(self._algorithm, (Charged, LiveResults)):
            window = self._plan.inputs[input_index].window
            leave = np.full(times.size, END_OF_TIME)
            if window.traits.leaves_by_time:
                leave = np.minimum(lifetime_of(window).leave(times), END_OF_TIME)
            self._algorithm.expect(input_index, slots, leave)

    def _admit(self, input_index: int, rows: PreparedRows) -> None:
        """Make the layout fit the values of rows that are about to enter."""
        for word, name in self._words.of_input(input_index):
            words, valid = summed_words(rows.batch.column(name))
            self._shares.admit(word, words, NO_FLAGS if valid is None else valid)
        self._fit()

    def _fit(self) -> None:
        joined_rows = 1
        for window in self._windows[: len(self._plan.joined)]:
            joined_rows *= max(window.columns.end - window.columns.head, 1)
        layout = self._shares.fitted(self._states.layout, joined_rows)
        if layout != self._states.layout:
            self._algorithm.change_layout(layout)
            self._states.change_layout(layout)

    def run(self, until: int) -> Partial:
        """Run the windows up to and including `until`."""
        sizes = [1 if coder is None else coder.size for coder in self._coders]
        joined = self._windows[: len(self._plan.joined)]
        counts = [window.columns.tail - window.columns.head for window in joined]
        self._index.choose_orders(counts, sizes)
        self._merger.open(until, self._grid_us)
        algorithm = self._algorithm
        if isinstance(algorithm, LiveResults):
            algorithm.open(until)
        while self._merger.fill():
            for events in self._passed(self._merger.events):
                self._run(events)
        if isinstance(algorithm, LiveResults):
            algorithm.close()
        updates = self._states.drain(until)
        found = self._updated.partial(updates, self._groups.columns)
        self._let_go()
        return found

    def _passed(self, events: MergedEvents) -> Iterable[MergedEvents]:
        """The events of rows that no row of a negated input matches."""
        return (events,) if self._negations is None else self._negations.passed(events)

    def _run(self, events: MergedEvents) -> None:
        """The joined rows of events, block by block."""
        algorithm, prober = self._algorithm, self._prober
        algorithm.begin()
        prober.begin()
        is_done = False
        while not is_done:
            is_done = prober.fill(events, algorithm.probes_leave, algorithm.pauses_leave)
            rows = self._evaluated(prober)
            self._kept += rows.count
            algorithm.apply(events, rows, prober.next_event)
            if isinstance(algorithm, Charged):
                self._rank_again(algorithm)

    def _evaluated(self, prober: Prober) -> JoinedRows:
        rows = self._evaluator.joined_rows(prober.event, prober.slot)
        self._states.reserve_groups(self._groups.capacity)
        is_new = False
        for word, source in enumerate(self._words.sources):
            if not isinstance(source, ColumnRef):
                self._shares.admit(word, rows.words[word], self._words.valid_of(word, rows))
                is_new = True
        if is_new:
            self._fit()
        return rows

    def _rank_again(self, charged: Charged) -> None:
        """Find the extremes of charges whose best joined row has gone."""
        inputs, slots = charged.stale_rows()
        if inputs.size:
            events = self._merger.probing(inputs, slots)
            self._again.begin()
            is_done = False
            while not is_done:
                is_done = self._again.fill(events, charged.probes_leave, charged.pauses_leave)
                charged.rank_again(self._evaluated(self._again))
        charged.end_ranking()

    def _let_go(self) -> None:
        waiting = self._states.waiting()
        self._groups.hold(waiting)
        for input_index, window in enumerate(self._windows):
            gone = window.close()
            if gone is None:
                continue
            columns, coder = window.columns, self._partitions[input_index]
            if coder is not None:
                window.forget_partitions(coder.release(columns.partitions[gone]))
            marks = columns.codes[gone].astype(np.int64)
            if self._readers:
                marks = marks[marks >= 0]
            self._forget(input_index, marks[marks >= 0])
            self._rows[input_index].release(np.where(marks < 0, ~marks, marks))
            window.reclaim(gone)
        self._sweep(waiting)

    def _forget(self, input_index: int, slots: Vector) -> None:
        for number, variable in enumerate(self._variables):
            coder = self._coders[number]
            if input_index in variable and coder is not None:
                coder.release(self._index.codes_of(input_index, number, slots))
        if self._negations is not None:
            self._negations.release(input_index, slots)
        self._groups.release(input_index, slots)
        for each in self._distincts:
            each.release(input_index, slots)

    def _sweep(self, waiting: Codes) -> None:
        """Forget codes of groups, values and charges without joined rows, when they are many."""
        states = self._states

        def live_groups() -> Codes:
            is_live = states.count != 0
            is_live[waiting] = True
            return np.flatnonzero(is_live).astype(np.int32)

        self._algorithm.sweep()
        states.sweep()
        self._groups.sweep(live_groups)
        for number, each in enumerate(self._distincts):
            each.sweep(partial(states.live_values, number))

    def put_out_all(self, at: int) -> None:
        """Put out every live group at this later instant: for output on a grid after a rebuild."""
        self._states.put_out_all(at)
        self._groups.hold(self._states.waiting())

    def rows(self, input_index: int) -> pa.RecordBatch:
        """The rows held and waiting, as prepared rows in their order."""
        window, columns = self._windows[input_index], self._columns[input_index]
        places = np.concatenate([window.held(), window.waiting()])
        if self._readers:
            places = places[window.columns.codes[places] != NO_CODE]
        # A step that was rolled back has left them where they are no more.
        self._place(input_index, slice(window.columns.head, window.columns.end))
        marks = window.columns.codes[places]
        slots = np.where(marks < 0, ~marks, marks)
        coder = self._partitions[input_index]
        partitions = [] if coder is None else coder.columns(window.columns.partitions[places])
        named = {TIME: pa.array(window.columns.times[places]), TAKES_PART: pa.array(marks >= 0)}
        named |= dict(zip(columns.schema.names[columns.partitions], partitions, strict=True))
        named |= {
            name: self._rows[input_index].column(name, slots)
            for name in self._rows[input_index].names
        }
        arrays = [named[name] for name in columns.schema.names]
        return pa.RecordBatch.from_arrays(arrays, schema=columns.schema)

    def change_lifetime(self, input_index: int, lifetime: Lifetime) -> None:
        """Rows of the input leave by this lifetime from now on."""
        # What was charged, or noted to expire, was so by the lifetime of before.
        assert not isinstance(self._algorithm, (Charged, LiveResults)), (
            "it knows in advance who leaves"
        )
        super().change_lifetime(input_index, lifetime)

    def window_bytes(self) -> list[int]:
        """Bytes of each input's rows."""
        return [
            window.nbytes + rows.nbytes
            for window, rows in zip(self._windows, self._rows, strict=True)
        ]

    @property
    def nbytes(self) -> int:
        """Bytes of windows, codes, indexes, states and what the algorithm keeps."""
        coders = [coder for coder in (*self._coders, *self._partitions) if coder is not None]
        codes = sum(each.nbytes for each in coders) + self._groups.nbytes
        codes += sum(each.nbytes for each in self._distincts)
        kept = self._index.nbytes + self._states.nbytes + self._algorithm.nbytes
        kept += 0 if self._negations is None else self._negations.nbytes
        work = self._merger.nbytes + self._prober.nbytes + self._again.nbytes + self._shares.nbytes
        return sum(self.window_bytes()) + codes + kept + work

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""
        coders = [coder for coder in self._coders if coder is not None]
        slots = max(each.capacity_after(rows) for each in self._rows)
        codes = max((coder.capacity_after(rows) for coder in coders), default=1)
        more = sum(each.growth_bytes(rows) for each in self._rows)
        more += sum(each.growth_bytes(rows) for each in coders)
        more += self._index.growth_bytes(slots, codes, rows)
        known = sum(self.window_bytes()) + self._index.nbytes
        known += sum(each.nbytes for each in coders)
        if isinstance(self._algorithm, Charged) and self._algorithm.is_by_row:
            more += self._algorithm.growth_bytes(slots)
            known += self._algorithm.nbytes
        # What joined rows bring, nobody foresees.
        beside = self.nbytes - known
        return more + growth_by_rows(beside, sum(self.row_counts()), rows)

    def close(self) -> None:
        """Another operator has taken over: shared rows are no longer read here."""
        for reader in self._readers:
            reader.close()

    def joined_rows(self) -> int:
        """Joined rows that are live."""
        return int(self._states.count.sum())

    def work_done(self) -> WorkDone:
        """What was measured so far."""
        probes, matches = self._prober.work_done()
        return WorkDone(tuple(self._entered), probes, matches, self._kept)
