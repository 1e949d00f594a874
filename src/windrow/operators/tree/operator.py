"""The operator of an acyclic join of any number of windows, and of extremes over one window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.exact.kernels import DOUBLE, INTEGER
from windrow.operators.group_updates import GroupUpdates
from windrow.operators.opened_windows import opened_windows
from windrow.operators.operator import NeedsCellsError, NeedsPairsError, Operator, WorkDone
from windrow.operators.partial import Partial
from windrow.operators.ranks import ranks_of_values
from windrow.operators.tree.aggregate import CHUNK, TreeAggregate
from windrow.operators.tree.bounds import TermBounds
from windrow.operators.tree.chain_tree import ChainTree
from windrow.operators.tree.coding import Flags, Matrix, TreeCoding, argument_column
from windrow.operators.tree.distinct_tree import DistinctTree
from windrow.operators.tree.extremes_tree import ExtremesTree
from windrow.operators.tree.joined_bounds import JoinedRows
from windrow.operators.tree.linear_tree import LinearTree
from windrow.operators.tree.second_codes import (
    SecondCode,
    Walks,
    not_counted,
    prefers_cells,
    second_code,
)
from windrow.operators.tree.sources import TreeSources
from windrow.operators.tree.structure import TreeShape
from windrow.operators.tree.terms import MeasureTerms
from windrow.operators.tree.words import InputWords, Places, Slots
from windrow.operators.updated_groups import UpdatedGroups
from windrow.plan.factorisation import factorisation
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import prepared_columns
from windrow.rows.prepared_names import TAKES_PART, TIME, part_of
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import Measure, QueryShape
from windrow.rows.shared_rows import RowReader
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.row_store import NO_MATRIX

__all__ = ["TreeOperator"]


class TreeOperator(Operator):
    """Sums, extremes and different values without forming joined rows.

    readers: one for each input where the rows are shared with other queries.
    """

    def __init__(
        self, plan: QueryPlan, shape: QueryShape, grid_us: int, readers: Sequence[RowReader] = ()
    ) -> None:
        found = factorisation(plan)
        assert not isinstance(found, str), found
        self._shape, self._grid_us = shape, grid_us
        self._sources = TreeSources(shape, found)
        self._coding = TreeCoding(shape, self._sources)
        self._second = second_code(plan, self._sources)
        self._words = [
            InputWords(plan, self._sources, self._second, input_index)
            for input_index in range(len(plan.inputs))
        ]
        self._readers = tuple(readers)
        super().__init__(
            opened_windows(
                plan,
                [words.values for words in self._words],
                [words.count for words in self._words],
                self._readers,
            ),
            (prepared_columns(plan, input_index) for input_index in range(len(plan.inputs))),
        )
        self._kinds = tuple(_kinds(input_shape.value_types) for input_shape in shape.inputs)
        linear_shape = self._sources.tree(found.linear_root, is_linear=True)
        joined = JoinedRows(linear_shape, self._coding.most_rows)
        self._bounds = TermBounds([_terms(each) for each in shape.measures], self._kinds, joined)
        self._linear = self._linear_tree(linear_shape)
        self._extremes = [self._extremes_tree(root) for root in found.extreme_roots]
        cell_values = [
            [words.cells[i] for words in self._words] for i in range(len(self._extremes))
        ]
        has_cells = not self._words[0].is_second_only
        trees = (self._linear, self._extremes, cell_values)
        self._aggregate = TreeAggregate(self._windows, *trees, has_cells=has_cells)
        self._slots = [Slots() for _ in self._windows]
        self._groups = UpdatedGroups(is_grouped=bool(shape.group_places))
        self._walks = Walks()
        self._waiting: Codes = np.empty(0, np.int32)
        self._entered = [0] * len(self._windows)

    def append(self, input_index: int, rows: PreparedRows) -> None:
        """Take prepared rows in order of arrival, all later than the clock."""
        if rows.size == 0:
            return
        if self._second is not None and self._walks_too_far(self._second):
            raise NeedsCellsError
        live = np.ones(rows.size, np.bool_) if rows.takes_part is None else rows.takes_part
        words, flags = self._coding.words(input_index, rows)
        some, their_flags = words, flags
        if not live.all():
            words[:, ~live] = 0  # nobody asks for them, and nobody looks how wide they are
            some, their_flags = words[:, live], flags[:, live] if flags.size else flags
        if not self._bounds.takes(input_index, some, their_flags):
            raise NeedsPairsError
        if self._words[input_index].has_values:
            self._coding.acquire_texts(input_index, rows, words)
        else:
            words, flags = words[:0], flags[:0]
        own = np.zeros((self._words[input_index].count, rows.size), np.int64)
        own_flags = self._fill_ranks(input_index, rows, own)
        cells = self._acquire_cells(input_index, live, rows.taking_part(), own)
        self._admit(input_index, some, their_flags, rows.size)
        if self._words[input_index].has_slot:
            slots = self._slots[input_index]
            own[-1] = slots.take(rows.size)
            self._extremes_of(input_index).reserve_slots(slots.size)
        partitions = self._coding.acquire_partitions(input_index, rows)
        window = self._windows[input_index]
        window.append(rows.times, cells, words, flags, partitions)
        window.columns.write_own(own, own_flags)
        self._entered[input_index] += rows.size

    def run(self, until: int) -> Partial:
        """Run the windows up to and including `until`."""
        updates = self._aggregate.advance(until, self._grid_us)
        partial = self._groups.partial(self._in_order(updates), self._coding.group_columns)
        # A group whose update waits for the grid keeps its code until then.
        waiting = self._aggregate.waiting_groups()
        self._coding.retain_groups(waiting)
        self._coding.release_groups(self._waiting)
        self._waiting = waiting
        for input_index in range(len(self._windows)):
            self._let_go(input_index)
        return partial

    def put_out_all(self, at: int) -> None:
        """Put out every live group at this later instant: for output on a grid after a rebuild."""
        self._aggregate.put_out_all(at)

    def rows(self, input_index: int) -> pa.RecordBatch:
        """The rows held and waiting, as prepared rows in their order."""
        window, schema = self._windows[input_index], self._columns[input_index].schema
        columns = window.columns
        places = np.concatenate([window.held(), window.waiting()])
        if self._readers:  # rows of the others that take no part here
            places = places[columns.codes[places] != NO_CODE]
        live = columns.codes[places] != NO_CODE
        codes = {}
        for source, found in self._codes(input_index, places[live]).items():
            codes[source] = np.full(places.size, NO_CODE, np.int32)
            codes[source][live] = found
        partitions = (
            columns.partitions[places] if columns.partitions.size else np.empty(0, np.int32)
        )
        words, valid = columns.words_at(places)
        named = self._coding.row_columns(input_index, codes, partitions, words, valid)
        named |= {TIME: pa.array(columns.times[places]), TAKES_PART: pa.array(live)}
        return pa.RecordBatch.from_arrays([named[name] for name in schema.names], schema=schema)

    @property
    def nbytes(self) -> int:
        """Bytes of windows, codes and trees."""
        beside = sum(slots.nbytes for slots in self._slots)
        return sum(self.window_bytes()) + self._coding.nbytes + self._aggregate.nbytes + beside

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""
        capacities, groups = self._coding.capacities_after(rows), self._coding.groups_after(rows)
        trees = [tree.growth_bytes(rows, capacities, groups) for tree in self._aggregate.trees]
        heaps = 0
        for root in self._sources.found.extreme_roots:
            if self._words[root].has_slot:
                heaps += self._extremes_of(root).slot_growth(self._slots[root].size + rows)
        slots = sum(2 * each.nbytes for each in self._slots if each.nbytes)
        return self._coding.growth_bytes(rows) + sum(trees) + heaps + slots

    def close(self) -> None:
        """Another operator has taken over: shared rows are no longer read here."""
        for reader in self._readers:
            reader.close()

    def joined_rows(self) -> int:
        """Joined rows that are live."""
        return self._linear.joined_rows

    def work_done(self) -> WorkDone:
        """Rows that entered; nothing is probed."""
        return WorkDone(tuple(self._entered))

    def _walks_too_far(self, second: SecondCode) -> bool:
        """Whether rows with a second code are better kept in cells."""
        if self._words[second.input_index].is_second_only:
            return False  # nobody goes through them
        tree = self._linear if not self._extremes else self._extremes[0]
        assert isinstance(tree, ChainTree | DistinctTree)
        window = self._windows[second.input_index]
        if not self._walks.are_due(tree.queues.walked, window.row_count):
            return False
        places = window.held()
        live = places[window.columns.codes[places] != NO_CODE]
        first = window.columns.codes[live]
        codes = self._codes(second.input_index, live)[second.source]
        return prefers_cells(codes, first) if tree is self._linear else prefers_cells(first, codes)

    def _linear_tree(self, shape: TreeShape) -> LinearTree:
        layout, second = self._bounds.layout, self._second
        if second is None or self._sources.found.extreme_roots:
            return LinearTree(shape, layout, self._kinds, CHUNK)
        place = self._words[second.input_index].second
        return ChainTree(shape, layout, self._kinds, place, CHUNK)

    def _extremes_tree(self, root: int) -> ExtremesTree:
        sources, words = self._sources, self._words[root]
        shape = sources.tree(root, is_linear=False)
        if words.has_second:
            return DistinctTree(shape, words.second, CHUNK)
        extremes, distincts = len(sources.extremes(root)), len(sources.distincts(root))
        slot = words.count - 1 if words.has_slot else NO_CODE
        return ExtremesTree(shape, extremes, distincts, slot, CHUNK)

    def _extremes_of(self, root: int) -> ExtremesTree:
        return self._extremes[self._sources.found.extreme_roots.index(root)]

    def _admit(self, input_index: int, values: Matrix, valid: Flags, rows: int) -> None:
        columns = self._windows[input_index].columns
        total = columns.end - columns.head + rows
        self._linear.change_layout(self._bounds.admit(input_index, values, valid, total))

    def _fill_ranks(self, input_index: int, rows: PreparedRows, own: Matrix) -> Flags:
        """Write the ranks of a root's extremes; returns flags where there is not one for all."""
        flags = NO_MATRIX
        for index, extreme in enumerate(self._sources.extremes(input_index)):
            spec = self._shape.extremes[extreme]
            column = argument_column(spec.argument, rows)
            own[index], present = ranks_of_values(column, is_max=spec.is_max)
            if present.size:
                if not flags.size:
                    flags = np.ones(own.shape, np.uint8)
                flags[index] = present
        return flags

    def _acquire_cells(
        self, input_index: int, live: NDArray[np.bool_], rows: PreparedRows, own: Matrix
    ) -> Codes:
        """The cells of the first tree; those of the others are written among the own words."""
        codes = self._coding.acquire(input_index, rows)
        capacities = self._coding.capacities()
        room = self._coding.group_room()
        first, words = np.full(live.size, NO_CODE, np.int32), self._words[input_index]
        for index, tree in enumerate(self._aggregate.trees):
            cells = tree.structure.acquire(input_index, codes, capacities, rows.size)
            tree.reserve(*room)
            if isinstance(tree, ExtremesTree) and input_index == tree.structure.shape.root:
                self._place_pairs(tree, input_index, rows, cells, codes)
            place = words.cells[index - 1] if index else NO_CODE
            if place != NO_CODE:
                own[place] = NO_CODE
                own[place][live] = cells
            elif not index:
                first[live] = cells
        if words.is_second_only:
            first[live] = self._second_codes(rows, codes)
        elif words.has_second:
            own[words.second] = NO_CODE
            own[words.second][live] = self._second_codes(rows, codes)
        return first

    def _second_codes(self, rows: PreparedRows, codes: dict[int, Codes]) -> Codes:
        """The second codes of rows; not_counted(code) for a NULL."""
        assert self._second is not None
        found = codes[self._second.source]
        if not self._shape.distincts:
            return found
        missing = self._coding.distinct_column(0, rows).is_null().to_numpy(zero_copy_only=False)
        return np.where(missing, not_counted(found), found)

    def _place_pairs(
        self,
        tree: ExtremesTree,
        input_index: int,
        rows: PreparedRows,
        cells: Codes,
        codes: dict[int, Codes],
    ) -> None:
        capacities = self._coding.capacities()
        for index, distinct in enumerate(self._sources.distincts(input_index)):
            source = self._sources.pair(distinct)
            missing = self._coding.distinct_column(distinct, rows).is_null()
            pairs = np.where(missing.to_numpy(zero_copy_only=False), NO_CODE, codes[source])
            tree.place_pairs(index, cells, pairs.astype(np.int32), capacities[source])

    def _in_order(self, updates: GroupUpdates) -> GroupUpdates:
        """Extras as an update has them: tallies, words, flags, each in the order of the query."""
        sources, shape = self._sources, self._shape
        count = len(shape.distincts) + 2 * len(shape.extremes)
        if not count:
            return updates
        order = np.empty(count, np.int64)
        first = 0
        for root in sources.found.extreme_roots:
            distincts, extremes = sources.distincts(root), sources.extremes(root)
            words = [len(shape.distincts) + each for each in extremes]
            flags = [len(shape.extremes) + each for each in words]
            for place in (*distincts, *words, *flags):
                order[place] = first
                first += 1
        extras = updates.extras[:, order]
        states = (updates.count, updates.lanes, updates.layout)
        return GroupUpdates(updates.at, updates.group, *states, extras)

    def _cells(self, input_index: int, index: int, places: Places | slice) -> Codes:
        columns = self._windows[input_index].columns
        place = self._words[input_index].cells[index - 1] if index else NO_CODE
        if place == NO_CODE:
            return columns.codes[places]
        found: Codes = columns.own_words[place][places].astype(np.int32)
        return found

    def _codes(self, input_index: int, places: Places | slice) -> dict[int, Codes]:
        """The codes, by source, that live rows brought."""
        found: dict[int, Codes] = {}
        words = self._words[input_index]
        if self._second is not None and words.has_second:
            kept = self._windows[input_index].columns.codes_in(words.second)[places]
            second: Codes = kept.astype(np.int32)
            found[self._second.source] = np.where(second < 0, not_counted(second), second)
        for index, tree in enumerate(self._aggregate.trees):
            for source in tree.structure.sources(input_index):
                if source not in found:
                    cells = self._cells(input_index, index, places)
                    found[source] = tree.structure.codes(input_index, source, cells)
        return found

    def _let_go(self, input_index: int) -> None:
        window = self._windows[input_index]
        places = window.close()
        if places is None:
            return
        columns = window.columns
        if columns.partitions.size:
            empty = self._coding.release_partitions(input_index, columns.partitions[places])
            window.forget_partitions(empty)
        is_live = columns.codes[places] != NO_CODE
        live = places if is_live.all() else _listed(places)[is_live]
        codes = self._codes(input_index, live)
        for index, tree in enumerate(self._aggregate.trees):
            tree.structure.release(input_index, self._cells(input_index, index, live))
        self._coding.release(codes)
        if self._words[input_index].has_values:
            self._coding.release_texts(input_index, columns.values[:, places])
        if self._words[input_index].has_slot:
            self._slots[input_index].give(columns.own_words[-1][places])
        window.reclaim(places)


def _listed(places: Places | slice) -> Places:
    return np.arange(places.start, places.stop) if isinstance(places, slice) else places


def _kinds(types: tuple[pa.DataType, ...]) -> tuple[int, ...]:
    return tuple(DOUBLE if pa.types.is_floating(kind) else INTEGER for kind in types)


def _terms(measure: Measure) -> MeasureTerms:
    products = tuple(
        tuple((factor.source, part_of(factor)[1]) for factor in product)
        for product in measure.terms
    )
    return MeasureTerms(measure.kind, products)
