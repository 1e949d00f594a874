"""Writes folders of files that appear whole or not at all, each named after its batch.

`.windrow.json` in the folder says whose it is. Files of batches that the state of the query does
not know are removed when it goes on: they come again, with the same rows, under the same names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from windrow.connectors.contract import SinkCheckpoint, Writer
from windrow.connectors.folders.batch_files import BatchFiles
from windrow.connectors.folders.connector import FolderSink
from windrow.connectors.folders.formats import format_of
from windrow.connectors.folders.partitions import check_partitions, partitions_of
from windrow.connectors.parquet.connector import Parquet
from windrow.connectors.process_run import NO_STATE
from windrow.errors import DataError
from windrow.storage import Storage

__all__ = ["FolderWriter"]

_OWNER = ".windrow.json"


class FolderWriter(Writer):
    """The folder of one query.

    schema: of the rows. batches: that the state of the query knows; None: begin() says it.
    """

    def __init__(
        self,
        sink: FolderSink | Parquet,
        schema: pa.Schema,
        checkpoint: SinkCheckpoint,
        batches: int | None,
    ) -> None:
        check_partitions(schema, sink.partition_by)
        self._sink = sink
        self.feeds: tuple[str, ...] = (sink.feed,)
        self._files = BatchFiles(sink.path, sink.extension, format_of(sink))
        self._claim(checkpoint)
        if batches is not None:
            self._files.keep_before(batches)

    def begin(self, last_batch: int, owner: str) -> None:
        """On Spark: batches after this one come again."""
        self._files.keep_before(last_batch + 1)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the files of the batch, one for each partition that has rows."""
        rows = tables[self._sink.feed]
        for folder, part in list(partitions_of(rows, self._sink.partition_by)):
            if part.num_rows:
                self._files.write(folder, batch_id, part)
        # Whoever gives a batch knows that all before it are here.
        self._files.merge(self._sink.batches_per_file, batch_id)

    def _claim(self, checkpoint: SinkCheckpoint) -> None:
        storage = Storage(self._sink.path, is_private=False)
        state = checkpoint.identity() if checkpoint.is_lasting else NO_STATE
        own = {"query": checkpoint.query, "state": state}
        told = storage.read(_OWNER)
        found = None if told is None else json.loads(told)
        if found == own:
            return
        # A job of an earlier version goes on in its folder.
        is_own = found is None and checkpoint.is_lasting and checkpoint.is_begun()
        if not is_own and (found is not None or not self._files.is_empty):
            whose = "elsewhere" if found is None else f"query {found['query']!r} of another run"
            raise DataError(
                "WD513",
                f"{self._sink.path} has files from {whose}",
                hint="name another folder, or move these files away, .windrow.json too",
                place=self._sink.place,
            )
        storage.write(_OWNER, json.dumps(own).encode())
