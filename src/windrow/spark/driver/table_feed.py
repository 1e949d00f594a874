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
        """Keeps rows that are there, before the first batch of a query.

        A driver may die between that and the first batch, whose files Spark may have listed: what
        is whole stays as it is.
        """
        tables, mark = checkpoint.storage.inside("tables"), f"{self._name}.whole"
        if not self.frame.isStreaming and not tables.has(mark):
            with settings_applied(self.frame.sparkSession, _WRITTEN):
                self.frame.write.mode("overwrite").parquet(self._folder(checkpoint))
            tables.write(mark, b"")

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

    @property
    def _name(self) -> str:
        """Names of tables may be any text, those of folders may not."""
        return hashlib.sha256(self.schema.name.encode()).hexdigest()[:16]

    def _folder(self, checkpoint: QueryCheckpoint) -> str:
        return f"{checkpoint.storage.uri}/tables/{self._name}"
