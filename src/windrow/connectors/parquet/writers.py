"""The writers of folders of Parquet files: one file a batch, put in place in one step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from weakref import WeakValueDictionary

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.connectors.contract import Writer
from windrow.connectors.parquet.connector import Parquet
from windrow.connectors.parquet.merged_files import (
    BATCH_FILE,
    batch_file,
    finish_merge,
    merge_committed,
)
from windrow.connectors.parquet.whole_files import write_whole
from windrow.errors import CheckpointError, DataError, Place
from windrow.storage import Storage

__all__ = ["LastingParquetWriter", "ParquetWriter", "ProcessParquetWriter"]

# Who writes to which folder, for as long as anybody knows the writer.
_WRITERS: WeakValueDictionary[str, ParquetWriter] = WeakValueDictionary()

# In the schema of each file of a run that nothing can go on from: the next one replaces its files.
_MARK_NAME = b"windrow.written"
_MARKS = (b"in process", b"on Spark without a checkpoint")


class ParquetWriter(Writer):
    """One file per batch id, put in place in one step: a replayed batch replaces its own file.

    is_lasting: whether a later run can go on in the folder, from the checkpoint of this one.
    """

    def __init__(self, sink: Parquet, *, is_lasting: bool = True) -> None:
        self._is_lasting = is_lasting
        self._storage = Storage(sink.path, is_private=False)  # answers are for others
        self._owner = ""
        self._batches_per_file = sink.batches_per_file
        self.feeds: tuple[str, ...] = (sink.feed,)

    def begin(self, last_batch: int, owner: str) -> None:
        """Refuses a folder with files of batches that the checkpoint has not come to.

        So is one that another query of this process writes to: both would name their files alike.
        owner: where the checkpoint of the query is.
        """
        other = _WRITERS.get(self._storage.uri)
        if other is not None and other._owner != owner:
            raise CheckpointError(
                "WC218",
                f"another query already writes files of the same names to {self._storage.location}",
                hint="give each query its own folder, or stop the other one first",
            )
        self._owner, _WRITERS[self._storage.uri] = owner, self
        self._storage.sweep()
        finish_merge(self._storage)
        if not self._is_lasting and last_batch < 0:
            self._remove_replaceable()
        newest = max(filter(BATCH_FILE.fullmatch, self._storage.names()), default="")
        if newest > batch_file(last_batch):
            raise CheckpointError(
                "WC217",
                f"{self._storage.location} holds {newest}, but the query's checkpoint has reached "
                f"{'no batch' if last_batch < 0 else f'only batch {last_batch}'}: the file belongs "
                "to another run",
                hint="give the sink an empty folder, or the query the checkpoint of that run",
            )

    def _remove_replaceable(self) -> None:
        """Takes files away that runs without a checkpoint have left, on Spark or in a process."""
        for name in filter(BATCH_FILE.fullmatch, self._storage.names()):
            if _is_replaceable(pa.BufferReader(self._storage.read(name) or b"")):
                self._storage.remove(name)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the file of the batch; where there is nothing to write, there is no file."""
        if self._batches_per_file > 1 and batch_id % self._batches_per_file == 0:
            # Spark has committed all batches before this one: none of them comes again.
            merge_committed(self._storage, self._batches_per_file, batch_id)
        table, name = tables[self.feeds[0]], batch_file(batch_id)
        if table.num_rows:
            data = pa.BufferOutputStream()
            pq.write_table(table if self._is_lasting else _marked(table, _MARKS[1]), data)
            self._storage.write(name, memoryview(data.getvalue()))
        else:
            self._storage.remove(name)

    def close(self) -> None:
        """The folder may be taken by another query."""
        if _WRITERS.get(self._storage.uri) is self:
            del _WRITERS[self._storage.uri]


class ProcessParquetWriter(Writer):
    """The files of one run in this process; what an earlier run of that kind left is removed."""

    def __init__(self, sink: Parquet, place: Place | None) -> None:
        self._folder = Path(sink.path)
        self._batches_per_file = sink.batches_per_file
        self.feeds: tuple[str, ...] = (sink.feed,)
        _empty_folder(self._folder, place)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the file of the batch."""
        if self._batches_per_file > 1 and batch_id % self._batches_per_file == 0:
            folder = Storage(self._folder, is_private=False)
            merge_committed(folder, self._batches_per_file, batch_id)
        table = _marked(tables[self.feeds[0]], _MARKS[0])
        write_whole(table, self._folder / batch_file(batch_id))


class LastingParquetWriter(Writer):
    """The files of a job in this process whose state is kept: the next run of it goes on.

    batches: that it has written; None: it begins. A file beyond them was not known to be written
    when the last run ended, and is written again: so each batch keeps a file of its own.
    """

    def __init__(self, sink: Parquet, place: Place | None, batches: int | None) -> None:
        self._folder = Path(sink.path)
        self.feeds: tuple[str, ...] = (sink.feed,)
        if batches is None:
            _empty_folder(self._folder, place)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        for file in self._folder.iterdir():
            if BATCH_FILE.fullmatch(file.name) and file.name >= batch_file(batches):
                file.unlink()

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the file of the batch."""
        write_whole(tables[self.feeds[0]], self._folder / batch_file(batch_id))


def _empty_folder(folder: Path, place: Place | None) -> None:
    """A folder without what an earlier run left: that would look as if this one had said it.

    Only what a run without a checkpoint has written is removed. With one a job on Spark goes on in
    the same folder, perhaps for months.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [file for file in folder.iterdir() if BATCH_FILE.fullmatch(file.name)]
    others = [file for file in files if not _is_replaceable(file)]
    if others:
        raise DataError(
            "WD513",
            f"{folder} has files from elsewhere, such as {min(others).name}",
            hint="name another folder, or move these files away",
            place=place,
        )
    for file in files:
        file.unlink()


def _marked(table: pa.Table, mark: bytes) -> pa.Table:
    return table.replace_schema_metadata({**(table.schema.metadata or {}), _MARK_NAME: mark})


def _is_replaceable(file: Path | pa.BufferReader) -> bool:
    try:
        found = pq.read_schema(file).metadata or {}
    except (OSError, pa.ArrowInvalid):
        return False  # no whole Parquet file, and nobody knows whose
    return found.get(_MARK_NAME) in _MARKS
