"""Leaves that read a table: its newest rows, or the versions that a join AS OF may ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.relations.changes import Changes, merged_changes
from windrow.plan.relations.algebra import TableScan, VersionScan
from windrow.runtime.trees.view_leaf import ReadView, ViewLeaf
from windrow.runtime.trees.view_log import ViewLog
from windrow.schema import TIMESTAMP

__all__ = ["ReadTable", "TableLeaf", "VersionLeaf", "table_leaf"]


class ReadTable(ReadView, Protocol):
    """What a leaf asks of a table; the last column of its log is the instant since a row holds."""

    @property
    def gone(self) -> ViewLog:
        """The keys that were deleted."""


def table_leaf(
    scan: TableScan | VersionScan, table: ReadTable, grid_us: int, clock: int
) -> TableLeaf:
    """The leaf of a scan, for a query that begins at that clock."""
    kind = TableLeaf if isinstance(scan, TableScan) else VersionLeaf
    return kind(scan, table, grid_us, clock)


class TableLeaf(ViewLeaf):
    """Gives what has changed in a table; a query that comes late begins with its rows as they are.

    They are there from the beginning of the query on, however far its streams are behind others.
    """

    def __init__(
        self, scan: TableScan | VersionScan, table: ReadTable, grid_us: int, clock: int
    ) -> None:
        super().__init__(scan, table, grid_us, clock)
        self._table = table
        if self._begins > START_OF_TIME:
            self._begins = self._tick(clock)

    @property
    def needed_after(self) -> int:
        """Of what happened up to here it asks nothing any more."""
        return self.cursor


class VersionLeaf(TableLeaf):
    """Gives the versions of rows, each from when it holds until nobody can ask for it any more.

    A version leaves kept_us after the next one came. Nothing is stored here: what is kept is in the
    log of the table.
    """

    def __init__(
        self, scan: TableScan | VersionScan, table: ReadTable, grid_us: int, clock: int
    ) -> None:
        assert isinstance(scan, VersionScan)
        super().__init__(scan, table, grid_us, clock)
        self._types = [field.type.arrow for field in scan.fields]
        self._kept_us = scan.kept_us

    @property
    def needed_after(self) -> int:
        """Versions that have ended are in the log, as long as they are kept."""
        return self._ended_before(self.cursor)

    def _ended_before(self, instant: int) -> int:
        """Versions that had ended by then are not kept at that instant."""
        return START_OF_TIME - 1 if self._kept_us is None else instant - self._kept_us

    def run(self, until: int) -> Changes:
        """The versions that come and leave up to and including `until`."""
        self._check()
        begins = self._begins > START_OF_TIME
        if not self._has_begun and begins and self._begins > until:
            return merged_changes([], self._types)
        parts = [] if self._has_begun else [self._versions(self._begins)]
        parts += self._coming(until)
        if self._kept_us is not None:
            parts += self._leaving(self._kept_us, until)
        found = self._at_ticks(merged_changes(parts, self._types))
        self._has_begun, self.cursor = True, max(self.cursor, until)
        self._read += found.size
        return found

    def held(self, at: int) -> Changes:
        """The versions that it has given and that have not left."""
        if not self._has_begun:
            return merged_changes([], self._types)
        found = self._versions(at)
        return replace(found, at=np.full(found.size, at, np.int64))

    def _coming(self, until: int) -> list[Changes]:
        came, gone = (
            log.between(self.cursor, until) for log in (self._table.log, self._table.gone)
        )
        return [self._shown(_signed(came, 1)), self._shown(gone, is_gone=True)]

    def _leaving(self, kept_us: int, until: int) -> list[Changes]:
        span = self.cursor - kept_us, until - kept_us
        ended, gone = self._table.log.between(*span), self._table.gone.between(*span)
        parts = [self._shown(_signed(ended, -1)), self._shown(gone, is_gone=True)]
        return [
            replace(part, at=part.at + kept_us, weight=np.full(part.size, -1, np.int64))
            for part in parts
        ]

    def _versions(self, at: int) -> Changes:
        """All versions at the cursor: those that hold, and those that ended and are kept."""
        span = self._ended_before(self.cursor), self.cursor
        ended = _signed(self._table.log.between(*span), -1)
        gone = self._table.gone.between(*span)
        parts = [
            self._shown(self._relation(at)),
            self._shown(replace(ended, weight=-ended.weight)),
            self._shown(gone, is_gone=True),
        ]
        parts = [replace(part, at=np.full(part.size, at, np.int64)) for part in parts]
        return merged_changes(parts, self._types)

    def _shown(self, changes: Changes, *, is_gone: bool = False) -> Changes:
        """With the columns that are read, since when it holds, and whether there is a row."""
        since = changes.columns[-1].cast(TIMESTAMP.arrow)
        flags = pa.array(np.full(changes.size, is_gone))
        columns = tuple(changes.columns[place] for place in self._places)
        return Changes(changes.at, changes.weight, (*columns, since, flags))

    def _at_ticks(self, changes: Changes) -> Changes:
        if self._grid_us == 1 or not changes.size:
            return changes
        later = -(-changes.at // self._grid_us) * self._grid_us
        return replace(changes, at=np.where(changes.at > START_OF_TIME, later, changes.at))


def _signed(changes: Changes, sign: int) -> Changes:
    """Those of rows that come (1) or leave (-1)."""
    places = np.flatnonzero(np.sign(changes.weight) == sign)
    return changes if places.size == changes.size else changes.taken(places)
