"""What a view tells those that read it: its changes and its instants, until all have read them.

Readers note how far they have read by an instant, as all that happens is in the order of time: so
the log serves any number of them, and what all have passed is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.operators.relations.changes import Changes, Vector, merged_changes, no_changes

__all__ = ["ViewLog"]

_NO_INSTANTS: Vector = np.empty(0, np.int64)
# Bytes of a change without its columns, and of a column of it, as it is foreseen.
_BYTES_A_CHANGE = 16
_BYTES_A_COLUMN = 24


class ViewLog:
    """Changes of a view's relation, and the instants at which rows entered its windows.

    grid_us: of a view with EVERY rows enter at its ticks. start: what happened up to this instant
    may have been dropped.
    """

    def __init__(self, types: Sequence[pa.DataType], grid_us: int) -> None:
        self._types = list(types)
        self._grid_us = grid_us
        self._changes: list[Changes] = []
        self._instants: list[Vector] = []
        self.start = START_OF_TIME
        self.has_changed = False  # since the rows that it has before any row has come

    def append(self, changes: Changes) -> None:
        """Changes, all later than those before."""
        if not changes.size:
            return
        self.has_changed = self.has_changed or int(changes.at[-1]) > START_OF_TIME
        # Chunks become larger by half at least from the last to the first: few, however many came.
        while self._changes and 2 * self._changes[-1].size <= 3 * changes.size:
            changes = merged_changes([self._changes.pop(), changes], self._types)
        self._changes.append(changes)

    def enter(self, instants: Vector) -> None:
        """Rows have entered at these instants, sorted, none earlier than those before."""
        if not instants.size:
            return
        ticks = -(-instants // self._grid_us) * self._grid_us
        while self._instants and 2 * self._instants[-1].size <= 3 * ticks.size:
            ticks = np.concatenate([self._instants.pop(), ticks])
        self._instants.append(np.unique(ticks))

    def between(self, after: int, until: int = END_OF_TIME) -> Changes:
        """The changes later than `after`, up to and including `until`."""
        parts = [_part(each, after, until) for each in self._changes if each.at[-1] > after]
        return merged_changes(parts, self._types)

    def instants(self, after: int, until: int) -> Vector:
        """The instants later than `after`, up to and including `until`, each once."""
        found = [_NO_INSTANTS]
        for each in self._instants:
            begin, end = np.searchsorted(each, [after, until], side="right")
            found.append(each[begin:end])
        return np.unique(np.concatenate(found))

    def next_stop(self, after: int, until: int, changes: int) -> int:
        """How far a reader may go, at most to `until`, for about so many changes."""
        for each in self._changes:
            begin = int(np.searchsorted(each.at, after, side="right"))
            if each.size - begin >= changes:
                return min(until, int(each.at[begin + changes - 1]))
            changes -= each.size - begin
        return until

    def trim(self, until: int) -> None:
        """All have read what happened up to that instant."""
        if until <= self.start:
            return
        changes = [_part(each, until, END_OF_TIME) for each in self._changes]
        instants = [each[np.searchsorted(each, until, side="right") :] for each in self._instants]
        # What is left of a long chunk should not hold on to all of its memory.
        self._changes = [_unpinned(each) for each in changes if each.size]
        self._instants = [each.copy() for each in instants if each.size]
        self.start = until

    @property
    def nbytes(self) -> int:
        """Bytes of what some have not read."""
        changes = sum(each.nbytes for each in self._changes)
        return changes + sum(each.nbytes for each in self._instants)

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows come and as many go."""
        return 2 * rows * (_BYTES_A_CHANGE + _BYTES_A_COLUMN * len(self._types)) + self.nbytes

    def nothing(self) -> Changes:
        """No changes."""
        return no_changes(self._types)

    def saved(self) -> dict[str, pa.Table]:
        """What some have not read, and from where on that is."""
        held = merged_changes(self._changes, self._types)
        columns = {f"c{number}": column for number, column in enumerate(held.columns)}
        instants = np.unique(np.concatenate([_NO_INSTANTS, *self._instants]))
        return {
            "changes": pa.table({"at": held.at, "weight": held.weight, **columns}),
            "instants": pa.table({"at": instants}),
            "state": pa.table({"start": [self.start], "has_changed": [self.has_changed]}),
        }

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        """Back from saved()."""
        at, weight, *columns = (_whole(each) for each in tables["changes"].columns)
        held = Changes(_numbers(at), _numbers(weight), tuple(columns))
        instants = _numbers(_whole(tables["instants"].column("at")))
        (state,) = tables["state"].to_pylist()
        self._changes = [held] if held.size else []
        self._instants = [instants] if instants.size else []
        self.start, self.has_changed = state["start"], state["has_changed"]


def _part(changes: Changes, after: int, until: int) -> Changes:
    begin, end = (int(each) for each in np.searchsorted(changes.at, [after, until], side="right"))
    if end - begin == changes.size:
        return changes
    columns = tuple(column.slice(begin, end - begin) for column in changes.columns)
    return Changes(changes.at[begin:end], changes.weight[begin:end], columns)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _numbers(column: pa.Array) -> Vector:
    return np.array(column.to_numpy(zero_copy_only=False), np.int64)


def _unpinned(changes: Changes) -> Changes:
    is_part = changes.at.base is not None and 2 * changes.size < changes.at.base.size
    return changes.taken(np.arange(changes.size)) if is_part else changes
