"""Charged: a joined row is counted under the row of it that leaves first, and goes with that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.operators.code_tuples import SweptTuples
from windrow.operators.lanes import LaneLayout, Vector
from windrow.operators.pairs import charge_kernels
from windrow.operators.pairs.arrays import JoinedArrays, RecordArrays, WholeArrays
from windrow.operators.pairs.block import JoinedRows, MergedEvents
from windrow.operators.pairs.index_kernels import choose_owners
from windrow.operators.pairs.sums.shares import Shares
from windrow.operators.pairs.sums.states import GroupStates, grown, in_layout
from windrow.windows.growing import enlarged, enlarging_bytes
from windrow.windows.kernels import EMPTY

__all__ = ["Charged"]


class Charged:
    """TC, GTC and MTC; leaves_by_time: per input, whether a row's time says when it leaves."""

    def __init__(
        self,
        states: GroupStates,
        shares: Shares,
        leaves_by_time: Sequence[bool],
        *,
        is_grouped: bool,
    ) -> None:
        self._states = states
        self._shares = shares
        self._inputs = len(leaves_by_time)
        distincts, extremes = states.distincts, states.extremes
        # Where no instant is known, a joined row is charged to its row of the first input.
        is_any_by_time = any(leaves_by_time)
        probes = [not each and (is_any_by_time or i > 0) for i, each in enumerate(leaves_by_time)]
        self.probes_leave: NDArray[np.bool_] = np.array(probes, np.bool_)
        self.pauses_leave = self.probes_leave & (extremes > 0)
        parts = 1 + is_grouped + distincts
        self._codes = SweptTuples(parts) if parts > 1 else None
        self._is_grouped = is_grouped
        # A row's own record, which is not asked whose it is.
        self._is_whole = self._codes is None and not extremes
        self._leave = np.zeros((0, self._inputs), np.int64)
        entries = charge_kernels.COUNT + 1 if self._is_whole else charge_kernels.RECORD_ENTRIES
        self._charged = RecordArrays(
            records=np.zeros((0, entries), np.int64),
            lanes=np.zeros((0, states.layout.lane_count), np.int64),
            tally=np.zeros((0, distincts), np.int32),
            is_ranked=np.zeros((0, extremes), np.uint8),
            stale=np.zeros(0, np.uint8),
            stale_list=np.zeros(0, np.int64),
            first_record=np.zeros(0, np.int64),
            records_of=np.zeros(0, np.int64),
            progress=np.zeros(charge_kernels.PROGRESS_ENTRIES, np.int64),
        )

    def reserve_slots(self, slots: int) -> None:
        """Have room for slots below this."""
        if slots <= self._leave.shape[0]:
            return
        self._leave = enlarged(self._leave, slots)
        if self._codes is None:
            before = self._charged.records.shape[0]
            self._reserve(slots * self._inputs)
            if not self._is_whole:
                records = self._charged.records
                owners = np.arange(before, records.shape[0])
                records[before:, charge_kernels.OWNER] = owners
        else:
            rows, charged = slots * self._inputs, self._charged
            self._charged = charged._replace(
                first_record=grown(charged.first_record, rows, EMPTY),
                records_of=grown(charged.records_of, rows, 0),
            )

    def expect(self, input_index: int, slots: Vector, leave: Vector) -> None:
        """Rows that are to enter leave at these instants; END_OF_TIME: nobody knows."""
        self._leave[slots, input_index] = leave

    def begin(self) -> None:
        """New events."""
        self._charged.progress[charge_kernels.GONE] = -1
        self._charged.progress[charge_kernels.EVENT] = 0

    def apply(self, events: MergedEvents, rows: JoinedRows, next_event: int) -> None:
        """Run the block, and the events up to next_event."""
        states, is_own = self._states, self._codes is None
        codes = states.tally_codes(rows)
        records = self._records_of_rows(rows, codes)
        progress = self._charged.progress
        progress[charge_kernels.ROW] = 0
        if self._is_whole:
            self._apply_whole(events, rows, records, next_event)
            return
        share = self._shares.of(rows, states.layout)
        joined = JoinedArrays(rows.event, rows.group, share, codes, rows.rank, rows.present)
        is_done = False
        while not is_done:
            is_done = charge_kernels.charge_rows(
                next_event, joined, records, self._inputs, is_own, events.arrays, self._charged,
                states.arrays, states.output,
            )  # fmt: skip
            if not is_done:
                event = int(progress[charge_kernels.EVENT])
                owner = events.slot[event] * self._inputs + events.input[event]
                leaving = 1 if is_own else int(self._charged.records_of[owner])
                states.reserve_updates(leaving + rows.count + 1)

    def _apply_whole(
        self, events: MergedEvents, rows: JoinedRows, records: Vector, until: int
    ) -> None:
        states, layout = self._states, self._states.layout
        states.reserve_updates(until - int(self._charged.progress[charge_kernels.EVENT]) + 1)
        share, kinds = self._shares.of_or_direct(rows, layout)
        delta = np.empty((1, layout.lane_count), np.int64)
        whole = WholeArrays(rows.event, share, rows.words, kinds, delta)
        charge_kernels.charge_whole(
            until, whole, records, self._inputs, layout.low_limb, events.arrays, self._charged,
            states.arrays, states.output,
        )  # fmt: skip

    def stale_rows(self) -> tuple[Vector, Vector]:
        """Inputs and slots of rows to probe again: the best of their charges has gone."""
        stale = self._stale()
        if not stale.size:
            return stale, stale
        records = self._charged.records[stale]
        owners = np.unique(records[records[:, charge_kernels.COUNT] != 0, charge_kernels.OWNER])
        return owners % self._inputs, owners // self._inputs

    def rank_again(self, rows: JoinedRows) -> None:
        """Joined rows of stale rows, as they are now."""
        states = self._states
        records = self._records_of_rows(rows, states.tally_codes(rows))
        charge_kernels.rank_again(records, rows.rank, rows.present, self._charged, states.arrays)

    def end_ranking(self) -> None:
        """All stale rows were probed."""
        self._charged.stale[self._stale()] = 0
        self._charged.progress[charge_kernels.STALE] = 0

    def change_layout(self, layout: LaneLayout) -> None:
        """Move the lanes of all records; before the states change theirs."""
        charged = self._charged
        count = charged.records[:, charge_kernels.COUNT]
        lanes = in_layout(charged.lanes, count, self._states.layout, layout)
        self._charged = charged._replace(lanes=lanes)

    def sweep(self) -> None:
        """Forget records that ran empty, when they may be many."""
        if self._codes is not None and self._codes.is_due:
            live = np.flatnonzero(self._charged.records[:, charge_kernels.COUNT])
            self._codes.sweep(live.astype(np.int32))

    @property
    def is_by_row(self) -> bool:
        """Whether each row has one record, which nothing but the row is needed for."""
        return self._is_whole

    def growth_bytes(self, slots: int) -> int:
        """Peak of additional bytes with slots below this, where each row has one record."""
        by_record = (self._charged.records, self._charged.lanes)
        more = enlarging_bytes(by_record, slots * self._inputs)
        return more + enlarging_bytes((self._leave,), slots)

    @property
    def nbytes(self) -> int:
        """Bytes in addition to the states."""
        codes = 0 if self._codes is None else self._codes.nbytes
        return codes + sum(array.nbytes for array in (self._leave, *self._charged))

    def _stale(self) -> Vector:
        charged = self._charged
        return charged.stale_list[: charged.progress[charge_kernels.STALE]]

    def _records_of_rows(self, rows: JoinedRows, tally_codes: NDArray[np.int32]) -> Vector:
        """The record of each joined row."""
        owners = np.empty(rows.count, np.int64)
        choose_owners(rows.slot, self._leave, owners)
        if self._codes is None:
            return owners
        groups = [rows.group] if self._is_grouped else []
        # NULL is EMPTY, and a part is not negative.
        records = self._codes.encode([owners, *groups, *(tally_codes + 1)]).astype(np.int64)
        self._reserve(self._codes.capacity())
        self._charged.records[records, charge_kernels.OWNER] = owners
        return records

    def _reserve(self, records: int) -> None:
        charged = self._charged
        if records <= charged.records.shape[0]:
            return
        self._charged = charged._replace(
            records=grown(charged.records, records, 0),
            lanes=grown(charged.lanes, records, 0),
            tally=grown(charged.tally, records, EMPTY),
            is_ranked=grown(charged.is_ranked, records, 0),
        )
        if self._states.extremes:
            self._charged = self._charged._replace(
                stale=grown(charged.stale, records, 0),
                stale_list=grown(charged.stale_list, records, 0),
            )
            self._states.reserve_members(records * self._states.extremes)
