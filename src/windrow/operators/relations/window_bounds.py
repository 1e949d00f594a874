"""Bounds of windows next to rows: all rows have those of the window that closed last.

At every close the rows that were there leave with the old bounds, and those that are there now come
with the new ones. What is held is the input, by codes and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.operators.relations.changes import Changes, Vector, no_changes
from windrow.operators.relations.held_rows import HeldRows
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.model import WindowSpec
from windrow.plan.relations.window_algebra import WindowBounds
from windrow.windows.codes import Codes

__all__ = ["BOUND_OF_END", "WindowBoundsOperator"]

# The last time in a window, as others count it.
LAST_TIME_US = 1_000
BEFORE_ALL = -(1 << 62)


def _start(window: WindowSpec, ends: Vector) -> Vector:
    starts = window.traits.starts
    assert starts is not None
    found: Vector = starts(window, ends)
    return found


# What a bound is, of windows that end then.
BOUND_OF_END: dict[str, Callable[[WindowSpec, Vector], Vector]] = {
    "start": _start,
    "end": lambda _, ends: ends,
    "time": lambda _, ends: ends - LAST_TIME_US,
}


class WindowBoundsOperator(RelationOperator):
    """Holds the input, and which window closed last."""

    def __init__(self, node: WindowBounds) -> None:
        self._window = node.window
        self._parts = [each.part for each in node.bounds]
        self._types = [field.type.arrow for field in node.fields]
        self._slide, self._phase = node.window.traits.close_grid(node.window)
        self._rows = HeldRows([field.type.arrow for field in node.input.fields])
        self._end = BEFORE_ALL  # of the window whose bounds the rows held have

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The changes of the input with bounds, and all rows at every close."""
        (changes,) = inputs
        given = _Given()
        codes = self._rows.acquire(changes.columns, changes.size)
        ends = (changes.at - self._phase) // self._slide * self._slide + self._phase
        done = 0
        while True:
            done = self._within(changes, codes, ends, done, given)
            held, counts = self._held()
            if held.size:
                close = self._end + self._slide
            elif done < changes.size:
                close = int(ends[done])
            else:
                break
            if close > until:
                break
            given.add(close, held, -counts, self._end)
            stop = int(np.searchsorted(changes.at, close, side="right"))
            self._count(changes, codes, done, stop)
            given.add(close, *self._held(), close)
            done, self._end = stop, close
        found = self._changes(given)
        self._rows.release(codes)
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of the input."""
        return self._rows.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes: at a close all rows leave and come."""
        return self._rows.growth_bytes(changes) + 4 * self._rows.counts.nbytes

    def _within(
        self, changes: Changes, codes: Codes, ends: Vector, done: int, given: _Given
    ) -> int:
        """Takes the changes before the next close, which have the bounds of now."""
        stop = done + int(np.searchsorted(ends[done:], self._end, side="right"))
        if stop > done:
            self._count(changes, codes, done, stop)
            given.add(changes.at[done:stop], codes[done:stop], changes.weight[done:stop], self._end)
        return stop

    def _count(self, changes: Changes, codes: Codes, begin: int, end: int) -> None:
        np.add.at(self._rows.counts[:, 0], codes[begin:end], changes.weight[begin:end])

    def _held(self) -> tuple[Codes, Vector]:
        codes = np.flatnonzero(self._rows.counts[:, 0]).astype(np.int32)
        return codes, self._rows.counts[codes, 0]

    def _changes(self, given: _Given) -> Changes:
        if not given.codes:
            return no_changes(self._types)
        codes, ends = np.concatenate(given.codes), np.concatenate(given.ends)
        width = len(self._types) - len(self._parts)
        bounds = [
            pa.array(BOUND_OF_END[part](self._window, ends)).cast(kind)
            for part, kind in zip(self._parts, self._types[width:], strict=True)
        ]
        columns = (*self._rows.coder.columns(codes), *bounds)
        return Changes(np.concatenate(given.at), np.concatenate(given.weight), columns)


class _Given:
    """Changes on their way out, in time order."""

    def __init__(self) -> None:
        self.at: list[Vector] = []
        self.codes: list[Codes] = []
        self.weight: list[Vector] = []
        self.ends: list[Vector] = []

    def add(self, at: int | Vector, codes: Codes, weight: Vector, end: int) -> None:
        if not codes.size:
            return
        self.at.append(_full(codes.size, at))
        self.codes.append(codes)
        self.weight.append(weight)
        self.ends.append(_full(codes.size, end))


def _full(size: int, value: Any) -> Vector:
    return np.full(size, value, np.int64)
