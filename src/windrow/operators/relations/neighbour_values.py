"""LAG and LEAD over partitions in order: work is proportional to the changes and their reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from windrow.operators.relations.changes import Changes, Vector, merged_changes, no_changes
from windrow.operators.relations.held_values import HeldValues
from windrow.operators.relations.neighbour_kernels import (
    AT,
    BELOW_ZERO,
    NO_DEFAULT,
    OUT_COLUMNS,
    ROW,
    STATE_COLUMNS,
    WEIGHT,
    Reached,
    neighbour_changes,
)
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.order_words import Matrix
from windrow.operators.relations.ordered_rows import (
    CodedChanges,
    OrderedRows,
    expression_values,
    has_numbers,
)
from windrow.plan.expressions import Expr, Literal
from windrow.plan.relations.algebra import WindowCall, WindowFunctions

__all__ = ["NeighbourValuesOperator", "Shifted", "is_shifted", "shifted"]

_CHANGE_ENTRIES = 4
# Changes whose results are made at once: few enough for these to stay in the cache.
_PART_CHANGES = 1 << 14


@dataclass(frozen=True)
class Shifted:
    """A call of LAG or LEAD: the value of the copy so many further on (negative: before)."""

    value: Expr
    shift: int
    default: Expr | None


def is_shifted(call: WindowCall) -> bool:
    """Whether the call is of LAG or LEAD."""
    return call.function in ("lag", "lead")


def shifted(call: WindowCall) -> Shifted:
    """What a call of LAG or LEAD shows."""
    value, *others = call.arguments
    distance = 1
    if others:
        assert isinstance(others[0], Literal)
        assert isinstance(others[0].value, int)
        distance = others[0].value
    default = others[1] if len(others) > 1 else None
    if isinstance(default, Literal) and default.value is None:
        default = None
    return Shifted(value, distance if call.function == "lead" else -distance, default)


class NeighbourValuesOperator(RelationOperator):
    """Every row with values of rows before or behind it; all calls are of LAG and LEAD."""

    def __init__(self, node: WindowFunctions) -> None:
        self._fields = node.input.fields
        self._passed = [self._fields.index(field) for field in node.passed]
        self._types = [field.type.arrow for field in node.fields]
        self._rows = OrderedRows(
            self._fields, node.partition, node.order, is_numbered=has_numbers(node.input)
        )
        calls = [shifted(call) for call in node.calls]
        defaults = [call.default for call in calls if call.default is not None]
        self._held = list(dict.fromkeys([*(call.value for call in calls), *defaults]))
        self._values = HeldValues([each.type.arrow for each in self._held])
        self._calls = self._layout(calls)
        shifts = [call.shift for call in calls]
        self._reach = (max(0, -min(shifts)), max(0, *shifts))
        self._reached = _nothing_reached(0)

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The rows that come and go, and those whose values change with them."""
        del until
        (changes,) = inputs
        if not changes.size:
            return no_changes(self._types)
        coded = self._rows.load(changes)
        values = expression_values(self._held, self._fields, coded.columns, coded.named.size)
        self._values.load(coded.named, values, coded.fresh, self._rows.capacity)
        if self._rows.capacity > self._reached.rows.size:
            self._reached = _nothing_reached(self._rows.capacity)
        found = [self._shown(self._applied(coded, part)) for part in _parts(coded.at)]
        self._values.release(self._rows.release(coded))
        return merged_changes(found, self._types)

    def _applied(self, coded: CodedChanges, part: slice) -> Matrix:
        arrays = (coded.at[part], coded.weight[part], coded.rows[part], coded.partitions[part])
        width = int(self._calls[:, 4].sum())
        room = _CHANGE_ENTRIES * (part.stop - part.start)
        out = np.empty((room, OUT_COLUMNS + width), np.int64)
        count, out = neighbour_changes(
            arrays,
            self._rows.tree,
            self._values.words,
            self._calls,
            self._reach,
            self._reached,
            out,
        )
        assert count != BELOW_ZERO, "a row left that was not there"
        shown: Matrix = out[:count]
        return shown

    def _shown(self, out: Matrix) -> Changes:
        columns = self._rows.columns(out[:, ROW].astype(np.int32), self._passed)
        for _, value, _, first, width in self._calls.tolist():
            place = self._values.first.index(value)
            columns.append(self._values.column(place, out[:, first : first + width]))
        at, weight = np.ascontiguousarray(out[:, AT]), np.ascontiguousarray(out[:, WEIGHT])
        return Changes(at, weight, tuple(columns))

    def _layout(self, calls: Sequence[Shifted]) -> Matrix:
        rows = []
        shown = OUT_COLUMNS
        for call in calls:
            place = self._held.index(call.value)
            default = NO_DEFAULT
            if call.default is not None:
                default = self._values.first[self._held.index(call.default)]
            width = self._values.widths[place]
            rows.append((call.shift, self._values.first[place], default, shown, width))
            shown += width
        return np.array(rows, np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of everything that it remembers."""
        reached = sum(array.nbytes for array in self._reached)
        return self._rows.nbytes + self._values.nbytes + reached

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        reached = sum(array.nbytes for array in self._reached)
        out = changes * _CHANGE_ENTRIES * 2 * 8 * (OUT_COLUMNS + 2 * len(self._calls))
        own = self._rows.grown_bytes(reached + self._values.nbytes, changes)
        texts = self._values.growth_bytes(changes)
        return self._rows.growth_bytes(changes) + own + texts + out


def _parts(at: Vector) -> Iterator[slice]:
    """Whole instants with about so many changes, one part after the other."""
    begin = 0
    while begin < at.size:
        last = min(begin + _PART_CHANGES, at.size) - 1
        end = int(np.searchsorted(at, at[last], side="right"))
        yield slice(begin, end)
        begin = end


def _nothing_reached(rows: int) -> Reached:
    return Reached(
        states=np.zeros((rows, STATE_COLUMNS), np.int64),
        rows=np.empty(rows, np.int32),
        counters=np.zeros(1, np.int64),
    )
