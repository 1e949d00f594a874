"""A leaf that reads a view: no windows of its own, but a place in the view's log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NoReturn, Protocol

import numpy as np
import pyarrow as pa

from windrow.errors import DataError
from windrow.event_time import START_OF_TIME
from windrow.operators.relations.changes import Changes, merged_changes
from windrow.plan.relations.algebra import TableScan, VersionScan, ViewScan
from windrow.rows.faults import FaultError
from windrow.rows.prepared_rows import PreparedRows
from windrow.runtime.trees.leaves import Leaf
from windrow.runtime.trees.view_log import ViewLog
from windrow.windows.window import Window

__all__ = ["ReadView", "ViewLeaf"]


class ReadView(Protocol):
    """What a leaf asks of a view that runs."""

    @property
    def log(self) -> ViewLog:
        """What it tells its readers."""

    @property
    def clock(self) -> int:
        """The instant through which it has run; no reader goes beyond it."""

    @property
    def first_us(self) -> int | None:
        """The time of the first row of any of its streams, if one has come."""

    @property
    def failure(self) -> DataError | None:
        """Why it has stopped by itself, if it has."""

    def held(self, at: int) -> Changes:
        """Its relation as it is, as if all rows had entered at that instant."""

    def be_whole(self) -> None:
        """Roll back an interrupted part of a step, if there is one."""


class ViewLeaf(Leaf):
    """Gives what has changed in a view since it was asked last.

    A leaf that comes late begins with the relation of the view as it is: where anything has
    happened in the view, as if it had come at the view's clock, or the next tick of its own.
    """

    def __init__(
        self,
        scan: ViewScan | TableScan | VersionScan,
        view: ReadView,
        grid_us: int,
        clock: int,
    ) -> None:
        self._view, self._places = view, scan.places
        self._types = [field.type.arrow for field in scan.given]
        self._grid_us = grid_us
        # All that happened up to here has been given, or is part of what it begins with.
        self.cursor = max(view.log.start, min(clock, view.clock))
        self._joined = self.cursor
        self._begins = self._tick(self.cursor) if view.log.has_changed else START_OF_TIME
        self._has_begun = False
        self._read = 0  # changes so far

    @property
    def types(self) -> list[pa.DataType]:
        """Of the columns that are read."""
        return self._types

    def _tick(self, instant: int) -> int:
        return -(-instant // self._grid_us) * self._grid_us

    def run(self, until: int) -> Changes:
        """What has changed in the view up to and including `until`."""
        self._check()
        begins = self._begins > START_OF_TIME
        if not self._has_begun and begins and self._begins > until:
            return self._chosen(self._view.log.nothing())
        parts = [] if self._has_begun else [self._relation(self._begins)]
        parts.append(self._view.log.between(self.cursor, until))
        found = self._chosen(merged_changes(parts, self._view_types))
        self._has_begun, self.cursor = True, max(self.cursor, until)
        self._read += found.size
        return found

    def _check(self) -> None:
        """A reader of a view that has failed fails with it."""
        failure = self._view.failure
        if failure is not None:
            raise FaultError(failure.code, failure.message, hint=failure.hint)
        self._view.be_whole()

    @property
    def _view_types(self) -> list[pa.DataType]:
        return [column.type for column in self._view.log.nothing().columns]

    def _relation(self, at: int) -> Changes:
        """The relation of the view at the cursor: as it is now, without what came after."""
        now, later = self._view.held(at), self._view.log.between(self.cursor)
        undone = replace(later, at=np.full(later.size, at, np.int64), weight=-later.weight)
        return merged_changes([now, undone], self._view_types)

    def _chosen(self, changes: Changes) -> Changes:
        """With the columns that are read, at ticks of the reader."""
        columns = tuple(changes.columns[place] for place in self._places)
        at = changes.at
        if self._grid_us > 1 and changes.size:
            at = np.where(at > START_OF_TIME, -(-at // self._grid_us) * self._grid_us, at)
        return Changes(at, changes.weight, columns)

    def held(self, at: int) -> Changes:
        """What it has given, as a relation."""
        self._view.be_whole()
        if not self._has_begun:
            return self._chosen(self._view.log.nothing())
        return replace(
            self._chosen(found := self._relation(at)), at=np.full(found.size, at, np.int64)
        )

    @property
    def first_us(self) -> int | None:
        """The time of the first row of the view's streams since it was there."""
        first = self._view.first_us
        return None if first is None else max(first, self._joined + 1)

    def next_stop(self, until: int, events: int) -> int:
        """How far it may go for about so many changes."""
        return self._view.log.next_stop(self.cursor, until, events)

    @property
    def event_count(self) -> int:
        """Changes so far."""
        return self._read

    def mark(self, appending: Iterable[int]) -> tuple[int, bool]:
        """How far it has read."""
        del appending
        return self.cursor, self._has_begun

    def keep(self, mark: tuple[int, bool]) -> None:
        """The step is whole."""
        del mark

    def rewind(self, mark: tuple[int, bool]) -> None:
        """Read again from the mark on: the log still has it."""
        self.cursor, self._has_begun = mark

    def input_rows(self, input_index: int) -> NoReturn:
        """It has no inputs."""
        raise AssertionError(f"a view has no input {input_index}")

    @property
    def windows(self) -> tuple[Window, ...]:
        """None: those of the view are its own."""
        return ()

    def append(self, rows: Mapping[int, PreparedRows]) -> None:
        """It has no inputs."""
        assert not rows

    def saved(self) -> dict[str, pa.Table | pa.RecordBatch]:
        """How far it has read: what it reads is saved once, for all."""
        state = {"cursor": [self.cursor], "joined": [self._joined], "begins": [self._begins]}
        return {"read": pa.table({**state, "has_begun": [self._has_begun]})}

    def load(self, tables: Mapping[str, pa.Table], clock: int) -> None:
        """Back from saved()."""
        del clock
        (state,) = tables["read"].to_pylist()
        self.cursor, self._joined = state["cursor"], state["joined"]
        self._begins, self._has_begun = state["begins"], state["has_begun"]

    @property
    def nbytes(self) -> int:
        """The view's own bytes are counted once, there."""
        return 0

    def growth_bytes(self, rows: int) -> int:
        """What it gives is part of the log."""
        del rows
        return 0
