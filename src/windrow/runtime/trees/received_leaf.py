"""A leaf that is given the changes of a relation by another stage of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NoReturn

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.result import TreeResult
from windrow.plan.relations.exchange_algebra import Received
from windrow.rows.prepared_rows import PreparedRows
from windrow.runtime.trees.leaves import Leaf
from windrow.runtime.trees.view_log import ViewLog
from windrow.windows.window import Window

__all__ = ["ReceivedLeaf"]


class ReceivedLeaf(Leaf):
    """Keeps the rows of the relation, and changes until a step that gives them is whole.

    first_us: the time of the first row of any stream below, if one has come.
    """

    def __init__(self, node: Received) -> None:
        self._types = [field.type.arrow for field in node.given]
        self._log = ViewLog(self._types, 1)
        self._rows = TreeResult(self._types)
        # All up to here has been given. What is there before any row comes is still to be.
        self._cursor = START_OF_TIME - 1
        self._read = 0  # changes so far
        self.first_us: int | None = None

    @property
    def plans(self) -> tuple[()]:
        """It has no windows."""
        return ()

    @property
    def types(self) -> list[pa.DataType]:
        """Of the columns that are received."""
        return self._types

    def receive(self, changes: Changes, first_us: int | None) -> None:
        """Changes, all later than what was given, wait for the clock."""
        self._log.append(changes)
        if first_us is not None:
            self.first_us = first_us if self.first_us is None else min(first_us, self.first_us)

    def run(self, until: int) -> Changes:
        """What has changed up to and including `until`."""
        found = self._log.between(self._cursor, until)
        self._rows.counted(found)
        self._cursor = max(self._cursor, until)
        self._read += found.size
        return found

    def held(self, at: int) -> Changes:
        """The relation as it is."""
        return self._rows.held(at)

    def next_stop(self, until: int, events: int) -> int:
        """How far it may go for about so many changes."""
        return self._log.next_stop(self._cursor, until, events)

    @property
    def event_count(self) -> int:
        """Changes so far."""
        return self._read

    def mark(self, appending: Iterable[int]) -> int:
        """How far it has given changes."""
        del appending
        return self._cursor

    def keep(self, mark: int) -> None:
        """The step is whole: its changes are not asked for again."""
        del mark
        self._log.trim(self._cursor)

    def rewind(self, mark: int) -> None:
        """Takes what was given since out of the relation; the log still has it."""
        undone = self._log.between(mark, self._cursor)
        self._rows.counted(replace(undone, weight=-undone.weight))
        self._cursor = mark

    def input_rows(self, input_index: int) -> NoReturn:
        """It has no inputs."""
        raise AssertionError(f"what is received has no input {input_index}")

    @property
    def windows(self) -> tuple[Window, ...]:
        """None: they are in another stage."""
        return ()

    def append(self, rows: Mapping[int, PreparedRows]) -> None:
        """It has no inputs."""
        assert not rows

    def saved(self) -> dict[str, pa.Table | pa.RecordBatch]:
        """The relation, and what it has not given yet."""
        held = self._rows.held(self._cursor)
        parts = {"held": held, "waiting": self._log.between(self._cursor)}
        state = {"cursor": [self._cursor], "first": pa.array([self.first_us], pa.int64())}
        return {"state": pa.table(state), **{name: _table(each) for name, each in parts.items()}}

    def load(self, tables: Mapping[str, pa.Table], clock: int) -> None:
        """Back from saved()."""
        del clock
        (state,) = tables["state"].to_pylist()
        self._cursor, self.first_us = state["cursor"], state["first"]
        self._rows.counted(_changes(tables["held"]))
        self._log.append(_changes(tables["waiting"]))

    @property
    def nbytes(self) -> int:
        """Bytes of the relation, and of changes that wait."""
        return self._rows.nbytes + self._log.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many changes come."""
        return self._rows.growth_bytes(rows) + self._log.growth_bytes(rows)


def _table(changes: Changes) -> pa.Table:
    columns = [pa.array(changes.at), pa.array(changes.weight), *changes.columns]
    return pa.Table.from_arrays(columns, names=[str(place) for place in range(len(columns))])


def _changes(table: pa.Table) -> Changes:
    at, weight, *columns = (column.combine_chunks() for column in table.columns)
    return Changes(at.to_numpy(), weight.to_numpy(), tuple(columns))
