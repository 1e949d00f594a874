"""GROUP BY over a relation that changes: a row for each group, kept true at every instant.

Purpose: aggregates of rows that come and go, whatever makes them do so.
Needs: changes in time order; only their sum after an instant counts.
Time: O(1) a change for counts and sums and for different values, O(log n) amortised for extremes
    and for values in order (FIRST, MIN_BY, PERCENTILE, MODE).
Space: O(groups), plus the different values of each group for DISTINCT, MIN and MAX, and the
    different rows of what is kept in order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.errors import DataError
from windrow.event_time import START_OF_TIME, show_instant
from windrow.operators.relations.aggregates.bits.bit_counts import BitCounts
from windrow.operators.relations.aggregates.changed_rows import changed_rows
from windrow.operators.relations.aggregates.collected_values import CollectedValues
from windrow.operators.relations.aggregates.distinct_values import DistinctValues
from windrow.operators.relations.aggregates.extremes.extreme_values import ExtremeValues
from windrow.operators.relations.aggregates.group_sums import GroupSums
from windrow.operators.relations.aggregates.input_columns import InputColumns
from windrow.operators.relations.aggregates.ordered.ordered_values import OrderedValues
from windrow.operators.relations.aggregates.places import PlaceFinder, Places
from windrow.operators.relations.aggregates.shape import ALL_ROWS, Ordered, shape_of_calls
from windrow.operators.relations.aggregates.state_values import state_values
from windrow.operators.relations.changes import Changes, Vector, merged_changes, no_changes
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.order_words import KeyOrder
from windrow.operators.relations.row_codes import RowCodes
from windrow.operators.sum_values import too_large
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.algebra import Aggregate
from windrow.plan.show import show_with
from windrow.windows.codes import Codes

__all__ = ["AggregateOperator"]

Flags = NDArray[np.bool_]
# Bytes of a change on its way: codes, weights, its place and the rows that follow from it.
CHANGE_BYTES = 200


class AggregateOperator(RelationOperator):
    """Maintains an Aggregate of the algebra."""

    def __init__(self, node: Aggregate) -> None:
        self._node = node
        self._shape = shape_of_calls(node.calls)
        self._types = [field.type.arrow for field in node.fields]
        groups = [item.expression.type.arrow for item in node.groups]
        # Without groups there is one, code 0, which is always there.
        self._keys = RowCodes(groups) if groups else None
        self._finder = PlaceFinder()
        self._sums = GroupSums(self._shape.measures)
        self._distincts = [
            DistinctValues([part.type.arrow for part in parts]) for parts in self._shape.distincts
        ]
        self._extremes = [
            ExtremeValues(each.argument.type.arrow, is_max=each.is_max)
            for each in self._shape.extremes
        ]
        self._ordered = [_ordered_values(each) for each in self._shape.ordered]
        self._bits = [BitCounts() for _ in self._shape.bits]
        self._collected = [
            CollectedValues(
                [part.type.arrow for part in each.read],
                each.text(2),
                each.call.field.type.arrow,
                each.text(1),
                is_set=each.call.is_distinct,
            )
            for each in self._shape.collected
        ]
        self._is_begun = False

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """Update the groups that changes name; their old rows leave, and their new ones enter."""
        del until  # nothing happens between changes
        (changes,) = inputs
        parts = [] if self._is_begun or self._keys is not None else [self._first_row()]
        self._is_begun = True
        if changes.size:
            parts.append(self._next_rows(changes))
        return merged_changes(parts, self._types)

    @property
    def nbytes(self) -> int:
        """Bytes of everything that it remembers."""
        keys = 0 if self._keys is None else self._keys.nbytes
        distincts = sum(store.nbytes for store in self._distincts)
        extremes = sum(store.nbytes for store in self._by_group)
        collected = sum(store.nbytes for store in self._collected)
        sums = self._finder.nbytes + self._sums.nbytes
        return keys + sums + distincts + extremes + collected

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        keys = 0 if self._keys is None else self._keys.growth_bytes(changes)
        values = sum(store.growth_bytes(changes) for store in self._distincts)
        values += sum(store.growth_bytes(changes) for store in self._by_group)
        values += sum(store.growth_bytes(changes) for store in self._collected)
        lanes = 8 * self._sums.lane_count
        states = 2 * (self._finder.nbytes + self._sums.nbytes)
        return keys + values + states + changes * (CHANGE_BYTES + 4 * lanes)

    def _first_row(self) -> Changes:
        """The row of nothing, which an aggregate without groups begins with."""
        none = np.empty(0, np.int64)
        places = Places(np.zeros(1, np.int32), none, none, none, none, none)
        fields = self._node.input.fields
        nothing = no_changes([field.type.arrow for field in fields])
        columns = InputColumns(nothing, fields)
        _, values, _ = self._states(columns, nothing, np.empty(0, np.int32), places)
        return Changes(np.array([START_OF_TIME]), np.array([1]), tuple(values))

    def _next_rows(self, changes: Changes) -> Changes:
        """What follows from changes, of which there are some."""
        columns = InputColumns(changes, self._node.input.fields)
        groups = np.zeros(changes.size, np.int32)
        if self._keys is not None:
            named = [columns.column(item.expression) for item in self._node.groups]
            groups, _ = self._keys.acquire(named, changes.size)
        capacity = 1 if self._keys is None else self._keys.capacity
        places = self._finder.places(changes.at, groups, capacity)
        counts, values, lacking = self._states(columns, changes, groups, places)
        if self._keys is None:
            return changed_rows(places, ~lacking, [], values)
        shown = self._keys.columns(places.groups)
        found = changed_rows(places, (counts > 0) & ~lacking, shown, values)
        self._keys.release(places.groups, self._sums.counts[places.groups] != 0)
        return found

    def _states(
        self, columns: InputColumns, changes: Changes, groups: Codes, places: Places
    ) -> tuple[Vector, list[pa.Array], Flags]:
        """Of each group before the changes and of each place: the rows, and the values of calls.

        Last, which of them have no row, for want of a value.
        """
        weight = changes.weight
        self._reserve(1 if self._keys is None else self._keys.capacity)
        weights = np.empty((1 + len(self._distincts), weight.size), np.int64)
        weights[ALL_ROWS] = weight
        for index, distinct in enumerate(self._distincts):
            parts = [columns.column(part) for part in self._shape.distincts[index]]
            weights[1 + index] = distinct.advance(groups, weight, parts)
        sums = self._sums.advance(groups, weights, columns.words(self._shape.measures), places)
        extremes = [
            store.advance(groups, weight, columns.column(each.argument), places)
            for store, each in zip(self._extremes, self._shape.extremes, strict=True)
        ]
        ordered = [
            store.advance(changes, groups, *_ordered_columns(columns, each), places)
            for store, each in zip(self._ordered, self._shape.ordered, strict=True)
        ]
        collected = [
            store.advance(groups, weight, [columns.column(part) for part in each.read], places)
            for store, each in zip(self._collected, self._shape.collected, strict=True)
        ]
        extremes += reversed(collected)
        bits = [
            store.advance(groups, weight, columns.column(each), places)
            for store, each in zip(self._bits, self._shape.bits, strict=True)
        ]
        values = []
        lacking = np.zeros(sums.counts.size, np.bool_)
        for index, reading in enumerate(self._shape.readings):
            column, faults = state_values(reading, sums, extremes, ordered, bits)
            if reading.aggregate.traits.is_of_trees:
                faults = None  # TRY_SUM is NULL where its type does not hold the sum
            if faults is not None and self._node.on_error == "fail":
                raise self._error(index, int(np.flatnonzero(faults)[0]), places)
            if faults is not None and self._node.on_error == "set_aside":
                lacking |= faults
            values.append(column)
        return sums.counts, values, lacking

    @property
    def _by_group(self) -> tuple[ExtremeValues | OrderedValues | BitCounts, ...]:
        """The stores with a place for each group."""
        return (*self._extremes, *self._ordered, *self._bits)

    def _reserve(self, groups: int) -> None:
        self._sums.reserve(groups)
        for store in self._by_group:
            store.reserve(groups)

    def _error(self, index: int, state: int, places: Places) -> DataError:
        """What is wrong with the value of a call in a state."""
        call = self._node.calls[index]
        shown = ", ".join(show_with(part, self._named) for part in call.arguments)
        function = self._shape.readings[index].aggregate
        code, message, hint = too_large(function, function.traits.show(shown))
        where = ""
        if self._keys is not None:
            number = places.numbers[state]
            found = self._keys.columns(places.groups[number : number + 1])
            parts = zip(self._node.groups, found, strict=True)
            named = (f"{item.field.name} is {column[0].as_py()!r}" for item, column in parts)
            where = f" where {', '.join(named)}"
        at = show_instant(int(places.at[state - places.groups.size]))
        return DataError(code, f"{message}{where}, at {at}", hint=hint)

    def _named(self, leaf: Expr) -> str:
        assert isinstance(leaf, ColumnRef)
        names = {field.id: field.name for field in self._node.input.fields}
        return names[leaf.column]


def _ordered_values(ordered: Ordered) -> OrderedValues:
    keys = [
        KeyOrder(key.expression.type.arrow, key.is_descending, key.nulls_first)
        for key in ordered.kind.keys
    ]
    return OrderedValues(keys, ordered.picks, by_count=ordered.kind.by_count)


def _ordered_columns(columns: InputColumns, ordered: Ordered) -> tuple[list[pa.Array], Flags]:
    """The keys of an order, and flags of the rows that count."""
    keys = [columns.column(key.expression) for key in ordered.kind.keys]
    needed = columns.column(ordered.kind.needed)
    return keys, needed.is_valid().to_numpy(zero_copy_only=False)
