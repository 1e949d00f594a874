"""Rows of files in a store: each file is fetched, read as any file of this machine, and let go."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pyarrow as pa

from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.csv_files import check_header, read_csv
from windrow.connectors.files.jsonl_files import read_jsonl
from windrow.connectors.files.parquet_files import check_parquet, read_parquet
from windrow.connectors.files.stores import StoredFile, fetched, store_of, stored_files, unreached
from windrow.connectors.live import Lag, LiveReader, Polled, Position
from windrow.errors import BindingError, DataError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["StoredFiles", "check_stored", "stored_rows"]

BATCH_ROWS = 65_536
LOOK_EVERY_S = 5.0
ALL = -1  # batches of a file that is read

_READERS = {"parquet": read_parquet, "csv": read_csv, "jsonl": read_jsonl}
_CHECKS = {"parquet": check_parquet, "csv": check_header}


def check_stored(source: FileSource) -> None:
    """Refuses a store that does not answer, and a path where there is nothing."""
    store = store_of(source)
    if source.follow:
        if source.path.startswith("http"):
            raise BindingError(
                "WB536",
                f"{source.shown} cannot be followed: HTTP does not say which files come",
                hint="leave follow out, or put the files into a store such as S3",
                place=source.place,
            )
        return
    try:
        found = stored_files(store, source)
    except OSError as problem:
        raise _cannot_be_read(source, source.path.partition("?")[0], problem) from problem
    if not found:
        raise DataError(
            "WD501",
            f"there is no file at {source.shown}",
            hint="give a file, a folder of files or a pattern of its last part",
            place=source.place,
        )


def stored_rows(schema: StreamSchema, source: FileSource) -> Iterator[tuple[FileRows, float]]:
    """Rows in the order of the files, each batch with the part of the files that is then read."""
    store = store_of(source)
    with tempfile.TemporaryDirectory(prefix="windrow-") as folder:
        try:
            found = stored_files(store, source)
            for number, stored in enumerate(found):
                with fetched(store, stored, Path(folder)) as copy:
                    for rows, part in _rows_of(schema, source, stored, copy):
                        yield rows, (number + part) / len(found)
            unchanged = stored_files(store, source)[: len(found)] == found
        except OSError as problem:
            raise _cannot_be_read(source, source.path.partition("?")[0], problem) from problem
    if not unchanged:
        raise DataError(
            "WD507",
            f"a file of {source.path.partition('?')[0]} has changed while they were read",
            hint="run it again; write a file elsewhere and move it there when it is complete",
            place=source.place,
        )


def _rows_of(
    schema: StreamSchema, source: FileSource, stored: StoredFile, copy: Path
) -> Iterator[tuple[FileRows, float]]:
    """The rows of a copy, under the address of the file."""
    try:
        if source.format in _CHECKS:
            _CHECKS[source.format](schema, source, copy)
        for rows, part in _READERS[source.format](schema, source, copy):
            bad = tuple(replace(each, file=stored.address) for each in rows.bad)
            for piece in FileRows(rows.batch, bad).parts(BATCH_ROWS):
                yield piece, part
    except DataError as problem:
        message = problem.message.replace(str(copy), stored.address)
        raise DataError(problem.code, message, hint=problem.hint, place=problem.place) from problem
    except pa.ArrowException as problem:
        raise _cannot_be_read(source, stored.address, problem) from problem


def _cannot_be_read(source: FileSource, address: str, problem: Exception) -> DataError:
    said = str(problem).partition("\n")[0]
    return DataError(
        "WD508",
        f"{address} cannot be read: {said}",
        hint="check the address, and what the environment says about who may read it",
        place=source.place,
    )


class StoredFiles(LiveReader):
    """A folder of a store that fills: each file once; the position is the batches read of each.

    What takes the place of a file is another file, and is read as a whole.
    """

    def __init__(
        self,
        schema: StreamSchema,
        source: FileSource,
        position: Position | None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        if schema.on_bad_row == "auto":
            schema = replace(schema, on_bad_row="set aside")
        self._schema, self._source, self._now_s = schema, source, now_s
        self._store = store_of(source)
        self._read: dict[str, int] = dict(position or {})  # by marks of files
        self._new: list[StoredFile] = []
        self._look_at_s = now_s()
        self._folder = tempfile.TemporaryDirectory(prefix="windrow-")
        self._open: tuple[StoredFile, Iterator[tuple[FileRows, float]]] | None = None

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The next batch of the first file that is not read."""
        try:
            if self._open is None and not self._new:
                self._look(timeout_s)
            if self._open is None and self._new:
                stored = self._new.pop(0)
                batches = islice(self._rows(stored), self._read.get(stored.mark, 0), None)
                self._open = stored, batches
            return None if self._open is None else self._next(*self._open)
        except OSError as problem:
            raise unreached(self._source, problem) from problem

    def close(self) -> None:
        """Remove what was fetched."""
        self._open = None
        self._folder.cleanup()

    def _rows(self, stored: StoredFile) -> Iterator[tuple[FileRows, float]]:
        with fetched(self._store, stored, Path(self._folder.name)) as copy:
            yield from _rows_of(self._schema, self._source, stored, copy)

    def _next(self, stored: StoredFile, batches: Iterator[tuple[FileRows, float]]) -> Polled:
        found = next(batches, None)
        if found is None:
            self._read[stored.mark], self._open = ALL, None
            rows = FileRows(pa.RecordBatch.from_pylist([], self._schema.arrow))
        else:
            rows = found[0]
            self._read[stored.mark] = self._read.get(stored.mark, 0) + 1
        waiting = len(self._new) + (self._open is not None)
        return Polled(rows, dict(self._read), Lag(waiting, "files"))

    def _look(self, timeout_s: float) -> None:
        wait_s = self._look_at_s - self._now_s()
        if wait_s > 0:
            time.sleep(min(wait_s, timeout_s))
            if wait_s > timeout_s:
                return
        found = {each.mark: each for each in stored_files(self._store, self._source)}
        self._read = {mark: count for mark, count in self._read.items() if mark in found}
        self._new = [each for mark, each in found.items() if self._read.get(mark) != ALL]
        self._look_at_s = self._now_s() + LOOK_EVERY_S
