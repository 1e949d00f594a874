"""The files of several streams, read in turns: the stream that is furthest behind comes next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from windrow.connectors.contract import Source, not_read_here
from windrow.embedded.newest_time import newest_time
from windrow.event_time import START_OF_TIME
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["SideBySide", "check_source"]


class SideBySide:
    """All batches of the streams' files, in the order in which a session takes them best."""

    def __init__(self, sources: Mapping[str, tuple[StreamSchema, Source]]) -> None:
        self._readers = []
        for name, (schema, source) in sources.items():
            check_source(name, source)
            source.check(schema)
            self._readers.append(_Reader(schema, source.read(schema)))
        self._count = len(self._readers)

    def skip(self, read: Mapping[str, int]) -> bool:
        """Go on behind so many batches of each stream; whether all had as many."""
        return all(
            reader.next_batch() is not None
            for reader in self._readers
            for _ in range(read.get(reader.schema.name, 0))
        )

    def next_batch(self) -> tuple[str, FileRows] | None:
        """The name of a stream and rows for it; None when all files are read."""
        while self._readers:
            reader = min(self._readers, key=lambda each: each.newest_us)
            batch = reader.next_batch()
            if batch is not None:
                return reader.schema.name, batch
            self._readers.remove(reader)
        return None

    @property
    def fraction(self) -> float:
        """Which part of the files is read."""
        read = self._count - len(self._readers) + sum(each.fraction for each in self._readers)
        return read / max(1, self._count)


@dataclass
class _Reader:
    """One stream's files."""

    schema: StreamSchema
    batches: Iterator[tuple[FileRows, float]]
    newest_us: int = START_OF_TIME
    fraction: float = 0.0

    def next_batch(self) -> FileRows | None:
        rows, self.fraction = next(self.batches, (None, 1.0))
        if rows is not None:
            newest_us = newest_time(self.schema, rows.batch)
            self.newest_us = self.newest_us if newest_us is None else newest_us
        return rows


def check_source(stream: str, source: Source) -> None:
    """Refuses a source that only Spark can read."""
    if not source.in_process and not source.is_live:
        raise not_read_here(stream, source)
