"""Adds to an Iceberg table: a batch is one snapshot, and the table says which batch was the last.

Both are one commit, which fails if another one came between: then it is looked again whether the
batch is there. Snapshots may be expired, so what they say of their batches is for people; the
property of the table is what counts.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.table import Table

from windrow.connectors.contract import SinkCheckpoint, Writer
from windrow.connectors.iceberg.connector import OPTION_PREFIX, Iceberg
from windrow.errors import CheckpointError, DataError

__all__ = ["IcebergWriter"]

# Other writers may add to the table meanwhile: so often a commit is tried.
COMMIT_TRIES = 5
_NO_RETRIES = {"commit.retry.num-retries": "0"}


class IcebergWriter(Writer):
    """The table of one query; without a checkpoint, in this process, batches never come again."""

    def __init__(self, sink: Iceberg, query: str, checkpoint: SinkCheckpoint | None) -> None:
        self._sink, self._query = sink, query
        self.feeds: tuple[str, ...] = (sink.feed,)
        self._identity = "" if checkpoint is None else checkpoint.identity()
        options = {name.removeprefix(OPTION_PREFIX): value for name, value in sink.options.items()}
        try:
            self._catalog: Catalog = load_catalog(sink.catalog, **options)
            table = self._table()
        except Exception as problem:
            raise self._failed(problem, "it cannot be opened") from problem
        if table is not None and checkpoint is not None and not checkpoint.is_begun():
            self._refuse_other_runs(table)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Commits the batch, unless it was committed or has nothing to add."""
        rows = tables[self.feeds[0]]
        if not rows.num_rows:
            return
        try:
            for attempt in range(COMMIT_TRIES):
                table = self._table() or self._created(rows.schema)
                if self._is_written(table, batch_id):
                    return
                try:
                    self._commit(table, rows, batch_id)
                    return
                except CommitFailedException:
                    if attempt == COMMIT_TRIES - 1:
                        raise
        except Exception as problem:  # of as many kinds as there are catalogs and file systems
            raise self._failed(problem, f"batch {batch_id} was not written") from problem

    def _commit(self, table: Table, rows: pa.Table, batch_id: int) -> None:
        # What PyIceberg tries again by itself it would add without a look at the batch.
        own = {**table.metadata.properties, **_NO_RETRIES}
        table.metadata = table.metadata.model_copy(update={"properties": own})
        names = {"query": self._query, "checkpoint": self._identity, "batch": str(batch_id)}
        with table.transaction() as transaction:
            told = {f"windrow-{name}": value for name, value in names.items() if value}
            transaction.append(rows, snapshot_properties=told)
            if self._identity:
                transaction.set_properties({self._property: str(batch_id)})

    @property
    def _property(self) -> str:
        """Under which the table knows the newest batch of this checkpoint."""
        return f"{self._prefix}{self._identity}"

    @property
    def _prefix(self) -> str:
        return f"windrow.{self._query}."

    def _is_written(self, table: Table, batch_id: int) -> bool:
        newest = table.properties.get(self._property) if self._identity else None
        return newest is not None and int(newest) >= batch_id

    def _table(self) -> Table | None:
        try:
            return self._catalog.load_table(self._sink.table)
        except NoSuchTableError:
            return None

    def _created(self, schema: pa.Schema) -> Table:
        namespace = self._sink.table.rpartition(".")[0]
        self._catalog.create_namespace_if_not_exists(namespace)
        return self._catalog.create_table_if_not_exists(self._sink.table, schema=schema)

    def _refuse_other_runs(self, table: Table) -> None:
        """A query that starts over would append again what an earlier run has appended."""
        others = [name for name in table.properties if name.startswith(self._prefix)]
        if any(name != self._property for name in others):
            raise CheckpointError(
                "WC261",
                f"the Iceberg table {self._sink.table} has batches of query {self._query!r} from "
                "another checkpoint, but this one is new",
                hint="continue with that checkpoint, or give the query another name or table",
            )

    def _failed(self, problem: Exception, what: str) -> DataError:
        first = next(iter(str(problem).splitlines()), "") or type(problem).__name__
        return DataError(
            "WD461",
            f"the Iceberg table {self._sink.table}: {what}: {first}",
            hint="the cause of this exception is the writer's own error; on Spark the batch is "
            "replayed when the query is restarted",
        )
