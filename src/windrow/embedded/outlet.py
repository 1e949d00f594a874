"""Carries what a query of a job says to its sink, in this process: a watcher, or files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.embedded.history_query import EmbeddedHistoryQuery
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError, UnsupportedError
from windrow.jobs.job import JobQuery
from windrow.jobs.watcher import Standing
from windrow.sinks import Console, Memory, Parquet

__all__ = ["Outlet", "check_sink", "standings"]

# In the schema of each file that a run in a process writes.
_MARK = {b"windrow.written": b"in process"}
_BATCH_FILE = re.compile(r"batch-\d{12}\.parquet")


def check_sink(query: JobQuery) -> None:
    """Refuses a sink that only Spark has."""
    if not isinstance(query.sink, (Console, Memory, Parquet)):
        raise UnsupportedError(
            "WU503",
            f"in this process query {query.name!r} can be shown or written to files only",
            hint="run the script on Spark: windrow run, without --embedded",
            place=query.place,
        )


class Outlet:
    """Where one running query drains to; `answered` is told of answers, whatever the sink."""

    def __init__(
        self,
        query: JobQuery,
        running: EmbeddedQuery | EmbeddedHistoryQuery,
        answered: Callable[[str, pa.Table], None],
    ) -> None:
        check_sink(query)
        self.query = query
        self.running = running
        self.answers = 0  # rows so far
        self._answered = answered
        self._files = 0
        if isinstance(query.sink, Parquet):
            with self._written():
                _begin_folder(query, Path(query.sink.path))

    def drain(self) -> None:
        """Hands on what is new."""
        answers, changes = self.running.answers(), self.running.changes()
        self.answers += answers.num_rows
        sink = self.query.sink
        if isinstance(sink, Parquet):
            self._write(sink, changes if sink.feed == "changes" else answers)
        if answers.num_rows:
            self._answered(self.query.name, answers)

    def _write(self, sink: Parquet, table: pa.Table) -> None:
        if table.num_rows:
            with self._written():
                marked = table.replace_schema_metadata({**(table.schema.metadata or {}), **_MARK})
                name = f"batch-{self._files:012d}.parquet"
                hidden = Path(sink.path) / f".{name}"  # until it is whole
                try:
                    pq.write_table(marked, hidden)
                    hidden.rename(hidden.with_name(name))
                except BaseException:
                    hidden.unlink(missing_ok=True)  # on a full disk its room is wanted
                    raise
            self._files += 1

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise DataError(
                "WD511",
                f"the answers of query {self.query.name!r} cannot be written: {problem}",
                hint="name a folder that can be written, on a disk with room",
                place=self.query.place,
            ) from None


def _begin_folder(query: JobQuery, folder: Path) -> None:
    """A folder without what an earlier run left: that would look as if this one had said it.

    Only what a run in a process has written is removed. On Spark a job goes on in the same folder,
    perhaps for months.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [file for file in folder.iterdir() if _BATCH_FILE.fullmatch(file.name)]
    others = [file for file in files if not _is_marked(file)]
    if others:
        raise DataError(
            "WD513",
            f"{folder} has files that no run in a process wrote, such as {min(others).name}",
            hint="name another folder, or move these files away",
            place=query.place,
        )
    for file in files:
        file.unlink()


def _is_marked(file: Path) -> bool:
    try:
        found = pq.read_schema(file).metadata or {}
    except (OSError, pa.ArrowInvalid):
        return False  # no whole Parquet file, and nobody knows whose
    return found.items() >= _MARK.items()


def standings(session: EmbeddedSession, outlets: Iterable[Outlet]) -> list[Standing]:
    """How each query stands now."""
    served = session.queries().select(["query", "level"]).to_pylist()
    levels = {row["query"]: row["level"] for row in served}
    return [
        Standing(name, each.running.clock, each.running.result(), levels.get(name), each.answers)
        for each in outlets
        for name in [each.query.name]
    ]
