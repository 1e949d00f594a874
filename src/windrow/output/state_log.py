"""A log of states of groups, addressed by number: rows of the result are made when they are read.

What nobody reads costs the bytes of its state and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.backlog import joined_rows
from windrow.operators.lanes import LaneLayout, Matrix, Vector, moved
from windrow.output import group_kernels
from windrow.output.combine import CodedUpdates
from windrow.output.row_log import Numbers, RowLog, renumbered

__all__ = ["StateLog", "States", "states_of"]

SMALLEST = 64


@dataclass(frozen=True)
class States:
    """States of groups, as they are in CodedUpdates, at no instant in particular.

    group: no entries where there is one group.
    """

    group: NDArray[np.int32]
    count: Vector
    lanes: Matrix
    layout: LaneLayout
    extras: Matrix

    def chosen(self, flags: NDArray[np.bool_]) -> States:
        """Those that are flagged."""
        extras = self.extras[flags] if self.extras.shape[1] else self.extras
        return States(self.group[flags], self.count[flags], self.lanes[flags], self.layout, extras)

    def __len__(self) -> int:
        return self.count.size

    def __getitem__(self, places: slice | Vector) -> States:
        group = self.group[places] if self.group.size else self.group
        extras = self.extras[places] if self.extras.shape[1] else self.extras
        return States(group, self.count[places], self.lanes[places], self.layout, extras)

    @property
    def nbytes(self) -> int:
        """Bytes of all states."""
        # Without a loop: every step asks for it.
        states = self.group.nbytes + self.count.nbytes + self.lanes.nbytes
        return states + self.extras.nbytes

    @classmethod
    def joined(cls, parts: Sequence[States]) -> States:
        """All states of the parts, which are of one layout."""
        columns = zip(*(_arrays(part) for part in parts), strict=True)
        group, count, lanes, extras = map(np.concatenate, columns)
        return cls(group, count, lanes, parts[0].layout, extras)

    def in_layout(self, layout: LaneLayout) -> States:
        """The same in lanes of another layout, which holds them."""
        if layout == self.layout:
            return self
        counts = np.repeat(self.count[:, None], self.layout.value_count, axis=1)
        lanes = moved(self.lanes, counts, self.layout, layout)
        return States(self.group, self.count, lanes, layout, self.extras)


def states_of(updates: CodedUpdates) -> States:
    """The states of updates, whenever they are."""
    return States(updates.group, updates.count, updates.lanes, updates.layout, updates.extras)


class StateLog:
    """The same as RowLog, of rows that rows_of makes of states.

    Rows that a snapshot has brought are rows already: they have the lowest numbers.
    """

    def __init__(self, schema: pa.Schema, rows_of: Callable[[States], pa.Table]) -> None:
        self._schema = schema
        self._rows_of = rows_of
        self._made = RowLog(schema)
        self._states: States | None = None  # with room for more
        self._used = 0

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes; states are never written over."""
        return (self, *self._made.parts)

    @property
    def size(self) -> int:
        """Rows in the log."""
        return self._made.size + self._used

    @property
    def nbytes(self) -> int:
        """Bytes of states and rows; memory that was never written to is none yet."""
        return self._made.nbytes + self._used * self._state_bytes

    @property
    def _state_bytes(self) -> int:
        return sum(each.strides[0] for each in self._arrays())

    def append(self, rows: States | pa.Table) -> None:
        """Add states; rows only as long as there are none."""
        if isinstance(rows, pa.Table):
            assert not self._used
            self._made.append(rows)
            return
        if self._states is None:
            self._states = _room(rows, 0)
        layout = self._states.layout.holding(rows.layout)
        if layout != self._states.layout:
            self._states = self._held().in_layout(layout)
        rows, end = rows.in_layout(layout), self._used + rows.group.size
        if end > self._states.group.size:
            self._grow(end)
        for kept, new in zip(self._arrays(), _arrays(rows), strict=True):
            if kept.ndim == 1 or kept.shape[1]:
                kept[self._used : end] = new
        self._used = end

    def nbytes_of(self, numbers: Numbers) -> int:
        """Bytes of the rows of these numbers, each of which is named once."""
        made = numbers[numbers < self._made.size]
        return self._made.nbytes_of(made) + self._state_bytes * (numbers.size - made.size)

    def read(self, numbers: Numbers) -> pa.Table:
        """The rows of these numbers."""
        first = self._made.size
        if not first:
            return self._read_states(numbers)
        is_made = numbers < first
        made = self._made.read(numbers[is_made])
        rest = self._read_states(numbers[~is_made] - first)
        places = np.empty(numbers.size, np.int64)
        places[is_made] = np.arange(made.num_rows)
        places[~is_made] = made.num_rows + np.arange(rest.num_rows)
        return pa.concat_tables([made, rest]).take(pa.array(places)).combine_chunks()

    def table(self) -> pa.Table:
        """All rows, by number."""
        return self.read(np.arange(self.size))

    def compact(self, references: Sequence[Numbers]) -> list[Numbers]:
        """Drop the rows that no array refers to; returns the arrays with the new numbers."""
        kept, renamed = renumbered(references, self.size)
        first = self._made.size
        made = RowLog(self._schema)
        if first:
            made.append(joined_rows([self._made.read(kept[kept < first])]))
        numbers = kept[kept >= first] - first
        states = None if self._states is None else self._gathered(numbers)
        self._made, self._states, self._used = made, states, numbers.size
        return renamed

    def _read_states(self, numbers: Numbers) -> pa.Table:
        if not numbers.size:
            return self._schema.empty_table()
        return self._rows_of(self._gathered(numbers))

    def _gathered(self, numbers: Numbers) -> States:
        assert self._states is not None
        found = _room(self._states, numbers.size)
        group_kernels.gather_states(numbers, *self._arrays(), _arrays(found))
        return found

    def _held(self) -> States:
        """The states without the room behind them."""
        assert self._states is not None
        group, count, lanes, extras = (each[: self._used] for each in self._arrays())
        return States(group, count, lanes, self._states.layout, extras)

    def _grow(self, size: int) -> None:
        held = self._held()
        self._states = _room(held, max(SMALLEST, size, self._used + self._used // 2))
        for new, old in zip(self._arrays(), _arrays(held), strict=True):
            new[: self._used] = old

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return () if self._states is None else _arrays(self._states)


def _arrays(states: States) -> tuple[NDArray[Any], ...]:
    return states.group, states.count, states.lanes, states.extras


def _room(like: States, size: int) -> States:
    """So many states, not written yet, in arrays of the same kinds."""
    return States(
        np.empty(size, np.int32),
        np.empty(size, np.int64),
        np.empty((size, like.lanes.shape[1]), np.int64),
        like.layout,
        np.empty((size, like.extras.shape[1]), np.int64),
    )
