"""A table at work: the newest row of each key, versions to come, and a log of what has changed.

An upsert is prepared as a whole before anything is done (`given`, `reached`), and then made
(`TableChange.finish`), which may be repeated: whatever breaks it off, it is made whole before
anything else happens. Queries read the log at their own pace, as they read the log of a view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from windrow.errors import DataError
from windrow.event_time import END_OF_TIME, MIN_EVENT_TIME, START_OF_TIME
from windrow.operators.relations.changes import Changes, Vector, merged_changes
from windrow.rows.frames import pack, unpack
from windrow.runtime.ledger import Ledger
from windrow.runtime.tables.newest_rows import Columns, Key, NewestRows, keys_of
from windrow.runtime.tables.versions import Versions, joined_versions, no_versions
from windrow.runtime.trees.view_log import ViewLog
from windrow.table_schema import TableSchema
from windrow.windows.marks import Assignments

__all__ = ["TableChange", "TableStore"]

SINCE = pa.int64()


@dataclass
class TableChange:
    """A change of a table that is computed and can be made, also more than once."""

    store: TableStore
    chunks: tuple[Columns, ...]
    places: Mapping[Key, int | None]
    times: Mapping[Key, int]
    assignments: Assignments
    added_bytes: int

    def finish(self) -> None:
        """Make it."""
        self.store.rows.change(self.chunks, self.places)
        self.store.times.update(self.times)
        self.assignments.finish()


class TableStore:
    """One table of a session.

    log: rows that came and went, with the instant since which they hold as a last column. gone:
    keys that were deleted, likewise. reached: the instant through which all that has taken effect
    is in both. waiting: versions that hold from later on. failure: none ever, unlike a view's.
    """

    failure: DataError | None = None

    def __init__(self, schema: TableSchema) -> None:
        self.schema = schema
        self.name = schema.name
        self.types = [column.type.arrow for column in schema.columns]
        self.rows = NewestRows([*self.types, SINCE])
        self.log = ViewLog([*self.types, SINCE], 1)
        self.gone = ViewLog([*self.types, SINCE], 1)
        self.reached = START_OF_TIME
        self.waiting = no_versions(self.types)
        # Of a table with TIME the own time of the newest version of each key, deleted ones too.
        self.times: dict[Key, int] = {}
        self.first_us: int | None = None  # the first instant of an event at which it changed
        self.ledger = Ledger()

    # ---- what changes it

    def change(self, more: Versions, until: int, late: int = 0) -> TableChange:
        """What it takes to have more versions, and for those up to an instant to hold.

        late: how many of them came after their own time.
        """
        versions = joined_versions(self.waiting, more)
        due = int(np.searchsorted(versions.at, until, side="right"))
        rest = versions.part(due, versions.size)
        made = _Applied(self, versions.part(0, due))
        ledger = replace(
            self.ledger,
            rows_in=self.ledger.rows_in + more.size,
            late=self.ledger.late + late,
            applied=self.ledger.applied + due - late,
            waiting=rest.size,
        )
        log, gone = _continued(self.log, made.changes), _continued(self.gone, made.gone)
        log.enter(np.unique(made.changes.at[made.changes.at >= MIN_EVENT_TIME]))
        assignments = Assignments()
        assignments.add(self.log, **vars(log))
        assignments.add(self.gone, **vars(gone))
        first = self.first_us
        events = made.changes.at[made.changes.at >= MIN_EVENT_TIME]
        if first is None and events.size:
            first = int(events[0])
        reached = max(self.reached, until)
        assignments.add(self, waiting=rest, reached=reached, ledger=ledger, first_us=first)
        added = made.nbytes + rest.nbytes - self.waiting.nbytes
        chunks = self.rows.appended(made.added)
        return TableChange(self, chunks, made.places, made.times, assignments, added)

    def compact(self) -> None:
        """Give back the memory of rows that others have replaced, where they are many."""
        if self.rows.is_sparse:
            self.rows = self.rows.compacted()

    # ---- what readers ask, as they ask a view

    @property
    def clock(self) -> int:
        """No reader goes beyond it: a table is complete as far as anybody asks."""
        return END_OF_TIME

    def be_whole(self) -> None:
        """It is: a change that was broken off is made before anything is read."""

    def held(self, at: int) -> Changes:
        """Its rows as they are, as if all had come at that instant."""
        columns = self.rows.all()
        size = len(self.rows.places)
        return Changes(np.full(size, at, np.int64), np.ones(size, np.int64), columns)

    def trim(self, until: int) -> None:
        """All have read what happened up to that instant."""
        self.log.trim(until)
        self.gone.trim(until)

    @property
    def row_count(self) -> int:
        """How many rows it has."""
        return len(self.rows.places)

    def table(self) -> pa.Table:
        """Its rows now."""
        columns = self.rows.all()[:-1]
        return pa.Table.from_arrays(list(columns), schema=self.schema.arrow)

    @property
    def nbytes(self) -> int:
        """Bytes of rows, of versions to come, and of changes that some have not read."""
        logs = self.log.nbytes + self.gone.nbytes
        return self.rows.nbytes + logs + self.waiting.nbytes + 96 * len(self.times)

    # ---- saved and restored

    def snapshot(self) -> bytes:
        """Everything, as bytes."""
        names = [f"c{i}" for i in range(len(self.types))]
        header = {
            "table": self.name,
            "columns": [[column.name, str(column.type)] for column in self.schema.columns],
            "key": list(self.schema.key),
            "reached": self.reached,
            "first_us": self.first_us,
            "ledger": vars(self.ledger),
            "starts": [self.log.start, self.log.has_changed],
        }
        waiting = self.waiting
        tables = {
            "rows": pa.Table.from_arrays(list(self.rows.all()), [*names, "since"]),
            "waiting": pa.Table.from_arrays(
                [*waiting.columns, *map(pa.array, (waiting.at, waiting.time, waiting.gone))],
                [*names, "at", "time", "gone"],
            ),
            "times": self._saved_times(),
            "instants": pa.table({"at": self.log.instants(START_OF_TIME, END_OF_TIME)}),
        }
        for name, log in (("log", self.log), ("gone", self.gone)):
            changes = log.between(START_OF_TIME - 1)
            columns = [*changes.columns, pa.array(changes.at), pa.array(changes.weight)]
            tables[name] = pa.Table.from_arrays(columns, [*names, "since", "at", "weight"])
        return pack("table", header, tables)

    def _saved_times(self) -> pa.Table:
        """The times of keys whose rows are gone, with the rest of them for good measure."""
        keys = list(self.times)
        parts = [[key] for key in keys] if len(self.schema.key) == 1 else keys
        columns = list(zip(*parts, strict=True)) or [()] * len(self.schema.key)
        arrays = {
            f"k{i}": _key_array(self.schema.column(name).type.arrow, values)
            for i, (name, values) in enumerate(zip(self.schema.key, columns, strict=True))
        }
        return pa.table({**arrays, "time": pa.array(list(self.times.values()), pa.int64())})

    @classmethod
    def restore(cls, schema: TableSchema, data: bytes) -> TableStore:
        """The store that snapshot() saved."""
        header, tables = unpack("table", data)
        store = cls(schema)
        store.reached, store.first_us = header["reached"], header["first_us"]
        store.ledger = Ledger(**header["ledger"])
        rows = _columns(tables["rows"])
        places = keys_of([rows[i] for i in schema.key_places])
        store.rows.change(store.rows.appended(rows), {key: i for i, key in enumerate(places)})
        *columns, at, time, gone = _columns(tables["waiting"])
        flags = gone.to_numpy(zero_copy_only=False).astype(np.bool_)
        store.waiting = Versions(at.to_numpy(), time.to_numpy(), flags, tuple(columns))
        *keys, times = _columns(tables["times"])
        store.times = dict(zip(keys_of(keys), times.to_pylist(), strict=True))
        for name, log in (("log", store.log), ("gone", store.gone)):
            *columns, at, weight = _columns(tables[name])
            log.append(Changes(at.to_numpy(), weight.to_numpy(), tuple(columns)))
            log.start = header["starts"][0]
        store.log.enter(tables["instants"].column(0).combine_chunks().to_numpy())
        store.log.has_changed = header["starts"][1]
        return store


def _columns(table: pa.Table) -> Columns:
    return tuple(
        column.combine_chunks() if table.num_rows else pa.array([], column.type)
        for column in table.columns
    )


def _key_array(kind: pa.DataType, values: tuple[object, ...]) -> pa.Array:
    plain = [float("nan") if value == ("NaN",) else value for value in values]
    if pa.types.is_timestamp(kind):
        return pa.array(plain, pa.int64()).cast(kind)
    return pa.array(plain, kind)


def _continued(log: ViewLog, changes: Changes) -> ViewLog:
    """A log with more changes; the one that is given stays as it is."""
    longer = ViewLog.__new__(ViewLog)
    vars(longer).update(
        {
            name: list(value) if isinstance(value, list) else value
            for name, value in vars(log).items()
        }
    )
    longer.append(changes)
    return longer


class _Applied:
    """What versions, in order, make of the newest rows of a store; nothing is done yet.

    changes: rows that leave and come. gone: keys that are deleted. added: rows to be appended.
    """

    def __init__(self, store: TableStore, versions: Versions) -> None:
        self._store, self._versions = store, versions
        self.places: dict[Key, int | None] = {}
        self.times: dict[Key, int] = {}
        self._leaving: list[tuple[int, int]] = []  # instant and place
        self._coming: list[int] = []  # places among the versions
        self._gone: list[int] = []
        if versions.size:
            self._apply()
        since = pa.array(versions.at, SINCE)
        given = (*versions.columns, since)
        coming = np.array(self._coming, np.int64)
        self.added: Columns = tuple(column.take(pa.array(coming)) for column in given)
        self.changes = self._changes(coming)
        self.gone = self._deletions(given)

    def _apply(self) -> None:
        versions, store = self._versions, self._store
        keys = keys_of([versions.columns[i] for i in store.schema.key_places])
        instants, times = versions.at.tolist(), versions.time.tolist()
        gone = versions.gone.tolist()
        has_time = store.schema.has_time
        # Of one key and instant the last wins: only that is seen.
        last = {(instants[i], key): i for i, key in enumerate(keys)}
        known, newest, first = store.rows.places, store.times, store.rows.size
        for (instant, key), i in last.items():
            if has_time:
                before = self.times.get(key, newest.get(key, START_OF_TIME))
                if times[i] < before:
                    continue  # what holds already is newer
                self.times[key] = times[i]
            place = self.places[key] if key in self.places else known.get(key)
            if place is not None:
                self._leaving.append((instant, place))
            if gone[i]:
                self.places[key] = None
                if place is not None:
                    self._gone.append(i)
            else:
                self.places[key] = first + len(self._coming)
                self._coming.append(i)

    def _changes(self, coming: Vector) -> Changes:
        rows, types = self._store.rows, [column.type for column in self.added]
        leaving = np.array([place for _, place in self._leaving], np.int64)
        at = np.array([instant for instant, _ in self._leaving], np.int64)
        is_old = leaving < rows.size
        parts = [
            Changes(at[is_old], _ones(int(is_old.sum()), -1), rows.columns(leaving[is_old])),
            self._replaced(at[~is_old], leaving[~is_old] - rows.size),
            Changes(self._versions.at[coming], _ones(coming.size, 1), self.added),
        ]
        return merged_changes(parts, types)

    def _replaced(self, at: Vector, places: Vector) -> Changes:
        """Rows that came with these versions and were replaced by others of them."""
        index = pa.array(places)
        return Changes(at, _ones(at.size, -1), tuple(column.take(index) for column in self.added))

    def _deletions(self, given: Columns) -> Changes:
        places = np.array(self._gone, np.int64)
        index = pa.array(places)
        columns = tuple(column.take(index) for column in given)
        return Changes(self._versions.at[places], _ones(places.size, 1), columns)

    @property
    def nbytes(self) -> int:
        """Bytes that it adds to rows and logs."""
        rows = sum(int(column.nbytes) for column in self.added)
        return rows + self.changes.nbytes + self.gone.nbytes + 128 * len(self.places)


def _ones(size: int, sign: int) -> Vector:
    return np.full(size, sign, np.int64)
