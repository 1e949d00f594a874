"""Folders that fill with Parquet files: each is read as a whole, once it is complete."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pyarrow as pa

from windrow.connectors.files.checks import check_unchanged
from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.listing import listed
from windrow.connectors.files.parquet_files import check_parquet, read_parquet
from windrow.connectors.live import Lag, LiveReader, Polled, Position, TransientError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["LiveParquet"]

LOOK_EVERY_S = 0.2
LOOK_PART = 20
MAGIC = b"PAR1"
ALL = -1  # batches of a file that is read


class LiveParquet(LiveReader):
    """Files in the order of their names; the position is the batches that were read of each.

    A file is complete when its first and last bytes say so.
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
        self._read: dict[str, int] = dict(position or {})  # by marks of files
        self._new: list[tuple[str, Path]] = []
        self._look_at_s = now_s()
        self._open: tuple[str, Path, os.stat_result, Iterator[tuple[FileRows, float]]] | None = None

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The next batch of the first file that is complete and not read."""
        deadline_s = self._now_s() + timeout_s
        while True:
            polled = self._next_batch()
            if polled is not None:
                return polled
            self._look()
            if self._open is None and not self._new:
                left_s = deadline_s - self._now_s()
                if left_s <= 0:
                    return None
                time.sleep(min(left_s, LOOK_EVERY_S))

    def _next_batch(self) -> Polled | None:
        if self._open is None and self._new:
            self._begin(*self._new.pop(0))
        if self._open is None:
            return None
        key, path, before, batches = self._open
        try:
            found = next(batches, None)
        except (OSError, pa.ArrowException) as problem:
            self._open = None
            raise TransientError(f"{path} cannot be read: {problem}") from problem
        if found is None:
            check_unchanged(self._source, path, before)
            self._read[key], self._open = ALL, None
            rows = FileRows(pa.RecordBatch.from_pylist([], self._schema.arrow))
        else:
            rows = found[0]
            self._read[key] = self._read.get(key, 0) + 1
        waiting = len(self._new) + (self._open is not None)
        return Polled(rows, dict(self._read), Lag(waiting, "files"))

    def _begin(self, key: str, path: Path) -> None:
        try:
            before = path.stat()
            check_parquet(self._schema, self._source, path)
        except OSError as problem:
            raise TransientError(f"{path} cannot be opened: {problem}") from problem
        batches = read_parquet(self._schema, self._source, path)
        self._open = key, path, before, islice(batches, self._read.get(key, 0), None)

    def _look(self) -> None:
        now_s = self._now_s()
        if self._open is not None or self._new or now_s < self._look_at_s:
            return
        before_s = time.perf_counter()
        found = {}
        for path in listed(self._source):
            try:
                found[_mark_of(path.stat())] = path
            except OSError:
                continue  # it has gone meanwhile
        for key in [*self._read]:
            if key not in found:
                del self._read[key]
        unread = [item for item in found.items() if self._read.get(item[0]) != ALL]
        self._new = [(key, path) for key, path in unread if _is_complete(path)]
        took_s = time.perf_counter() - before_s
        self._look_at_s = now_s + max(LOOK_EVERY_S, LOOK_PART * took_s)


def _mark_of(status: os.stat_result) -> str:
    """What a file is known by: numbers of inodes are given again to others."""
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"


def _is_complete(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return False
            file.seek(-len(MAGIC), os.SEEK_END)
            return file.tell() > len(MAGIC) and file.read() == MAGIC
    except OSError:
        return False
