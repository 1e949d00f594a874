"""Adds to a Delta table: each batch is one commit, which holds the batch's number too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError

from windrow.connectors.contract import SinkCheckpoint, Writer
from windrow.connectors.delta.connector import Delta
from windrow.errors import CheckpointError, DataError

__all__ = ["DeltaWriter"]

_QUERY, _CHECKPOINT, _BATCH = "windrow-query", "windrow-checkpoint", "windrow-batch"


class DeltaWriter(Writer):
    """The table of one query.

    A commit carries a transaction of the query's checkpoint, whose version is the batch: a batch
    that comes again finds it, and two drivers cannot both commit it.
    """

    def __init__(self, sink: Delta, checkpoint: SinkCheckpoint) -> None:
        self._path = sink.path if "://" in sink.path else str(Path(sink.path).absolute())
        self.feeds: tuple[str, ...] = (sink.feed,)
        self._query, self._identity = checkpoint.query, checkpoint.identity()
        self._application = f"windrow {self._query} {self._identity}"
        is_begun = checkpoint.is_begun()
        table = self._table()
        if table is not None and not is_begun:
            self._refuse_other_runs(table)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Commits the batch, unless it was committed or has nothing to add."""
        rows = tables[self.feeds[0]]
        table = self._table()
        if not rows.num_rows or (table is not None and self._written(table) >= batch_id):
            return
        names = {_QUERY: self._query, _CHECKPOINT: self._identity, _BATCH: str(batch_id)}
        properties = CommitProperties(
            custom_metadata=names, app_transactions=[Transaction(self._application, batch_id)]
        )
        try:
            write_deltalake(table or self._path, rows, mode="append", commit_properties=properties)
        except (DeltaError, OSError, pa.ArrowException) as problem:
            raise self._failed(problem, f"batch {batch_id} was not written") from problem

    def _written(self, table: DeltaTable) -> int:
        """The newest batch of this query that is there; -1: none."""
        version = table.transaction_version(self._application)
        return -1 if version is None else int(version)

    def _table(self) -> DeltaTable | None:
        try:
            return DeltaTable(self._path) if DeltaTable.is_deltatable(self._path) else None
        except (DeltaError, OSError) as problem:
            raise self._failed(problem, "it cannot be opened") from problem

    def _refuse_other_runs(self, table: DeltaTable) -> None:
        """A query that starts over would append again what an earlier run has appended."""
        for commit in table.history():
            if commit.get(_QUERY) == self._query and commit.get(_CHECKPOINT) != self._identity:
                raise CheckpointError(
                    "WC260",
                    f"the Delta table {self._path} has batches of query {self._query!r} from "
                    "another checkpoint, but this one is new",
                    hint="continue with that checkpoint, or give the query another name or table",
                )

    def _failed(self, problem: Exception, what: str) -> DataError:
        first: Any = str(problem).splitlines()[:1]
        return DataError(
            "WD460",
            f"the Delta table {self._path}: {what}: {first[0] if first else problem}",
            hint=(
                "the cause of this exception is the writer's own error; the batch is replayed "
                "when the query is restarted"
            ),
        )
