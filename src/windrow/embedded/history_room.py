"""The histories of a session: declared, fed, asked, and followed by continuous questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import RLock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.embedded.delayed_interrupts import delayed_interrupts
from windrow.embedded.history_query import EmbeddedHistoryQuery
from windrow.embedded.inlet import Inlet
from windrow.embedded.query import EmbeddedQuery
from windrow.engine.history_asking import ask, ask_progressively
from windrow.engine.history_keeper import HistoryKeeper, spec_of
from windrow.engine.history_rows import instants_of
from windrow.engine.history_series import group_keys, series_of, shape_table
from windrow.errors import BindingError, DataError
from windrow.event_time import START_OF_TIME, show_span
from windrow.history.parquet_archive import ParquetArchive
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_schema import HistorySchema
from windrow.windows.completeness import clock_of

__all__ = ["Histories"]

Interval = tuple[int | None, int | None]  # None: from the start, to where the stream is complete


class Histories:
    """At most one history for each stream, and the queries that follow them."""

    def __init__(self) -> None:
        self._keepers: dict[str, HistoryKeeper] = {}
        # Those that run, by stream and name.
        self._queries: dict[str, dict[str, EmbeddedHistoryQuery]] = {}

    @property
    def schemas(self) -> dict[str, HistorySchema]:
        """What is kept, by stream."""
        return {name: keeper.schema for name, keeper in self._keepers.items()}

    @property
    def nbytes(self) -> int:
        """Bytes of all histories, and of rows that wait for them."""
        return sum(keeper.nbytes for keeper in self._keepers.values())

    def declare(
        self, schema: HistorySchema, inlet: Inlet, archive: str | os.PathLike[str] | None
    ) -> None:
        """Keep the history of a stream from now on.

        Rows that came before are not in it: it knows the time behind the newest of them.
        """
        name = schema.stream.name
        if name in self._keepers:
            raise BindingError(
                "WB320",
                f"stream {name!r} has a history already",
                hint="declare one history with all measures and keys that are asked for",
            )
        folder = None if archive is None else _archive(archive, schema)
        newest_us = inlet.completeness.newest
        known_from_us = START_OF_TIME if inlet.first_us is None else newest_us + 1
        keeper = HistoryKeeper(schema, folder, known_from_us)
        _bring_up(keeper, [], None, inlet)
        keepers, queries = {**self._keepers, name: keeper}, {**self._queries, name: {}}
        self._keepers, self._queries = keepers, queries

    def complete(self, query: EmbeddedQuery, stream: str, since_us: int = START_OF_TIME) -> None:
        """Let the history of a stream fill in what a narrowed window lacks.

        since_us: from there on the query was given every row that the history has.
        """
        keeper = self._keepers.get(stream)
        if keeper is not None:
            query.fill_from(keeper.history, max(keeper.known_from_us, since_us))

    def ask(self, plan: HistoryPlan) -> pa.Table:
        """The answer to a question."""
        return ask(self._keeper(plan.streams[0]), plan)

    def ask_progressively(self, plan: HistoryPlan) -> Iterator[pa.Table]:
        """Answers to a question, coarse first."""
        return ask_progressively(self._keeper(plan.streams[0]), plan)

    def series(
        self, stream: str, measure: str | None, interval: Interval, points: int, group: list[str]
    ) -> pa.Table:
        """Points of a chart, of one group or of all."""
        keeper = self._keeper(stream)
        return series_of(keeper, measure, *interval, points, group_keys(keeper, group))

    def tree(self, stream: str, group: list[str]) -> pa.Table:
        """The nodes of a history, of one group or of all."""
        keeper = self._keeper(stream)
        return shape_table(keeper, group_keys(keeper, group))

    def _keeper(self, stream: str) -> HistoryKeeper:
        keeper = self._keepers.get(stream)
        if keeper is None:
            known = ", ".join(self._keepers) or "none"
            raise BindingError(
                "WB327",
                f"stream {stream!r} has no history",
                hint=f"declare one with session.history(); there are those of: {known}",
            )
        keeper.check_whole()
        return keeper

    def follow(
        self, name: str, plan: HistoryPlan, settle: Callable[[], None], lock: RLock
    ) -> EmbeddedHistoryQuery:
        """Ask a question again and again as time goes on."""
        stream = plan.streams[0]
        parts = (self._keeper(stream), settle, lock, self._ended)
        query = self._queries[stream][name] = EmbeddedHistoryQuery(name, plan, *parts)
        return query

    def is_followed_by(self, name: str) -> bool:
        """Whether a query of that name goes on."""
        return any(name in queries for queries in self._queries.values())

    def _ended(self, query: EmbeddedHistoryQuery) -> None:
        queries = self._queries[query.plan.streams[0]]
        if queries.get(query.name) is query:
            del queries[query.name]

    def stop(self) -> None:
        """End all continuous questions."""
        for query in self.running():
            query.stop()

    def running(self) -> list[EmbeddedHistoryQuery]:
        """The continuous questions that go on."""
        return [each for queries in self._queries.values() for each in queries.values()]

    def apply(self, stream: str, batch: pa.RecordBatch | None, inlet: Inlet) -> None:
        """Rows of a stream were accepted, or its time has moved on."""
        keeper = self._keepers.get(stream)
        if keeper is None:
            return
        _bring_up(keeper, list(self._queries[stream].values()), batch, inlet)

    def miss(self, stream: str, times: NDArray[np.int64]) -> None:
        """Rows of a stream with these times were refused."""
        keeper = self._keepers.get(stream)
        if keeper is not None:
            keeper.miss(times)

    def table(self) -> pa.Table:
        """One row per history: what it keeps, what it knows, and its bytes."""
        keepers = list(self._keepers.values())
        known = [(each.known_from_us, each.known_to_us) for each in keepers]
        return pa.table(
            {
                "stream": pa.array([each.schema.stream.name for each in keepers], pa.string()),
                "measures": _names([[m.name for m in each.schema.measures] for each in keepers]),
                "keys": _names([[key.name for key in each.schema.keys] for each in keepers]),
                "levels": _names([[*map(_level, each.schema.levels)] for each in keepers]),
                "known_from": instants_of([since for since, _ in known]),
                "known_to": instants_of([until for _, until in known]),
                "rows": pa.array([each.rows for each in keepers], pa.int64()),
                "bytes": pa.array([each.nbytes for each in keepers], pa.int64()),
            }
        )


def _bring_up(
    keeper: HistoryKeeper,
    queries: list[EmbeddedHistoryQuery],
    batch: pa.RecordBatch | None,
    inlet: Inlet,
) -> None:
    """Let a history take rows, and move on to where its stream is complete.

    It cannot be made anew from rows: those that it has summed up are gone. So Ctrl-C waits, and
    where something else breaks it off, it says so from then on.
    """
    if not keeper.history.is_whole:
        return
    with delayed_interrupts():
        keeper.history.is_whole = False
        if batch is not None:
            keeper.take(batch)
        if inlet.completeness.is_finished:
            keeper.finish()
        _advance(keeper, queries, clock_of([inlet.completeness]))
        keeper.history.is_whole = True


def _advance(keeper: HistoryKeeper, queries: list[EmbeddedHistoryQuery], clock: int) -> None:
    """Move on to the clock, and stop wherever a query looks."""
    due = keeper.take_due(clock)
    looking: dict[int, list[EmbeddedHistoryQuery]] = {}
    for query in queries:
        for instant in query.stops(due.instants, clock).tolist():
            looking.setdefault(instant, []).append(query)
    first = 0
    for instant in sorted({*looking, clock}):
        end = int(np.searchsorted(due.times, instant, side="right"))
        keeper.insert(due, first, end)
        first = end
        for query in queries:
            query.fold(instant)
        keeper.history.advance(instant)
        for query in looking.get(instant, ()):
            _look(query, instant)
    for query in queries:
        query.advance(clock)


def _look(query: EmbeddedHistoryQuery, instant: int) -> None:
    """Let a query look; one that fails ends, and does not hold up the history."""
    if not query.is_running:
        return
    try:
        query.look(instant)
    except DataError as error:
        query.fail(error)


def _archive(folder: str | os.PathLike[str], schema: HistorySchema) -> ParquetArchive:
    """An archive in a folder that has none: what another run left there is not of this stream."""
    if not isinstance(folder, (str, os.PathLike)) or not str(folder):
        raise BindingError(
            "WB325",
            f"archive={folder!r} is not a directory",
            hint="give the path of a new directory",
        )
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise BindingError(
            "WB325",
            f"the archive {str(path)!r} is not an empty directory",
            hint="give a new one: what is there already would be taken for the past of this stream",
        )
    return ParquetArchive(path, spec_of(schema))


def _level(level: tuple[int, int | None]) -> str:
    granularity_us, retention_us = level
    kept = "ever" if retention_us is None else show_span(retention_us)
    return f"{show_span(granularity_us)} for {kept}"


def _names(lists: list[list[str]]) -> pa.Array:
    return pa.array(lists, pa.list_(pa.string()))
