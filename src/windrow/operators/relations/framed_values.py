"""All functions over partitions and frames, computed anew for the rows that see a change.

The rows that see the changes of an instant are traced in the order before and after it, for many
instants at once; then all functions are computed for all of them together, and what a row had
before is compared with what it has after.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.operators.relations.call_reach import has_distance, reach_of
from windrow.operators.relations.changes import Changes, Vector, merged_changes, no_changes
from windrow.operators.relations.frame_aggregates import Framed, frame_aggregate
from windrow.operators.relations.frame_functions import (
    NO_ROW,
    RANKINGS,
    SELECTIONS,
    selected,
)
from windrow.operators.relations.frames import Segments, frame_bounds, segments_of
from windrow.operators.relations.neighbour_values import is_shifted, shifted
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.order_words import Matrix
from windrow.operators.relations.ordered_rows import CodedChanges, OrderedRows, expression_values
from windrow.operators.relations.row_codes import RowCodes
from windrow.operators.relations.span_kernels import (
    BELOW_ZERO,
    NODE_COLUMNS,
    NODE_ROW,
    SEGMENT_COLUMNS,
    Marks,
    trace_spans,
)
from windrow.plan.expressions import Call, Expr
from windrow.plan.relations.algebra import Field, OrderKey, WindowCall, WindowFunctions
from windrow.schema import DOUBLE
from windrow.windows.column_words import words_of_array

__all__ = ["FramedValuesOperator"]

# So many rows are traced before they are computed: enough to make the calls of NumPy cheap.
MOST_NODES = 1 << 16
_FIRST_NODES = 1 << 10
_NODE_BYTES = 400


class FramedValuesOperator(RelationOperator):
    """Every row with the values of its functions, of any kind.

    Work: rows that see a change, and those that their frames hold.
    """

    def __init__(self, node: WindowFunctions) -> None:
        self._fields = node.input.fields
        self._passed = [self._fields.index(field) for field in node.passed]
        self._types = [field.type.arrow for field in node.fields]
        self._rows = OrderedRows(self._fields, node.partition, node.order)
        self._calls = node.calls
        is_measured = any(has_distance(call.frame) for call in node.calls)
        self._order = node.order[0] if is_measured else None
        self._marks = _no_marks(0, 0)
        # Few where few rows see a change, so that a small budget has room for them.
        self._room = min(MOST_NODES, _FIRST_NODES)

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The rows that come and go, and those whose values change with them."""
        del until
        (changes,) = inputs
        if not changes.size:
            return no_changes(self._types)
        coded = self._rows.load(changes)
        self._reserve()
        if self._order is not None:
            self._marks.keys[coded.named] = self._distances(coded)
        found = [self._computed(*traced) for traced in self._traced(coded)]
        self._rows.release(coded)
        return merged_changes(found, self._types)

    def _traced(self, coded: CodedChanges) -> Iterator[tuple[Matrix, Matrix]]:
        """Nodes and segments of a part of the instants after the other."""
        arrays = (coded.at, coded.weight, coded.rows, coded.partitions)
        reach = reach_of(self._calls, self._rows.key_width)
        begin = 0
        while begin < coded.at.size:
            room = self._room
            nodes = np.empty((room, NODE_COLUMNS), np.int64)
            segments = np.empty((room, SEGMENT_COLUMNS), np.int64)
            begin, nodes, node_count, segments, segment_count = trace_spans(
                arrays, begin, room, self._rows.tree, reach, self._marks, nodes, segments
            )
            if node_count >= room:
                self._room = min(2 * room, MOST_NODES)
            assert begin != BELOW_ZERO, "a row left that was not there"
            if node_count:
                yield nodes[:node_count], segments[:segment_count]

    def _computed(self, nodes: Matrix, segments: Matrix) -> Changes:
        tree = self._rows.tree
        words = tree.words[nodes[:, NODE_ROW], : self._rows.key_width]
        spans = segments_of(nodes, segments, words)
        values = _TracedValues(self._rows, self._fields, spans.rows)
        keys = None if self._order is None else values.column(self._order.expression)
        columns = [
            _call_values(call, spans, values, self._order, keys).cast(call.field.type.arrow)
            for call in self._calls
        ]
        return self._net(spans, columns)

    def _net(self, spans: Segments, columns: Sequence[pa.Array]) -> Changes:
        """What rows have after, less what they had before; equal ones together."""
        shown = spans.shown
        keys = [pa.array(spans.at[shown]), pa.array(spans.rows[shown]), *columns]
        codes, _ = RowCodes([key.type for key in keys]).acquire(keys, shown.size)
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
        weight = np.zeros(first.size, np.int64)
        np.add.at(weight, place, spans.sign[shown])
        chosen = np.flatnonzero(weight)
        # The first of equal ones tells the instant, and these are in order.
        chosen = chosen[np.argsort(first[chosen])]
        entries = first[chosen]
        codes = spans.rows[shown[entries]].astype(np.int32)
        rows = self._rows.columns(codes, self._passed)
        index = pa.array(entries)
        values = [column.take(index) for column in columns]
        return Changes(spans.at[shown[entries]], weight[chosen], (*rows, *values))

    def _distances(self, coded: CodedChanges) -> NDArray[np.float64]:
        """The keys of rows as doubles, NaN where there is no number."""
        assert self._order is not None
        expressions = [self._order.expression]
        (keys,) = expression_values(expressions, self._fields, coded.columns, coded.named.size)
        words, present = words_of_array(keys)
        is_double = pa.types.is_floating(keys.type)
        doubles = words.view(np.float64).copy() if is_double else words.astype(np.float64)
        if pa.types.is_decimal(keys.type):
            doubles /= 10.0**keys.type.scale
        if present.size:
            doubles[present == 0] = np.nan
        return doubles

    def _reserve(self) -> None:
        rows, partitions = self._rows.capacity, self._rows.tree.heads.shape[0]
        old = self._marks
        if rows > old.net.size or partitions > old.partitions.size:
            self._marks = _no_marks(rows, partitions)
            self._marks.keys[: old.keys.size] = old.keys

    @property
    def nbytes(self) -> int:
        """Bytes of everything that it remembers."""
        return self._rows.nbytes + sum(array.nbytes for array in self._marks)

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need, for one copy of each row."""
        marks = self._rows.grown_bytes(sum(array.nbytes for array in self._marks), changes)
        nodes = 2 * min(2 * self._room, MOST_NODES)
        return self._rows.growth_bytes(changes) + marks + nodes * _NODE_BYTES


class _TracedValues:
    """Values of expressions in traced rows, each computed once for each different row."""

    def __init__(self, rows: OrderedRows, fields: Sequence[Field], traced: Vector) -> None:
        self._fields = fields
        codes, self._places = np.unique(traced, return_inverse=True)
        self._columns = rows.columns(codes.astype(np.int32))
        self._size = codes.size
        self._known: dict[Expr, pa.Array] = {}

    def column(self, expression: Expr) -> pa.Array:
        """The values in all traced rows."""
        found = self._known.get(expression)
        if found is None:
            (different,) = expression_values([expression], self._fields, self._columns, self._size)
            found = different.take(pa.array(self._places))
            self._known[expression] = found
        return found


def _call_values(
    call: WindowCall,
    spans: Segments,
    values: _TracedValues,
    order: OrderKey | None,
    keys: pa.Array | None,
) -> pa.Array:
    """The values of one call in the rows shown."""
    if call.function in RANKINGS:
        return pa.array(RANKINGS[call.function](call, spans))
    if is_shifted(call):
        return _shifted_values(call, spans, values)
    low, high = frame_bounds(call.frame, spans, order, keys)
    low, high = low[spans.shown], high[spans.shown]
    if call.function in SELECTIONS:
        chosen = SELECTIONS[call.function](call, low, high)
        return selected(values.column(call.arguments[0]), chosen)
    framed = Framed(low, high, spans.begins[spans.shown])
    return frame_aggregate(call, [values.column(each) for each in _arguments(call)], framed)


def _shifted_values(call: WindowCall, spans: Segments, values: _TracedValues) -> pa.Array:
    wanted = shifted(call)
    source = spans.shown + wanted.shift
    begins, ends = spans.begins[spans.shown], spans.ends[spans.shown]
    is_there = (source >= begins) & (source < ends)
    found = selected(values.column(wanted.value), np.where(is_there, source, NO_ROW))
    if wanted.default is None:
        return found
    default = values.column(wanted.default).take(pa.array(spans.shown))
    return pc.if_else(pa.array(is_there), found, default)


def _arguments(call: WindowCall) -> tuple[Expr, ...]:
    is_spread = AGGREGATE_FUNCTIONS[call.function].form is Form.SPREAD
    if is_spread and call.arguments[0].type != DOUBLE:
        # A spread is of doubles, whatever it is given.
        return (Call("cast", call.arguments, DOUBLE),)
    return call.arguments


def _no_marks(rows: int, partitions: int) -> Marks:
    return Marks(
        net=np.zeros(rows, np.int64),
        flags=np.zeros(rows, np.uint8),
        rows=np.empty(rows, np.int32),
        partition_flags=np.zeros(partitions, np.uint8),
        partitions=np.empty(partitions, np.int32),
        counters=np.zeros(2, np.int64),
        keys=np.full(rows, np.nan),
    )
