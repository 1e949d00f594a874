"""Where rows of a table come from on Spark: a stream of rows or changes, or rows that are there.

Rows that are there are read once, when a query starts with a new checkpoint: they are kept in it,
so that a query that starts again has those that it began with.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.connectors.spark_columns import columns_ddl
from windrow.connectors.spark_files_order import with_order
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.settings import settings_applied
from windrow.spark.shuffle.table_packer import RecordForm
from windrow.table_schema import TableSchema

__all__ = ["TableFeed"]

# Times of any year are written as they are, and files that are missing are not passed over.
_WRITTEN = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
}
_READ = {
    "datetimeRebaseMode": "CORRECTED",
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
}


@dataclass(frozen=True)
class TableFeed:
    """frame: rows of the table, or what `form` says."""

    schema: TableSchema
    frame: DataFrame
    form: RecordForm

    def prepare(self, checkpoint: QueryCheckpoint) -> None:
        """Keeps rows that are there, before the first batch of a query."""
        if not self.frame.isStreaming:
            with settings_applied(self.frame.sparkSession, _WRITTEN):
                self.frame.write.mode("overwrite").parquet(self._folder(checkpoint))

    def records(self, checkpoint: QueryCheckpoint) -> DataFrame:
        """The stream of its records."""
        if self.frame.isStreaming:
            return self.frame
        reader = self.frame.sparkSession.readStream.schema(self._columns).options(**_READ)
        return with_order(reader.parquet(self._folder(checkpoint)))

    @property
    def _columns(self) -> str:
        own = columns_ddl(self.schema)
        names = [column.name for column in self.schema.columns]
        if self.form.op in (None, *names):
            return own
        operation = str(self.form.op).replace("`", "``")
        return f"{own}, `{operation}` string"

    def _folder(self, checkpoint: QueryCheckpoint) -> str:
        # Names of tables may be any text, those of folders may not.
        name = hashlib.sha256(self.schema.name.encode()).hexdigest()[:16]
        return f"{checkpoint.storage.uri}/tables/{name}"
