"""Queries of a session in this process that go on elsewhere, from elsewhere, or in another form."""

from __future__ import annotations

import os
import threading
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.embedded.ingest import Ingest
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.query import EmbeddedQuery
from windrow.errors import BindingError, CheckpointError
from windrow.event_time import show_instant
from windrow.plan.catalog import Catalog
from windrow.sql import parse_query
from windrow.sql.double_quotes import names_in_backquotes
from windrow.windows.marks import Mark

if TYPE_CHECKING:
    from windrow.carryover.carryover import Carryover
    from windrow.carryover.differences import DIFFERENCES, warn_begins_anew
    from windrow.carryover.state_file import read_state_file, write_state_file
    from windrow.sql.statements import QueryText
else:
    DIFFERENCES = deferred("windrow.carryover.differences", "DIFFERENCES")
    warn_begins_anew = deferred("windrow.carryover.differences", "warn_begins_anew")
    read_state_file = deferred("windrow.carryover.state_file", "read_state_file")
    write_state_file = deferred("windrow.carryover.state_file", "write_state_file")

__all__ = ["SessionCarryover"]

Path = str | os.PathLike[str]


class SessionCarryover:
    """What a session does with the state of its queries."""

    _catalog: Catalog
    _double_quotes: str
    _flush: Callable[[], None]
    _ingest: Ingest
    _lock: threading.RLock
    _queries: dict[str, EmbeddedQuery]

    @abstractmethod
    def _knowing_functions(self) -> AbstractContextManager[None]: ...

    @abstractmethod
    def _running(self) -> list[EmbeddedQuery]: ...

    @abstractmethod
    def _registered(
        self,
        select: QueryText,
        name: str | None,
        algorithm: str,
        store: str,
        carried: Carryover | None = None,
    ) -> EmbeddedQuery: ...

    @one_at_a_time
    def export_state(self, name: str, path: Path) -> None:
        """Write all that a query needs to go on elsewhere into a file.

        The query goes on here, too. What it has answered and nobody has read is read here.

        >>> import tempfile
        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> query = session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]", name="sum")
        >>> session.push("s", {"ts": ["2026-01-01 00:00:01", "2026-01-01 00:00:02"], "x": [1, 2]})
        >>> file = tempfile.mkdtemp() + "/sum.wstate"
        >>> session.export_state("sum", file)
        >>> other = windrow.connect()
        >>> other.stream("s", "ts timestamp, x int", time="ts")
        >>> goes_on = other.import_state(file)
        >>> other.push("s", {"ts": "2026-01-01 00:00:03", "x": 3})
        >>> other.finish()
        >>> goes_on.result().to_pylist()
        [{'x': 6}]
        """
        write_state_file(path, self._carryover_of(name))

    @one_at_a_time
    def import_state(
        self, path: Path, *, name: str | None = None, text: str | None = None
    ) -> EmbeddedQuery:
        """Register a query that goes on where the one stood whose state is in the file.

        Its streams must be declared, and no row of them may have come. name, text: where it shall
        have another name, or be a changed query, which takes over the rows of its windows.

        >>> import tempfile
        >>> import windrow
        >>> sessions = [windrow.connect(), windrow.connect()]
        >>> for session in sessions:
        ...     session.stream("s", "ts timestamp, x int", time="ts")
        >>> query = sessions[0].query("SELECT SUM(x) AS x FROM s [1 MINUTE]", name="sum")
        >>> sessions[0].export_state("sum", tempfile.gettempdir() + "/empty.wstate")
        >>> sessions[1].import_state(tempfile.gettempdir() + "/empty.wstate").name
        'sum'
        """
        self._check_takes_state()
        with self._knowing_functions():
            carried = read_state_file(path)
        # The text of a plan has its names in backquotes already.
        plain = (
            carried.plan.text if text is None else names_in_backquotes(text, self._double_quotes)
        )
        return self._carried_on(carried, name or carried.name, plain)

    @one_at_a_time
    def replace(self, name: str, text: str, *, begin_anew: bool = False) -> EmbeddedQuery:
        """Change a query: the new one takes over the rows of its windows, the old one ends.

        Where the windows do not agree it is refused, and the old query goes on; with begin_anew the
        new one begins with empty windows then, and a warning says why.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> query = session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]", name="sum")
        >>> session.push("s", {"ts": ["2026-01-01", "2026-01-02"], "x": [1, 2]})
        >>> changed = session.replace("sum", "SELECT SUM(x) AS x, COUNT(*) AS n FROM s [1 MINUTE]")
        >>> session.finish()
        >>> changed.result().to_pylist()
        [{'x': 2, 'n': 1}]
        """
        plain = names_in_backquotes(text, self._double_quotes)
        why = ""
        try:
            carried = self._carryover_of(name)
            return self._instead(name, lambda: self._carried_on(carried, name, plain))
        except CheckpointError as error:
            if not begin_anew or error.code not in DIFFERENCES:
                raise
            why = error.message
        with self._knowing_functions():
            changed = self._instead(
                name, lambda: self._registered(parse_query(plain), name, "auto", "auto")
            )
        warn_begins_anew(name, why)
        return changed

    def _instead(self, name: str, register: Callable[[], EmbeddedQuery]) -> EmbeddedQuery:
        """A query in the place of the one of that name, which ends once the new one is there."""
        before = self._queries[name]
        del self._queries[name]
        try:
            changed = register()
        except BaseException:
            self._queries[name] = before
            raise
        before.stop()
        return changed

    def _carryover_of(self, name: str) -> Carryover:
        self._flush()
        query = next((each for each in self._running() if each.name == name), None)
        if name not in self._queries or query is None:
            known = ", ".join(self._queries) or "none"
            raise BindingError(
                "WB454", f"no query {name!r} runs here", hint=f"those that run are: {known}"
            )
        streams = {
            stream: self._ingest.streams[stream].carryover(query.clock)
            for stream in query.plan.streams
        }
        return query.carryover(
            streams, self._catalog.time_zone, is_by_arrival=self._ingest.is_by_arrival
        )

    def _check_takes_state(self) -> None:
        """Refuses where queries cannot begin with the state of others."""

    def _carried_on(self, carried: Carryover, name: str, text: str) -> EmbeddedQuery:
        how = [
            "auto" if each in ("scan", "tree") else each
            for each in (carried.plan.algorithm, carried.plan.store)
        ]
        with self._knowing_functions():
            return self._registered(parse_query(text), name, how[0], how[1], carried)

    def _check_streams(self, carried: Carryover) -> None:
        """Refuses to go on where rows have come that the carryover does not have."""
        if carried.is_by_arrival != self._ingest.is_by_arrival:
            words = {False: "complete", True: "arrival"}
            raise CheckpointError(
                "WC432",
                f"the state of query {carried.name!r} is of a session with clock="
                f"{words[carried.is_by_arrival]!r}, and this one has another",
                hint=f'connect(clock="{words[carried.is_by_arrival]}")',
            )
        for name, each in carried.streams.items():
            stream = self._ingest.streams[name]
            if stream.stands_at(each):
                continue
            is_read = any(name in query.plan.streams for query in self._running())
            if stream.is_new and not is_read:
                continue
            why = (
                "queries here read it"
                if stream.is_new
                else (f"here it is complete through {show_instant(stream.completeness.through)}")
            )
            raise CheckpointError(
                "WC429",
                f"stream {name!r} stands at {show_instant(each.complete_us)} in the state of query "
                f"{carried.name!r}, and {why}",
                hint="import the state in a new session, before other queries and before any rows",
            )

    def _carry_on(self, query: EmbeddedQuery, carried: Carryover) -> None:
        """The query, and the streams that it reads, stand where those of the carryover do."""
        query.carry_on(carried)
        moved = {
            name: each
            for name, each in carried.streams.items()
            if not self._ingest.streams[name].stands_at(each)
        }
        undo = Mark(*(part for name in moved for part in self._ingest.streams[name].parts))
        try:
            self._ingest.carry_on(moved)
        except BaseException:
            undo.rewind()
            raise
