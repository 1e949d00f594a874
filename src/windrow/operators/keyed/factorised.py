"""The factorised aggregate: state per key, cell and group, fed with events of one window or two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.exact.digit_kernels import share_digits
from windrow.exact.kernels import NO_LANE, share_narrow, share_wide
from windrow.operators.digits import Cut
from windrow.operators.group_updates import GroupUpdates, OutputRoom
from windrow.operators.keyed import digit_kernels, group_kernels, kernels, step_kernels
from windrow.operators.keyed.cells import CellLists
from windrow.operators.keyed.lane_fit import LaneFit
from windrow.operators.keyed.state import EventArrays, KeyedState, StepArrays
from windrow.operators.lanes import LaneLayout, Matrix, Vector, moved
from windrow.rows.grouping import BY_BOTH, BY_KEY, SINGLE, WHOLE
from windrow.windows.codes import Codes, WordCodes
from windrow.windows.growing import enlarged, enlarging_bytes
from windrow.windows.kernels import merge_events
from windrow.windows.marks import Copies
from windrow.windows.window import EventColumns, Window, WindowArrays

__all__ = ["FactorisedAggregate"]

# Events of an input are worked on in pieces that stay in the cache.
CHUNK = 8192
# The place of a group's last output when there is none.
NOWHERE = -1
# Lanes up to this number are loops that the compiler unrolls; each number is compiled for itself.
UNROLLED_LANES = 4


class FactorisedAggregate:
    """COUNT and SUM per group over `windows` (one, or two that join on equal codes)."""

    def __init__(
        self, windows: tuple[Window, ...], kinds: tuple[tuple[int, ...], ...], mode: int
    ) -> None:
        self._windows = windows
        self._mode = mode
        self._set_layout(LaneLayout.fewest(kinds))
        self._fit = LaneFit(kinds)
        self._rows_gone = 0
        self.lists = CellLists()
        self.pairs = WordCodes()
        no_lanes = np.zeros((0, self._lane_count), np.int64)
        none = np.zeros(0, np.int64)
        self.state = KeyedState(none, no_lanes, none, no_lanes, none)
        self._room = OutputRoom()
        self._events = EventColumns(CHUNK * len(windows))
        self._cells = np.empty(CHUNK * len(windows), np.int32)
        self._order = np.empty(CHUNK * len(windows), np.int32)

    def _set_layout(self, layout: LaneLayout) -> None:
        self._layout, self._lane_count = layout, layout.lane_count
        # Loops over so few plain lanes are unrolled; () where lanes carry, or are many.
        self._is_unrolled = not layout.is_wide and self._lane_count <= UNROLLED_LANES
        self._fixed = [(0,) * len(kinds) for kinds in layout.kinds]
        self._cuts: list[Cut] = []
        if layout.forms:
            self._cut_digits(layout)
        # Lanes that an input leaves zero may be others in another layout.
        self._share = np.zeros((0, 0), np.int64)

    def _cut_digits(self, layout: LaneLayout) -> None:
        for input_index, kinds in enumerate(layout.kinds):
            first = layout.first_value(input_index)
            forms = layout.forms[first : first + len(kinds)]
            self._fixed[input_index] = (0,) * sum(form.digits for form in forms)
            self._cuts.append(Cut.of(kinds, forms, layout.digit_bits))

    def admit(self, input_index: int, values: Matrix, valid: NDArray[np.uint8], count: int) -> None:
        """Make the layout fit rows that are about to enter this input's window.

        count: how many rows they stand for.
        """
        rows = self._most_rows(input_index, count)
        layout = self._fit.fitted(self._layout, input_index, values, valid, rows)
        if layout is not self._layout:
            self._change_layout(layout)

    def _most_rows(self, input_index: int, count: int) -> int:
        """How many rows, or joined rows, a sum can have at most when so many come."""
        bound = 1
        for number, window in enumerate(self._windows):
            rows = window.counted_rows
            bound *= max(rows + count + self._rows_gone if number == input_index else rows, 1)
        return bound

    def reserve(self, cells: int, groups: int) -> None:
        """Make room for cell and group codes below these."""
        state = self.state
        if self._mode != SINGLE and 2 * cells > state.counts.size:
            state = state._replace(
                counts=enlarged(state.counts, 2 * cells), lanes=enlarged(state.lanes, 2 * cells)
            )
        if groups > state.group_count.size:
            state = state._replace(
                group_count=enlarged(state.group_count, groups),
                group_lanes=enlarged(state.group_lanes, groups),
                last_out=enlarged(state.last_out, groups, NOWHERE),
            )
        self.state = state

    def states(self) -> tuple[Codes, Vector, Matrix, LaneLayout]:
        """The groups that have rows, with counts and lanes."""
        state = self.state
        live = np.flatnonzero(state.group_count).astype(np.int32)
        return live, state.group_count[live], state.group_lanes[live], self._layout

    def load_states(self, groups: Codes, count: Vector, lanes: Matrix, layout: LaneLayout) -> None:
        """Back from states(), into a new aggregate over one window."""
        self._change_layout(layout)
        self.state.group_count[groups] = count
        self.state.group_lanes[groups] = lanes
        self._rows_gone = int(count.sum())
        self._fit.know(layout, lanes)

    def copies(self, groups: Codes) -> Copies:
        """The counts and sums of groups, for a step that may fail."""
        changing = (self.state.group_count, self.state.group_lanes)
        return [(each, groups, each[groups]) for each in changing]

    def forget_rows(self, count: int) -> None:
        """So many rows will never leave: they stay in the sums, but not in the window."""
        self._rows_gone += count

    def advance(self, until: int, grid_us: int = 1) -> GroupUpdates:
        """Run the windows up to and including `until`; updates at multiples of the grid."""
        self._room.fit(self._lane_count)
        for window in self._windows:
            window.open(until)
        if self._mode == SINGLE:
            self._run_single(until, grid_us)
        elif not self._run_plain(until, grid_us):
            self._run_pair(until, grid_us)
        return self._room.drain(self._layout, until)

    def step(
        self, row: tuple[int, ...], input_index: int, keys: WordCodes, until: int, grid_us: int
    ) -> GroupUpdates | None:
        """Take a row (time, key, values) and run to `until`, in one compiled call.

        None where batches go another way, or something has to grow first: nothing was done.
        """
        if not self._layout.is_plain:
            return None
        window, windows = self._windows[input_index], self._plain_windows(WHOLE)
        store, lifetime = window.columns.store, window.lifetime
        if windows is None or window.columns.is_shared or store.valid.size:
            return None
        if row[0] + lifetime.hold_us <= lifetime.floor_us:
            return None
        largest, rows = max(map(abs, row[2:]), default=0), self._most_rows(input_index, 1)
        if not self._fit.stays_narrow(input_index, largest, rows):
            return None
        self._room.fit(self._lane_count)
        for each in self._windows:
            each.open(until)
        arrays = StepArrays(*windows, keys.counted_tables(), self.state, self._room.arrays)
        if not step_kernels.step_whole_plain(
            row, input_index, until, grid_us, *self._fixed, arrays
        ):
            return None
        store.took_one()
        return self._room.drain(self._layout, until)

    def put_out_all(self, at: int) -> None:
        """Put out every live group at this later instant, for output on a grid after a rebuild."""
        state, room = self.state, self._room
        live = np.flatnonzero(state.group_count).astype(np.int32)
        live, rows = room.add_all(live, state.last_out, at)
        room.count[rows], room.lanes[rows] = state.group_count[live], state.group_lanes[live]

    def waiting_groups(self) -> Codes:
        """The groups that are to be put out at a later instant of the grid."""
        groups: Codes = self._room.group[: self._room.used].copy()
        return groups

    @property
    def is_wide(self) -> bool:
        """Whether sums are limbs, each of which takes the part of one row at a time."""
        return self._layout.is_wide

    @property
    def joined_rows(self) -> int:
        """Rows, or joined rows, that the states count."""
        return int(self.state.group_count.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of state per key, cell and group."""
        return self.state.nbytes + self.lists.nbytes + self.pairs.nbytes

    def growth_bytes(self, rows: int, keys: int, cells: int, groups: int) -> int:
        """Peak of additional bytes while so many rows come and codes stay below these."""
        state, more = self.state, 0
        if self._mode == BY_BOTH:
            groups, more = self.pairs.capacity_after(rows), self.pairs.growth_bytes(rows)
        if self._mode != SINGLE:
            more += enlarging_bytes((state.counts, state.lanes), 2 * cells)
        if self.lists.arrays.key_of_cell.size:
            more += self.lists.growth_bytes(cells, keys)
        by_group = (state.group_count, state.group_lanes, state.last_out)
        return more + enlarging_bytes(by_group, groups)

    def _run_single(self, until: int, grid_us: int) -> None:
        window, events = self._windows[0], self._events
        size = CHUNK
        while size == CHUNK:
            size = window.fill(events, 0, CHUNK, until, grid_us)
            self._weigh(window, 0, size)
            self._fill_share(0, 0, size)
            self._room.reserve(size)
            kernels.apply_single(
                size, self._event_arrays(), self._layout.masks, self.state, self._room.arrays
            )

    def _weigh(self, window: Window, first: int, size: int) -> None:
        """Where rows stand for several, let these events count as often as theirs do."""
        if any(each.is_weighted for each in self._windows):
            self._events.weigh(first, size, window.columns.weights)

    def _event_arrays(self) -> EventArrays:
        """The events, with how often each counts, and its sign.

        A row that stands for several equal ones is entered and taken out by the same arithmetic as
        one row: every part of it is its sign times something.
        """
        events = self._events
        times = events.times if events.times.size else events.sign
        return EventArrays(events.at, times, self._cells, self._share)

    def _run_plain(self, until: int, grid_us: int) -> bool:
        """Run without groups, or with those of keys, closed time windows, plain lanes and no NULL.

        False: not so, and nothing was done.
        """
        windows = self._plain_windows(WHOLE, BY_KEY)
        if windows is None:
            return False
        left, right = windows
        # Rows held may leave, rows that wait may enter and leave.
        self._room.reserve(left.most_events(until) + right.most_events(until))
        if self._layout.forms:
            self._run_digits(left, right, until, grid_us)
            return True
        run = kernels.run_whole_plain if self._mode == WHOLE else group_kernels.run_by_key_plain
        run(left, right, *self._fixed, until, grid_us, self.state, self._room.arrays)
        return True

    def _run_digits(
        self, left: WindowArrays, right: WindowArrays, until: int, grid_us: int
    ) -> None:
        doubles = [each.values.view(np.float64) for each in (left, right)]
        cuts = (*self._fixed, *self._cuts, 2.0**self._layout.digit_bits)
        which = (until, grid_us, int(self._mode == BY_KEY))
        digit_kernels.run_digits(
            left, right, *doubles, *cuts, *which, self.state, self._room.arrays
        )

    def _plain_windows(self, *modes: int) -> tuple[WindowArrays, WindowArrays] | None:
        """The arrays of both windows, where groups are of these modes, lanes plain and no NULL."""
        if self._mode not in modes or not self._is_unrolled or self._layout.is_nullable:
            return None
        left, right = (window.plain_arrays() for window in self._windows)
        return None if left is None or right is None else (left, right)

    def _run_pair(self, until: int, grid_us: int) -> None:
        position = np.array([0, CHUNK], np.int64)
        stop = position.copy()
        has_more = np.array([True, True])
        while True:
            for input_index, window in enumerate(self._windows):
                if position[input_index] == stop[input_index] and has_more[input_index]:
                    first = input_index * CHUNK
                    size = window.fill(self._events, first, CHUNK, until, grid_us)
                    self._weigh(window, first, size)
                    self._fill_share(input_index, first, size)
                    position[input_index], stop[input_index] = first, first + size
                    has_more[input_index] = size == CHUNK
            count = merge_events(self._events.at, position, stop, has_more, self._order)
            if count == 0 and not has_more.any():
                return
            self._apply_pair(int(count))

    def _apply_pair(self, size: int) -> None:
        self._room.reserve(size)
        head = (size, self._order, CHUNK, self._event_arrays())
        masks = self._layout.masks
        if self._mode not in (WHOLE, BY_KEY):
            self._apply_cells(head)
        elif self._is_unrolled:
            fixed = (0,) * self._lane_count
            kernels.apply_keyed_plain(*head, fixed, self._mode, self.state, self._room.arrays)
        else:
            kernels.apply_keyed(*head, masks, self._mode, self.state, self._room.arrays)

    def _apply_cells(self, head: tuple[int, Codes, int, EventArrays]) -> None:
        room, done = self._room, 0
        while True:
            tables = (self.state, self.lists.arrays, self.pairs.tables(), room.arrays)
            done = kernels.apply_cells(done, *head, self._layout.masks, self._mode, *tables)
            if done == head[0]:
                return
            if lacking := int(room.control[kernels.NEEDS_PAIRS]):
                room.control[kernels.NEEDS_PAIRS] = 0
                self.pairs.grow(lacking)
                self.reserve(0, self.pairs.capacity)
            else:
                room.reserve(2 * room.at.size)

    def _fill_share(self, input_index: int, first: int, size: int) -> None:
        layout, columns = self._layout, self._windows[input_index].columns
        if self._share.shape[1] != self._lane_count or not self._share.shape[0]:
            self._share = np.zeros((self._events.at.size, self._lane_count), np.int64)
        store = columns.store
        words = (columns.chosen, store.values, store.valid)
        rows = (first, size, self._events.row, columns.codes, *words)
        value = layout.first_value(input_index)
        if layout.is_wide:
            kinds = np.array(layout.kinds[input_index], np.int64)
            offset = value * layout.width
            share_wide(
                *rows,
                kinds,
                layout.low_limb,
                layout.counters,
                layout.width,
                offset,
                self._cells,
                self._share,
            )
            return
        valid_offset = layout.digit_count + value if layout.is_nullable else NO_LANE
        if layout.forms:
            cut = tuple(np.array(column) for column in self._cuts[input_index])
            share_digits(
                *rows,
                store.values.view(np.float64),
                cut,
                2.0**layout.digit_bits,
                layout.first_digit(value),
                len(self._fixed[input_index]),
                valid_offset,
                self._cells,
                self._share,
            )
            return
        share_narrow(*rows, value, valid_offset, self._cells, self._share)

    def _change_layout(self, layout: LaneLayout) -> None:
        if layout == self._layout:
            return
        old, state = self._layout, self.state
        self._set_layout(layout)
        by_group = np.repeat(state.group_count[:, None], old.value_count, axis=1)
        self.state = state._replace(
            lanes=moved(state.lanes, _cell_counts(state.counts, old), old, layout),
            group_lanes=moved(state.group_lanes, by_group, old, layout),
        )
        # What waits to be put out at a later instant is written anew, in the new layout.
        waiting = self._room.used
        if waiting:
            groups = self._room.group[:waiting]
            self._room.fit(self._lane_count)
            self._room.lanes[:waiting] = self.state.group_lanes[groups]

    def release_groups(self, groups: Codes) -> None:
        """Free pairs of groups that have no joined rows."""
        dead = groups[self.state.group_count[groups] == 0]
        self.pairs.forget(dead)


def _cell_counts(count: Vector, layout: LaneLayout) -> Matrix:
    """For each cell and value the rows behind it: none where the value is the other input's."""
    out = np.zeros((count.size, layout.value_count), np.int64)
    for input_index, kinds in enumerate(layout.kinds):
        first = layout.first_value(input_index)
        out[input_index::2, first : first + len(kinds)] = count[input_index::2, None]
    return out
